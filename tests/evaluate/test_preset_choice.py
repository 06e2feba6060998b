"""Presets are fitted: of everything that was tried, each gets what makes most of its time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from manetdiff.evaluate import effort_trials
from manetdiff.evaluate.effort_trials import Climb, Drawing, Trial, trials
from manetdiff.evaluate.preset_choice import TIMES_MS, chosen, options_of, other_at, seconds_of
from manetdiff.measure.ways.priors import PRIORS
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.presets import PRESETS, Fitted
from manetdiff.weights import DEFAULT

KIND = (1, False)


def climb(throughput: dict[int, list[float]], whole: bool = True) -> Climb:
    """A search of one millisecond for ten moves a node."""
    return Climb(
        {rung: np.array(values) for rung, values in throughput.items()},
        {rung: np.full(len(values), whole) for rung, values in throughput.items()},
        {rung: 1e-4 * rung for rung in throughput},
    )


def trial(throughput: dict[int, list[float]], merit: list[float], whole: bool = True) -> Trial:
    """One kind of samples: a millisecond before them, and one for each."""
    other = climb({10: [50.0], 300: [60.0]})
    drawing = Drawing(np.array(merit), 1e-3, 1e-3, climb(throughput, whole))
    return Trial(True, 1e-3, 0.0, {KIND: drawing}, other, dict.fromkeys(PRIORS, other), 100.0)


class TestChoosing:
    def test_time_goes_into_moves_where_they_help_and_into_samples_where_those_do(self) -> None:
        moves = trial({10: [80.0, 80.0], 30: [90.0, 90.0]}, [1.0, 2.0])
        assert chosen(options_of([moves]), 5e-3 + 1e-9).effort == Fitted(1, 1, 0, 30, False)
        samples = trial({10: [80.0, 90.0], 30: [80.0, 90.0]}, [1.0, 2.0])
        assert chosen(options_of([samples]), 5e-3 + 1e-9).effort.samples == 2

    def test_finalists_are_the_best_after_correction(self) -> None:
        for merit, found in (([1.0, 2.0], 0.9), ([2.0, 1.0], 0.8)):
            options = options_of([trial({10: [80.0, 90.0]}, merit)])
            share = {(one.samples, one.finalists): one.shares[0, 0] for one in options}
            assert share[2, 1] == pytest.approx(found)
            assert share[2, 0] == pytest.approx(0.9)
            assert 0.8 < share[1, 0] < 0.9  # either of the two

    def test_what_is_offered_takes_no_longer_than_there_is_time(self) -> None:
        options = options_of([trial({10: [80.0, 85.0], 30: [82.0, 90.0]}, [1.0, 2.0])])
        for seconds in np.geomspace(3e-3, 1.0, 50):
            assert chosen(options, seconds).seconds <= seconds
        fastest = chosen(options, 1e-9)
        assert (fastest.effort.samples, fastest.effort.polish) == (1, 10)

    def test_more_time_never_gives_less(self) -> None:
        rng = np.random.default_rng(0)
        found = rng.uniform(80, 95, (3, 6))
        options = options_of([trial({10: [*row], 100: [*(row + 4)]}, [0.0] * 6) for row in found])
        shares = [chosen(options, seconds).share for seconds in np.geomspace(3e-3, 0.2, 30)]
        assert all(after >= before - 5e-5 for before, after in itertools.pairwise(shares))

    def test_what_stays_in_parts_counts_as_what_the_runtime_falls_back_to(self) -> None:
        options = options_of([trial({10: [80.0, 90.0]}, [1.0, 2.0], whole=False)])
        assert {float(one.shares[0, 0]) for one in options} == {0.6}

    def test_others_are_taken_at_the_same_time(self) -> None:
        tried = [trial({10: [80.0]}, [1.0])]
        assert other_at(tried, "reference", 1e-6) == 0.0
        assert other_at(tried, "reference", 1e-3) == pytest.approx(0.5)
        assert 0.5 < other_at(tried, next(iter(PRIORS)), 5e-3) < 0.6
        assert other_at(tried, "reference", 9.0) == pytest.approx(0.6)


class TestTimes:
    def test_grow_with_the_size_hardly_faster_than_it(self) -> None:
        for preset in TIMES_MS:
            times = [seconds_of(preset, n) for n in (2, 8, 16, 32, 64, 1000)]
            assert times == sorted(times)
            assert np.log(times[-1] / times[-2]) / np.log(1000 / 64) <= 1.2
        assert [1e3 * seconds_of(preset, 16) for preset in TIMES_MS] == pytest.approx(list(TIMES_MS.values()))

    def test_are_given_for_every_preset(self) -> None:
        assert list(TIMES_MS) == list(PRESETS)


def test_what_was_tried_can_be_chosen_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort_trials, "RUNGS", (10, 300))
    monkeypatch.setattr(effort_trials, "DRAWINGS", {2: ((1, True), (1, False))})
    made = list(trials(find_bundle(DEFAULT), 8, longest=0.05, seconds=0.0, most=10))
    assert [one.usual for one in made] == [False, True]
    assert all(0 < one.fallback <= one.target for one in made)
    choice = chosen(options_of(made), 0.05)
    assert 0.9 < choice.share <= 1.0
    assert choice.seconds <= 0.05
