"""The denoiser: parity and its symmetry, layouts embedded once, half precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser, Readout
from support.graph_samples import flipped, mask_of, perturbed, scattered_graphs, scattered_layouts
from support.small_networks import DENOISERS, SMALL


def _denoiser(config: ModelConfig) -> Denoiser:
    return perturbed(lambda: Denoiser(config))


@pytest.mark.parametrize("name", DENOISERS)
@torch.no_grad()
def test_flipping_every_parity_negates_its_logits_and_leaves_the_edges_exactly(name: str) -> None:
    # In single precision, as it runs: the symmetry is built in and not a matter of rounding.
    denoiser = _denoiser(DENOISERS[name])
    layouts = scattered_layouts([7, 16, 4])
    graphs, time = scattered_graphs(layouts), torch.tensor([0.9, 0.5, 0.1])
    one, other = denoiser(layouts, graphs, time), denoiser(layouts, flipped(graphs, layouts.mask), time)
    assert torch.equal(one.edges, other.edges)
    assert torch.equal(one.parity, -other.parity)


@pytest.mark.parametrize("name", DENOISERS)
@torch.no_grad()
def test_layouts_embedded_once_give_the_same_prediction_at_all_times(name: str) -> None:
    denoiser = _denoiser(DENOISERS[name])
    layouts = scattered_layouts([7, 16])
    embedded = denoiser.embed_layouts(layouts)
    predictions = []
    for k, moment in enumerate((1.0, 0.4, 0.0)):
        graphs, time = scattered_graphs(layouts, seed=k), torch.full((2,), moment)
        predictions.append(denoiser.predict(embedded, graphs, time))
        for one, other in zip(predictions[-1], denoiser(layouts, graphs, time), strict=True):
            assert torch.equal(one, other)
    again = denoiser.predict(embedded, scattered_graphs(layouts, seed=0), torch.full((2,), 0.4))
    assert not torch.equal(again.edges, predictions[0].edges)  # the time has a say


@torch.no_grad()
def test_a_denoiser_in_half_precision_predicts_in_single() -> None:
    layouts = scattered_layouts([7, 16])
    graphs = scattered_graphs(layouts)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = _denoiser(SMALL)(layouts, graphs, torch.tensor([0.3, 0.6]))
    assert prediction.edges.dtype == prediction.parity.dtype == torch.float32
    assert bool(torch.isfinite(prediction.edges).all()) and bool(torch.isfinite(prediction.parity).all())


@torch.no_grad()
def test_parity_is_a_vote_of_the_noisy_parities_of_all_nodes() -> None:
    readout = perturbed(lambda: Readout(4).double())
    generator = torch.Generator().manual_seed(8)
    nodes, edges = (torch.randn(1, *shape, 4, dtype=torch.float64, generator=generator) for shape in ((6,), (6, 6)))
    spin = torch.tensor([[1.0, -1.0, -1.0, 1.0, -1.0, -1.0]], dtype=torch.float64)
    mask = mask_of([5], 6)
    pair_mask = mask[:, :, None] & mask[:, None, :] & ~torch.eye(6, dtype=torch.bool)
    made = readout(nodes, edges, spin, mask, pair_mask).parity[0]
    own = readout.own_vote(readout.norm_nodes(nodes))[0, :, 0].tolist()
    votes = readout.votes(readout.norm_edges(edges))[0, :, :, 0].tolist()
    signs = spin[0].tolist()
    expected = [own[i] * signs[i] + sum(votes[i][j] * signs[j] for j in range(5) if j != i) for i in range(5)]
    assert np.allclose(made, [*expected, 0.0], atol=1e-5)
