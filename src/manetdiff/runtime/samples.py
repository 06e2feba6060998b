"""Samples: graphs that the chain ends in, from pure noise, a spanning forest or a previous topology."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.chain import Chain, EmbeddedLayout, Noise, States
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.partial import PartialDiffusion
from manetdiff.runtime.pins import CheckedPins
from manetdiff.runtime.previous import PreviousLinks
from manetdiff.sampling import SamplerConfig, forest_start, plain_settings, time_pairs
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.spanning import spanning_forest

IntArray = npt.NDArray[np.int64]

# A pair to which the network gives less at its first step, on the mean of all samples, is not searched among. That
# leaves about two fifths of the candidates under the default radio and four fifths under random ones. Of the links of
# benchmark targets none is lost from noise and next to none by two steps from a forest, but up to one in a hundred by
# one, which already believes in what it starts from. What the network says at its last step rules out more still.
LEAST_CHANCE = 3e-4


class Sample(NamedTuple):
    """A sampled graph: links (m, 2) and parity (n,)."""

    links: IntArray
    parity: IntArray


class Drawn(NamedTuple):
    """Samples, and the pairs (m, 2) that the network does not rule out, the only ones that are worth searching among;
    None where it does not say."""

    samples: list[Sample]
    plausible: IntArray | None


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
    forest: Sample | None = None,
) -> Drawn:
    """As many samples as the effort asks for; sample k draws from the stream (seed, k).

    - forest: the shortest spanning one, from which few steps start instead of pure noise, see `sampling.forest_start`.
    """
    pairs = layout.pairs
    redundancy = chain.sampling.redundancy if update is None and effort.redundant else 1.0
    settings = plain_settings(len(pairs), chain.sampling.temperature, redundancy)
    if pins is not None:
        settings = settings._replace(link_bias=settings.link_bias + pins.link_bias(pairs))
    if update is not None and update.how.guide_weight:
        weight = (update.how.guide_weight * update.previous.both_known(pairs))[None].astype(np.float32)
        settings = settings._replace(guide=update.previous.states(pairs).links, guide_weight=weight)
    if update is not None:
        start = _from_previous(layout, update)
    else:
        start = _from_noise(layout.noise, effort) if forest is None else _from_forest(layout, effort, forest)
    samples: list[Sample] = []
    chances: npt.NDArray[np.float64] | None = np.zeros(len(pairs))
    together = chain.together(layout)
    for first in range(0, effort.samples, together):
        streams = [(seed, k) for k in range(first, min(first + together, effort.samples))]
        draws = chain.draws(layout, streams, effort.steps + 1)
        if update is None and forest is None:
            state = chain.noised(layout, start.noise, start.clean, start.noised_to, draws)
        else:
            state = start.clean
            if first > 0 or len(streams) > 1:
                noised = chain.noised(layout, start.noise, start.clean, start.noised_to, draws)
                state = _varied(start.clean, noised, first)
        outcome = chain.run(layout, start.noise, state, start.times, draws.rounds(1), settings)
        samples += samples_of(outcome.states, pairs, pins)
        told = outcome.link_chances
        chances = None if told is None or chances is None else chances + told.sum(axis=0)
    return Drawn(samples, None if chances is None else pairs[chances >= LEAST_CHANCE * effort.samples])


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
    draws = chain.draws(layout, streams, sampling.steps + 1, decide=sampling.decide)
    start = chain.noised(layout, layout.noise, unlinked(layout.noise), 1.0, draws)
    settings = plain_settings(len(layout.pairs), sampling.temperature, sampling.redundancy)
    times = time_pairs(sampling.steps, sampling.grid)
    return chain.run(layout, layout.noise, start, times, draws.rounds(1), settings).states


def unlinked(noise: Noise) -> States:
    """A graph without links, all of parity 0, where noise of this shape is: what is noised to pure noise may be any."""
    return States(np.zeros_like(noise.links), np.zeros_like(noise.parity))


def samples_of(states: States, pairs: IntArray, pins: CheckedPins | None = None) -> list[Sample]:
    """Sampled graphs that keep to the pins. pairs: (c, 2), those that the states are about."""
    made = []
    for linked, parity in zip(states.links > 0.5, states.parity > 0.5, strict=True):
        whole = parity.astype(np.int64)
        made.append(Sample(pairs[linked], whole if pins is None else pins.aligned(whole)))
    return made


class _Start(NamedTuple):
    """Where a chain begins and goes: clean graphs that are noised to a time, and the times of its steps."""

    clean: States
    noise: Noise
    noised_to: float
    times: Sequence[tuple[float, float]]


def _from_noise(noise: Noise, effort: Effort) -> _Start:
    return _Start(unlinked(noise), noise, 1.0, time_pairs(effort.steps, effort.grid))


def _from_forest(layout: EmbeddedLayout, effort: Effort, forest: Sample) -> _Start:
    time = forest_start(effort.steps)
    clean = States(listed(forest.links, layout)[None], forest.parity[None].astype(np.float32))
    return _Start(clean, layout.noise, time, time_pairs(effort.steps, effort.grid, time))


def _varied(clean: States, noised: States, first: int) -> States:
    """The first of all samples has the links as they are, the others have them noised; all have the parity as it is."""
    links = noised.links.copy()
    if first == 0:
        links[0] = clean.links[0]
    return States(links, np.repeat(clean.parity, len(links), axis=0))


def listed(links: IntArray, layout: EmbeddedLayout) -> npt.NDArray[np.float32]:
    """(c,) which of the layout's pairs are among the links (m, 2), as 0 and 1."""
    n, pairs = layout.nodes, layout.pairs
    known = np.isin(pairs[:, 0] * n + pairs[:, 1], links[:, 0] * n + links[:, 1])
    return known.astype(np.float32)


def _from_previous(layout: EmbeddedLayout, update: Update) -> _Start:
    previous, how = update
    own = previous.as_noise(layout.noise, layout.pairs) if how.own_noise else layout.noise
    return _Start(previous.states(layout.pairs), own, how.start, time_pairs(how.steps, "linear", how.start))
