"""Samples: graphs that the chain ends in, from pure noise or from a previous topology."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.chain import TOGETHER, Chain, EmbeddedLayout, Noise, States
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.partial import PartialDiffusion
from manetdiff.runtime.pins import CheckedPins
from manetdiff.runtime.previous import PreviousLinks
from manetdiff.sampling import SamplerConfig, plain_settings, time_pairs
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.spanning import spanning_forest

IntArray = npt.NDArray[np.int64]


class Sample(NamedTuple):
    """A sampled graph: links (m, 2) and parity (n,)."""

    links: IntArray
    parity: IntArray


class Update(NamedTuple):
    """A previous topology, and how the chain starts from it."""

    previous: PreviousLinks
    how: PartialDiffusion


def draw_samples(
    chain: Chain,
    layout: EmbeddedLayout,
    effort: Effort,
    seed: int,
    update: Update | None = None,
    pins: CheckedPins | None = None,
) -> list[Sample]:
    """As many samples as the effort asks for; sample k draws from the stream (seed, k)."""
    n = layout.noise.parity.shape[1]
    redundancy = chain.sampling.redundancy if update is None and effort.redundant else 1.0
    settings = plain_settings(n, chain.sampling.temperature, redundancy)
    if pins is not None:
        settings = settings._replace(edge_bias=settings.edge_bias + pins.edge_bias())
    if update is not None and update.how.guide_weight:
        weight = (update.how.guide_weight * update.previous.both_known)[None].astype(np.float32)
        settings = settings._replace(guide=update.previous.states.edges, guide_weight=weight)
    start = _from_noise(layout.noise, effort) if update is None else _from_previous(layout.noise, update)
    samples: list[Sample] = []
    for first in range(0, effort.samples, TOGETHER):
        streams = [(seed, k) for k in range(first, min(first + TOGETHER, effort.samples))]
        draws = chain.draws(streams, n, effort.steps + 1)
        state = chain.noised(layout, start.noise, start.clean, start.noised_to, draws)
        outcome = chain.run(layout, start.noise, state, start.pairs, draws.rounds(1), settings)
        samples += samples_of(outcome.states, pins)
    return samples


def constructed(layout: Layout, pins: CheckedPins | None = None, *, greedy: bool = True) -> Sample:
    """What takes a sample's place where there is no time for the network: the shortest spanning forest.

    - greedy: whether the links that raise T most are added to it, one by one.
    """
    links, parity = mst_greedy_links(layout) if greedy else spanning_forest(layout)
    if pins is None:
        return Sample(links, parity)
    return Sample(np.unique(np.concatenate([links, pins.keep]), axis=0), pins.aligned(parity))


def from_pure_noise(
    chain: Chain, layout: EmbeddedLayout, sampling: SamplerConfig, streams: Sequence[tuple[int, ...]]
) -> States:
    """Where a whole chain ends that runs as its settings say: a graph for each stream, as PyTorch samples it."""
    n = layout.noise.parity.shape[1]
    draws = chain.draws(streams, n, sampling.steps + 1, decide=sampling.decide)
    nothing = States(np.zeros_like(layout.noise.edges), np.zeros_like(layout.noise.parity))
    start = chain.noised(layout, layout.noise, nothing, 1.0, draws)
    settings = plain_settings(n, sampling.temperature, sampling.redundancy)
    pairs = time_pairs(sampling.steps, sampling.grid)
    return chain.run(layout, layout.noise, start, pairs, draws.rounds(1), settings).states


def samples_of(states: States, pins: CheckedPins | None = None) -> list[Sample]:
    """Sampled graphs that keep to the pins."""
    made = []
    for edges, parity in zip(states.edges > 0.5, states.parity > 0.5, strict=True):
        i, j = np.nonzero(edges)
        above = i < j
        whole = parity.astype(np.int64)
        made.append(Sample(np.column_stack([i[above], j[above]]), whole if pins is None else pins.aligned(whole)))
    return made


class _Start(NamedTuple):
    """Where a chain begins and goes: clean graphs that are noised to a time, and the times of its steps."""

    clean: States
    noise: Noise
    noised_to: float
    pairs: Sequence[tuple[float, float]]


def _from_noise(noise: Noise, effort: Effort) -> _Start:
    nothing = States(np.zeros_like(noise.edges), np.zeros_like(noise.parity))
    return _Start(nothing, noise, 1.0, time_pairs(effort.steps, effort.grid))


def _from_previous(noise: Noise, update: Update) -> _Start:
    previous, how = update
    own = previous.as_noise(noise) if how.own_noise else noise
    # Noised to time 0, the previous topology stays as it is: with noise more of T comes back, but no more than with a
    # later start.
    return _Start(previous.states, own, 0.0, time_pairs(how.steps, "linear", how.start))
