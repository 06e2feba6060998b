"""Diffusion on candidate links: noise as the process says, and graphs that follow from the seed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from manetdiff import Fleet, Radio
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import MOST_LINKED, Process
from manetdiff.diffusion.sparse import ArcDraws, SparseGenerator, noise_shares, noised
from manetdiff.diffusion.weights import Weights, described_bytes, read_weights
from manetdiff.errors import CheckpointError
from manetdiff.layout import ARCS_VERSION, Layout
from manetdiff.model.arc_tensors import stacked
from manetdiff.model.losses import LossWeights
from manetdiff.sampling import SamplerConfig
from manetdiff.weights.header import FORMAT, FORMAT_NAME
from support.arc_samples import RADIOS, SPARSE, drawn_graph, in_a_row, side_by_side_graphs, some_fleet
from support.graph_samples import perturbed

# Nothing at its default, so that nothing can be forgotten.
PROCESS = Process(2.2, noise_redundancy=1.7, parity_pace=0.6)
LAYOUTS = [
    Layout(some_fleet(n), RADIOS[name]) for n, name in ((12, "plain"), (20, "twelve steered sectors"), (3, "plain"))
]
SEEDS = [(5, 0), (5, 1), (6, 0)]


def _generator(seed: int = 0) -> SparseGenerator:
    made = perturbed(lambda: build(SPARSE, PROCESS), seed).eval()
    assert isinstance(made, SparseGenerator)
    return made


def _draws(graphs: int, links: int, nodes: int) -> ArcDraws:
    generator = torch.Generator().manual_seed(3)
    return ArcDraws(*(torch.rand(size, generator=generator) for size in (graphs, links, nodes)))


def test_pure_noise_has_as_many_links_a_node_as_the_data_whatever_the_candidates() -> None:
    shares = noise_shares(PROCESS, in_a_row(LAYOUTS))
    begin = 0
    for layout in LAYOUTS:
        n, c = len(layout), len(layout.arcs.links)
        share = min(MOST_LINKED, 2.2 / (2 * c / n))
        odds = 1.7 * share / (1 - share)
        part = shares.links[begin : begin + c]
        torch.testing.assert_close(part, torch.full_like(part, odds / (1 + odds)), rtol=1e-5, atol=1e-6)
        begin += c
    assert bool((shares.parity == 0.5).all())
    plain = noise_shares(Process(2.2), in_a_row(LAYOUTS[:1]))
    assert 2 * plain.links.sum().item() / len(LAYOUTS[0]) == pytest.approx(2.2, rel=1e-5)


def test_noise_at_time_0_is_the_clean_graph_and_at_time_1_pure_noise() -> None:
    layouts = in_a_row(LAYOUTS)
    clean = side_by_side_graphs([drawn_graph(layout.arcs) for layout in LAYOUTS])
    draws = _draws(3, len(clean.links), len(clean.parity))
    made = noised(PROCESS, layouts, clean, draws._replace(time=torch.zeros(3)))
    assert torch.equal(made.links, clean.links) and torch.equal(made.parity, clean.parity)
    shares = noise_shares(PROCESS, layouts)
    made = noised(PROCESS, layouts, clean, draws._replace(time=torch.ones(3)))
    assert torch.equal(made.links, (draws.links < shares.links).double())
    assert torch.equal(made.parity, (draws.parity < 0.5).double())


def test_in_between_a_share_of_each_is_kept_of_parity_at_its_own_pace() -> None:
    layouts = in_a_row(LAYOUTS)
    clean = side_by_side_graphs([drawn_graph(layout.arcs) for layout in LAYOUTS])
    draws = _draws(3, len(clean.links), len(clean.parity))._replace(time=torch.full((3,), 0.6))
    kept = math.cos(math.pi / 2 * (0.6 + 0.008) / 1.008) ** 2
    shares = noise_shares(PROCESS, layouts)
    made = noised(PROCESS, layouts, clean, draws)
    assert torch.equal(made.links, (draws.links < kept * clean.links + (1 - kept) * shares.links).double())
    assert torch.equal(made.parity, (draws.parity < kept**0.6 * clean.parity + (1 - kept**0.6) * 0.5).double())


def test_each_layout_is_noised_to_its_own_time() -> None:
    clean = side_by_side_graphs([drawn_graph(layout.arcs) for layout in LAYOUTS])
    draws = _draws(3, len(clean.links), len(clean.parity))._replace(time=torch.tensor([0.0, 1.0, 0.0]))
    made = noised(PROCESS, in_a_row(LAYOUTS), clean, draws)
    nodes, links = ([len(part) for part in parts] for parts in (LAYOUTS, [one.arcs.links for one in LAYOUTS]))
    for sizes, before, after in ((nodes, clean.parity, made.parity), (links, clean.links, made.links)):
        same = [
            torch.equal(one, other)
            for one, other in zip(torch.split(before, sizes), torch.split(after, sizes), strict=True)
        ]
        assert same == [True, False, True]


@pytest.mark.parametrize("decide", [True, False])
def test_a_seed_gives_the_same_graph_alone_and_in_a_batch(decide: bool) -> None:
    generator = _generator()
    sampling = SamplerConfig(steps=5, decide=decide, temperature=0.8, redundancy=2.0)
    together = generator.sample(LAYOUTS, SEEDS, sampling)
    for layout, seed, made in zip(LAYOUTS, SEEDS, together, strict=True):
        (alone,) = generator.sample([layout], [seed], sampling)
        assert made.links.shape == (len(layout.arcs.links),) and made.parity.shape == (len(layout),)
        assert torch.equal(made.links, alone.links) and torch.equal(made.parity, alone.parity)
        assert set(made.links.tolist()) | set(made.parity.tolist()) <= {0.0, 1.0}
    (other,) = generator.sample(LAYOUTS[:1], [(5, 9)], sampling)
    assert not torch.equal(other.links, together[0].links)


def test_a_layout_without_candidates_is_sampled_alone() -> None:
    apart = Layout(Fleet([[0.0, 0.0], [90.0, 0.0]], [0.0, 1.0]), Radio(unit=1.0))
    (made,) = _generator().sample([apart], [(1,)], SamplerConfig(steps=2))
    assert made.links.shape == (0,) and made.parity.shape == (2,)


def test_redundancy_asks_for_more_links() -> None:
    few, many = (
        sum(
            made.links.sum().item()
            for made in _generator().sample(LAYOUTS, SEEDS, SamplerConfig(steps=3, redundancy=r))
        )
        for r in (1e-6, 1e6)
    )
    assert few < many


def test_the_loss_is_finite_and_every_parameter_learns_from_it() -> None:
    generator = _generator()
    layouts = stacked([layout.arcs for layout in LAYOUTS])
    clean = side_by_side_graphs([drawn_graph(layout.arcs) for layout in LAYOUTS])
    clean = clean._replace(links=clean.links.float(), parity=clean.parity.float())
    draws = _draws(3, len(clean.links), len(clean.parity))
    weights = LossWeights(edges=1.0, parity=2.0, sector=0.5, cosine=0.0, odd=0.125)
    terms = generator.loss_terms(layouts, clean, draws, weights)
    assert set(terms) == {"edges", "parity", "sector", "odd"}
    torch.stack(list(terms.values())).sum().backward()  # type: ignore[no-untyped-call]
    for name, parameter in generator.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()) and bool(parameter.grad.any()), name


def _weights() -> Weights:
    return Weights(SPARSE, PROCESS, Radio(), dict(_generator().state_dict()), SamplerConfig(steps=4))


def test_a_weights_file_gives_back_a_network_that_samples_the_same(tmp_path: Path) -> None:
    path, written = tmp_path / "some.safetensors", _weights()
    path.write_bytes(written.to_bytes())
    read = read_weights(path)
    assert (read.config, read.process, read.sampling) == (written.config, written.process, written.sampling)
    made, wanted = (one.build() for one in (read, written))
    assert isinstance(made, SparseGenerator) and isinstance(wanted, SparseGenerator)
    for one, other in zip(*(model.sample(LAYOUTS, SEEDS, read.sampling) for model in (made, wanted)), strict=True):
        assert torch.equal(one.links, other.links) and torch.equal(one.parity, other.parity)


def test_weights_of_other_arcs_are_refused(tmp_path: Path) -> None:
    weights, path = _weights(), tmp_path / "old.safetensors"
    described = {
        "model": weights.config.to_dict(),
        "process": weights.process.to_dict(),
        "radio": weights.radio.to_dict(),
        "features": ARCS_VERSION + 1,
    }
    path.write_bytes(described_bytes(FORMAT_NAME, FORMAT, described, dict(weights.tensors)))
    with pytest.raises(CheckpointError, match=f"version {ARCS_VERSION + 1} of the layout features.*{ARCS_VERSION}"):
        read_weights(path)
