"""A simulation knows the objective over time: loyalty, setup, what lies ahead, uncertainty, and why links change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

import manetdiff as md
from manetdiff import Fleet, ManetDiffError
from manetdiff.scenarios import draw, move
from manetdiff.simulation import simulate
from manetdiff.simulation.flight import flight_html
from manetdiff.simulation.tables import summary

MODEL = md.load()
RNG = np.random.default_rng(4)
PATH = [(4.0 * k, one) for k, one in enumerate(move(draw("escort", 10, RNG), "gauss-markov", RNG, duration=16, step=4))]


def test_more_loyalty_keeps_more_links() -> None:
    kept = [summary(list(simulate(PATH, MODEL, loyalty=loyalty)))["continuity"] for loyalty in (0.0, 1e6)]
    assert kept[0] is not None and kept[1] is not None and kept[0] < kept[1]


def test_each_update_is_told_what_there_is_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, object]] = []
    update = md.Model.update

    def watched(self: md.Model, *given: object, **asked: object) -> md.Topology:
        told.append(asked)
        return update(self, *given, **asked)  # type: ignore[arg-type]

    monkeypatch.setattr(md.Model, "update", watched)
    for ahead in ("none", "predicted", "known"):
        told.clear()
        list(simulate(PATH, MODEL, setup=1.0, ahead=ahead, uncertainty=3.0))
        assert [(one["setup"], one["elapsed"], one["uncertainty"]) for one in told] == [(1.0, 4.0, 3.0)] * 4
        for k, one in enumerate(told, start=1):
            fleets = one["ahead"]
            assert isinstance(fleets, list)
            if ahead == "none" or (ahead == "known" and k == 4):
                assert fleets == []
            elif ahead == "known":
                assert fleets == [PATH[k + 1][1]]
            else:
                expected = md.predicted(PATH[k - 1][1], PATH[k][1], 4.0)
                assert np.allclose(fleets[0].positions, expected.positions)


def test_a_moment_comes_out_before_the_next_one_is_asked_for() -> None:
    asked: list[float] = []

    def live() -> Iterator[tuple[float, Fleet]]:
        for time, fleet in PATH:
            asked.append(time)
            yield time, fleet

    for one in simulate(live(), MODEL):
        assert asked[-1] == one.time


def test_what_is_delivered_is_told_for_the_setup() -> None:
    made = list(simulate(PATH, MODEL, setup=2.0))
    told = summary(made, 2.0)
    assert told["delivered"] == pytest.approx(md.delivered([(one.time, one.topology) for one in made], 2.0))
    quick = summary(made)["delivered"]
    assert quick is not None and told["delivered"] is not None and told["delivered"] <= quick


def test_the_report_says_why() -> None:
    made = list(simulate(PATH, MODEL, explain=True))
    assert made[0].why is None
    for before, one in pairwise(made):
        assert one.why is not None
        assert one.why.to_dict() == md.explain(before.topology, one.topology, ahead=[_ahead(made, one)]).to_dict()
    page = flight_html(made)
    lines = [line for one in made[1:] for line in (one.why.lines() if one.why else [])]
    assert lines and 'class="why"' in page and "data-why=" in page
    assert 'class="why"' not in flight_html(list(simulate(PATH, MODEL)))


def _ahead(made: list[md.simulation.Moment], one: md.simulation.Moment) -> Fleet:
    k = made.index(one)
    return md.predicted(made[k - 1].fleet, one.fleet, 4.0)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ManetDiffError, match="ahead"):
        list(simulate(PATH, MODEL, ahead="far"))  # type: ignore[arg-type]
    with pytest.raises(ManetDiffError, match="order of time"):
        list(simulate([PATH[0], PATH[0]], MODEL))
