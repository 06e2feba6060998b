"""Samples of a sparse network on a device, by fleet, for tests of batches."""

from __future__ import annotations

from collections.abc import Sequence

from manetdiff import Fleet, Radio
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.gpu.refined import listed_samples
from manetdiff.gpu.sparse import SparseNetwork
from manetdiff.model.config import ModelConfig
from manetdiff.sampling import SamplerConfig
from support.graph_samples import perturbed

SAMPLING = SamplerConfig(steps=3, redundancy=1.5, temperature=0.6)
STREAMS = (11, 2**61 + 3)
Graph = tuple[list[list[int]], list[int]]


def sparse_generator() -> SparseGenerator:
    """Small, and with noise on all parameters: fresh ones hide parts of a network behind zeros."""
    config, process = ModelConfig(kind="sparse", width=8, blocks=2, tokens=2), Process(2.5, parity_pace=0.7)
    return perturbed(lambda: SparseGenerator(config, process))


def sampled(network: SparseNetwork, fleets: Sequence[Fleet]) -> dict[int, list[Graph]]:
    """Links and parity of the samples of each fleet, by its place."""
    made: dict[int, list[Graph]] = {}
    for batch in network.batches(fleets, Radio(), len(STREAMS)):
        for piece in batch:
            piece.sort_out()
        pending = network.sampled(batch, [network.read(piece) for piece in batch], STREAMS, SAMPLING)
        assert not pending.under_way
        for piece, graphs in zip(batch, pending.result(), strict=True):
            for row, place in enumerate(piece.places):
                made[place] = [(links.tolist(), parity.tolist()) for links, parity in listed_samples(graphs, row)]
    return made
