"""Which effort makes most of a preset's time, by what was tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.evaluate.effort_trials import RUNGS, Climb, Drawing, Trial
from manetdiff.runtime.presets import Fitted

FloatArray = npt.NDArray[np.float64]

# Milliseconds of each preset at 16 nodes on one core.
TIMES_MS = {"instant": 4.5, "fast": 8.0, "balanced": 15.0, "careful": 30.0, "thorough": 60.0, "best": 120.0}
# Time grows as the size to these powers: from 16 to 32 nodes, and from there on. Smaller fleets take what it takes.
GROWTH_UP_TO_32, GROWTH = 1.8, 1.1
SAMPLES = (1, 2, 3, 4, 6, 8, 12, 16, 24)
# 0: all samples.
FINALISTS = (1, 2, 0)
# Where more of them would take too long, so many times as many moves are taken to give no more than the last rung.
BEYOND = 20
# Shares of T that count as equal: what searches from most samples is taken then, which helps where fleets are harder.
EQUAL = 5e-5
# Subsets of the samples that an effort is averaged over.
SUBSETS = 60


class Choice(NamedTuple):
    """An effort with its time in seconds and its T as a share of the target: on all layouts, those under the default
    radio, and the others."""

    effort: Fitted
    seconds: float
    share: float
    usual: float
    random: float


def seconds_of(preset: str, n: int) -> float:
    """What a preset may take on n nodes."""
    factor = (np.clip(n, 16, 32) / 16) ** GROWTH_UP_TO_32 * (max(n, 32) / 32) ** GROWTH
    return float(1e-3 * TIMES_MS[preset] * factor)


class Option(NamedTuple):
    """A way of drawing samples and of choosing finalists.

    - sampling: seconds until samples are corrected. seconds, shares: by rung, what all of it takes, and T over the
      target on all layouts, on those under the default radio, and on the others.
    """

    steps: int
    forest: bool
    samples: int
    finalists: int
    sampling: float
    rungs: list[int]
    seconds: list[float]
    shares: FloatArray

    def within(self, seconds: float) -> Choice | None:
        """With as many moves as there is time for; None where there is time for none."""
        if seconds < self.seconds[0]:
            return None
        # Beyond the last rung no T is known but that of the last rung, and time goes on as it went.
        rungs, times = [*self.rungs, BEYOND * self.rungs[-1]], [*self.seconds]
        times.append(times[-1] + (BEYOND - 1) * (times[-1] - self.sampling))
        polish = _rounded(float(np.interp(seconds, times, rungs)))
        spent = float(np.interp(polish, rungs, times))
        shares = (float(np.interp(math.log(polish), np.log(self.rungs), row)) for row in self.shares)
        return Choice(Fitted(self.steps, self.samples, self.finalists, polish, self.forest), spent, *shares)


def chosen(options: Sequence[Option], seconds: float) -> Choice:
    """What makes most of so many seconds; where nothing fits, what takes the least."""
    offers = [offer for option in options if (offer := option.within(seconds)) is not None]
    if offers:
        most = max(offer.share for offer in offers)
        equals = (one for one in offers if one.share >= most - EQUAL)
        return max(equals, key=lambda one: _breadth(one.effort))
    fastest = min(options, key=lambda option: option.seconds[0])
    made = fastest.within(fastest.seconds[0])
    assert made is not None
    return made


def _breadth(effort: Fitted) -> tuple[int, int, int]:
    """What is preferred among equals: to search from more samples, of fewer steps, for longer."""
    return effort.finalists or effort.samples, -effort.steps, effort.polish


def options_of(trials: Sequence[Trial]) -> list[Option]:
    """All that were tried on every layout."""
    usual = np.array([one.usual for one in trials])
    made = []
    for kind, samples in itertools.product(trials[0].drawings, SAMPLES):
        drawings = [one.drawings[kind] for one in trials]
        rungs = _common_rungs([drawing.climb for drawing in drawings], samples)
        sampling = _typical(trials, [one.once + _sampled(one.drawings[kind], samples) for one in trials])
        searches = [_typical(trials, [drawing.climb.seconds[rung] for drawing in drawings]) for rung in rungs]
        for finalists in FINALISTS if rungs else ():
            searched_from = finalists or samples
            if finalists >= samples:
                continue
            rows = np.array([_shares_of(one, kind, samples, finalists, rungs) for one in trials])
            shares = np.array(
                [rows[which].sum(axis=0) / max(1, which.sum()) for which in (usual | True, usual, ~usual)]
            )
            seconds = [sampling + searched_from * spent for spent in searches]
            made.append(Option(*kind, samples, finalists, sampling, rungs, seconds, shares))
    return made


def other_at(trials: Sequence[Trial], name: str, seconds: float) -> float:
    """T over the target of another method in so many seconds; 0 where it takes longer than that."""
    climbs = [one.reference if name == "reference" else one.priors[name] for one in trials]
    rungs = _common_rungs(climbs, 1)
    tables = _typical(trials, [one.tables for one in trials])
    spent = [tables + _typical(trials, [climb.seconds[rung] for climb in climbs]) for rung in rungs]
    if seconds < spent[0]:
        return 0.0
    shares = [
        np.mean(
            [
                (climb.throughput[rung][0] if climb.whole[rung][0] else one.fallback) / one.target
                for climb, one in zip(climbs, trials, strict=True)
            ]
        )
        for rung in rungs
    ]
    return float(np.interp(math.log(seconds), np.log(spent), shares))


def _sampled(drawing: Drawing, samples: int) -> float:
    return drawing.first + (samples - 1) * drawing.each


def _common_rungs(climbs: Sequence[Climb], samples: int) -> list[int]:
    """Where so many starts were searched from on every layout."""
    return [r for r in RUNGS if all(len(climb.throughput.get(r, ())) >= samples for climb in climbs)]


def _shares_of(one: Trial, kind: tuple[int, bool], samples: int, finalists: int, rungs: Sequence[int]) -> list[float]:
    """T over the target at each rung, the mean over subsets of the samples."""
    drawing, rng = one.drawings[kind], np.random.default_rng(samples)
    made = []
    for rung in rungs:
        throughput, whole = drawing.climb.throughput[rung], drawing.climb.whole[rung]
        known = len(throughput)
        # The first sample from the forest is unlike the others, and is always there.
        odds = rng.random((SUBSETS, known)) + (2 * (np.arange(known) == 0) if kind[1] else 0)
        subset = np.argsort(-odds, axis=1)[:, :samples]
        order = np.argsort(-drawing.merit[subset], axis=1)[:, : finalists or samples]
        final = np.take_along_axis(subset, order, axis=1)
        best = np.where(whole[final], throughput[final], 0.0).max(axis=1)
        best[best == 0.0] = one.fallback
        made.append(float(best.mean()) / one.target)
    return made


def _typical(trials: Sequence[Trial], seconds: Sequence[float]) -> float:
    """The median over layouts under the default radio, whose time a preset is held to."""
    return float(np.median([spent for spent, one in zip(seconds, trials, strict=True) if one.usual]))


def _rounded(moves: float) -> int:
    """Down to two digits."""
    unit = int(10 ** max(0, math.floor(math.log10(moves)) - 1))
    return max(1, int(moves / unit) * unit)
