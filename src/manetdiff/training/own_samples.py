"""Chains that a sparse network samples while it learns, with their states kept: what it then learns from."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.diffusion.sparse import ArcDraws, SparseGenerator, drawn_from, noise_shares, noised, posterior_of
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.packing import Room
from manetdiff.model.sparse_denoiser import EmbeddedArcs
from manetdiff.sampling import SamplerConfig
from manetdiff.training.packed import Batch


class Way(NamedTuple):
    """How a chain is sampled.

    - times: of its denoising steps. sampling: temperature and redundancy of them.
    - whole: it begins with noise, and its graphs are used as they are. Otherwise it begins with the shortest spanning
      forest, and they are corrected.
    """

    times: list[tuple[float, float]]
    sampling: SamplerConfig
    whole: bool


@torch.no_grad()
def chain_states(
    generator: SparseGenerator, batch: Batch, room: Room, way: Way, samples: int, chance: torch.Generator
) -> list[ArcGraphs]:
    """The states of a chain, from the first to the last; so many samples of a layout follow each other in the batch."""
    if way.whole:
        states = [_noise(generator, batch, room, chance)]
    else:
        states = [_forests(generator, batch, room, way, samples, chance)]
    embedded = generator.denoiser.embed(batch.layouts)
    for times in way.times:
        _, shares = step_shares(generator, batch.layouts, embedded, states[-1], times, way.sampling)
        draws = uniform_draws(room, chance)
        states.append(drawn_from(shares, ArcGraphs(draws.links, draws.parity)))
    return states


def step_shares(
    generator: SparseGenerator,
    layouts: ArcLayouts,
    embedded: EmbeddedArcs,
    state: ArcGraphs,
    times: tuple[float, float],
    sampling: SamplerConfig,
) -> tuple[ArcPrediction, ArcGraphs]:
    """What the network predicts of a state, and the shares of what is drawn at the earlier time."""
    time = torch.full((len(layouts.sizes),), times[0], device=layouts.real_nodes.device)
    prediction = generator.denoiser.predict(layouts, embedded, state, time)
    noise = noise_shares(generator.process, layouts)
    pair = time[:1], torch.full_like(time[:1], times[1])
    return prediction, posterior_of(generator.process, prediction, state, noise, pair, sampling)


def uniform_draws(room: Room, chance: torch.Generator) -> ArcDraws:
    """Random numbers for a batch."""
    sizes = room.graphs, room.links, room.nodes, room.graphs
    return ArcDraws(*(torch.rand(size, generator=chance, device=chance.device) for size in sizes))


def _noise(generator: SparseGenerator, batch: Batch, room: Room, chance: torch.Generator) -> ArcGraphs:
    draws = uniform_draws(room, chance)
    return drawn_from(noise_shares(generator.process, batch.layouts), ArcGraphs(draws.links, draws.parity))


def _forests(
    generator: SparseGenerator, batch: Batch, room: Room, way: Way, samples: int, chance: torch.Generator
) -> ArcGraphs:
    """Spanning forests: that of the first sample of each layout as it is, the others with their links noised."""
    start = uniform_draws(room, chance)
    noisy = noised(
        generator.process,
        batch.layouts,
        batch.forest,
        start._replace(time=torch.full_like(start.time, way.times[0][0])),
    )
    first = torch.arange(room.graphs, device=start.time.device) % samples == 0
    whole: Tensor = first[batch.layouts.graph_of_link]
    return ArcGraphs(torch.where(whole, batch.forest.links, noisy.links), batch.forest.parity)
