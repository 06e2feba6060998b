"""Chains that a sparse network samples while it learns, with their states kept: what it then learns from."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.diffusion.sparse import ArcDraws, SparseGenerator, drawn_from, noise_shares, noised, posterior_of
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.packing import Room
from manetdiff.sampling import SamplerConfig
from manetdiff.training.packed import Batch


class Way(NamedTuple):
    """How a chain is sampled.

    - times: of its denoising steps. sampling: temperature and redundancy of them.
    - forest: whether it begins with the shortest spanning forest instead of noise. whole: whether its graphs are used
      as they are, and not corrected.

    The last step is drawn like the others, where the runtime takes the likelier state: what is certain teaches nothing.
    """

    times: list[tuple[float, float]]
    sampling: SamplerConfig
    forest: bool
    whole: bool


@torch.no_grad()
def chain_states(
    generator: SparseGenerator, batch: Batch, room: Room, way: Way, samples: int, chance: torch.Generator
) -> list[ArcGraphs]:
    """The states of a chain, from the first to the last; so many samples of a layout follow each other in the batch."""
    if way.forest:
        states = [_forests(generator, batch, room, way, samples, chance)]
    else:
        states = [_noise(generator, batch, room, chance)]
    for times in way.times:
        _, shares = step_shares(generator, batch.layouts, states[-1], times, way.sampling)
        draws = uniform_draws(room, chance)
        states.append(drawn_from(shares, ArcGraphs(draws.links, draws.parity)))
    return states


def step_shares(
    generator: SparseGenerator,
    layouts: ArcLayouts,
    state: ArcGraphs,
    times: tuple[float, float],
    sampling: SamplerConfig,
) -> tuple[ArcPrediction, ArcGraphs]:
    """What the network predicts of a state, and the shares of what is drawn at the earlier time."""
    now, earlier = (torch.full((len(layouts.sizes),), time, device=layouts.real_nodes.device) for time in times)
    prediction = predicted(generator, layouts, state, now)
    noise = noise_shares(generator.process, layouts)
    return prediction, posterior_of(generator.process, prediction, state, noise, (now[:1], earlier[:1]), sampling)


def predicted(generator: SparseGenerator, layouts: ArcLayouts, state: ArcGraphs, time: Tensor) -> ArcPrediction:
    """By the network, in half precision where that is faster."""
    device = layouts.real_nodes.device.type
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        prediction: ArcPrediction = generator.denoiser(layouts, state, time)
    return prediction


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
    later = start._replace(time=torch.full_like(start.time, way.times[0][0]))
    noisy = noised(generator.process, batch.layouts, batch.forest, later)
    first = torch.arange(room.graphs, device=start.time.device) % samples == 0
    as_it_is = first[batch.layouts.graph_of_link]
    return ArcGraphs(torch.where(as_it_is, batch.forest.links, noisy.links), batch.forest.parity)
