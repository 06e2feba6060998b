"""What every network must do: follow renumbered nodes, ignore padding, and read all that it is told; its settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from manetdiff.errors import ModelError
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.model.vae import GraphVAE
from support.graph_samples import graphs_in_double, in_double, perturbed, scattered_graphs, scattered_layouts
from support.small_networks import NETWORKS, close, numbers_of, small

Network = Callable[[Layouts, Graphs, Tensor], Prediction]
"""(layouts, graphs, numbers (b, n, 3)) -> prediction; the numbers are a VAE's normal draws, and make the times."""


def _network(config: ModelConfig) -> Network:
    """A network in double precision, all of its parameters in use."""
    if config.kind == "diffusion":
        denoiser = perturbed(lambda: Denoiser(config).double())

        def denoise(layouts: Layouts, graphs: Graphs, numbers: Tensor) -> Prediction:
            time = torch.linspace(0.3, 0.9, len(numbers), dtype=torch.float64)
            prediction: Prediction = denoiser(in_double(layouts), graphs_in_double(graphs), time)
            return prediction

        return denoise
    vae = perturbed(lambda: GraphVAE(config).double())

    def autoencode(layouts: Layouts, graphs: Graphs, numbers: Tensor) -> Prediction:
        prediction: Prediction = vae(in_double(layouts), graphs_in_double(graphs), numbers)[0]
        return prediction

    return autoencode


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_renumbered_nodes_have_renumbered_predictions_symmetric_and_zero_where_masked(name: str) -> None:
    network = _network(NETWORKS[name])
    layouts = scattered_layouts([7, 10, 4])
    graphs, numbers = scattered_graphs(layouts), numbers_of(layouts)
    # The padding takes part: it need not stand behind the nodes.
    order = torch.randperm(10, generator=torch.Generator().manual_seed(2))
    renumbered = Layouts(
        layouts.node[:, order],
        layouts.pair[:, order][:, :, order],
        layouts.sector[:, order][:, :, order],
        layouts.mask[:, order],
    )
    before = network(layouts, graphs, numbers)
    after = network(renumbered, Graphs(graphs.edges[:, order][:, :, order], graphs.parity[:, order]), numbers[:, order])
    assert close(after.edges, before.edges[:, order][:, :, order])
    assert close(after.parity, before.parity[:, order])
    edges, parity = before
    assert bool(torch.isfinite(edges).all()) and bool(torch.isfinite(parity).all())
    assert close(edges, edges.transpose(1, 2))
    assert not edges[~layouts.pair_mask].any() and not parity[~layouts.mask].any()
    assert bool(edges[layouts.pair_mask].all()) and bool(parity[layouts.mask].all())


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_padding_and_the_rest_of_the_batch_have_no_say(name: str) -> None:
    network = _network(NETWORKS[name])

    def prediction(sizes: list[int], n: int | None) -> Prediction:
        layouts = scattered_layouts(sizes, n=n)
        return network(layouts, scattered_graphs(layouts), numbers_of(layouts))

    # The time goes by the place in the batch: the graph of 16 nodes stands first in all of them.
    alone, padded, mixed = prediction([16], None), prediction([16], 32), prediction([16, 32, 5], None)
    for other in (padded, mixed):
        assert close(other.edges[0, :16, :16], alone.edges[0])
        assert close(other.parity[0, :16], alone.parity[0])


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_layout_links_and_parity_have_a_say(name: str) -> None:
    """Without this, a network that reads nothing would have every property above."""
    config = NETWORKS[name]
    network = _network(config)
    layouts = scattered_layouts([12])
    graphs, numbers = scattered_graphs(layouts), numbers_of(layouts)
    other_layouts, other = scattered_layouts([12], seed=5), scattered_graphs(layouts, seed=5)
    before = network(layouts, graphs, numbers)
    changes = {
        "positions": (layouts._replace(node=other_layouts.node), graphs, numbers),
        "links": (layouts, Graphs(other.edges, graphs.parity), numbers),
        "parity": (layouts, Graphs(graphs.edges, other.parity), numbers),
    }
    if config.domain_features:
        changes["pairs"] = (layouts._replace(pair=other_layouts.pair), graphs, numbers)
        changes["sectors"] = (layouts._replace(sector=other_layouts.sector), graphs, numbers)
    if config.kind != "diffusion":
        changes["latents"] = (layouts, graphs, numbers_of(layouts, seed=5))
    for what, changed in changes.items():
        assert (network(*changed).edges - before.edges).abs().max() > 1e-3, what


@pytest.mark.parametrize("name", [name for name, config in NETWORKS.items() if not config.domain_features])
@torch.no_grad()
def test_without_domain_features_pairs_and_sectors_have_no_say(name: str) -> None:
    network = _network(NETWORKS[name])
    layouts, other = scattered_layouts([12]), scattered_layouts([12], seed=5)
    # Dense enough for some antennas to carry several links.
    graphs, numbers = scattered_graphs(layouts, density=0.5), numbers_of(layouts)
    before = network(layouts, graphs, numbers)
    after = network(layouts._replace(pair=other.pair, sector=other.sector), graphs, numbers)
    assert torch.equal(before.edges, after.edges)
    assert torch.equal(before.parity, after.parity)


@pytest.mark.parametrize("kind", ["graph-vae", "gt-vae"])
@torch.no_grad()
def test_latents_are_drawn_from_the_encoders_distribution_and_decoded_on_the_layout(kind: str) -> None:
    vae = perturbed(lambda: GraphVAE(small(kind=kind)))
    layouts, other = scattered_layouts([7, 10]), scattered_layouts([7, 10], seed=5)
    normal = numbers_of(layouts).float()
    prediction, latents = vae(layouts, scattered_graphs(layouts), normal)
    drawn = latents.mean + normal * torch.sqrt(torch.exp(latents.log_variance))
    decoded = vae.decode(vae.embed_layouts(layouts), drawn)
    assert close(prediction.edges, decoded.edges) and close(prediction.parity, decoded.parity)
    # The decoder reads the layout itself: nodes, and pairs.
    for changed in (layouts._replace(node=other.node), layouts._replace(pair=other.pair)):
        assert (vae.decode(vae.embed_layouts(changed), drawn).edges - decoded.edges).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "oracle"),
        ("modulation", "film"),
        ("similarity", "euclid"),
        ("reads", "edges"),
        ("width", 0),
        ("blocks", -1),
        ("tokens", 2.0),
        ("sectors", True),
        ("latent", "8"),
        ("domain_features", 1),
    ],
)
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=name):
        ModelConfig.from_dict({name: value})
