"""Chains of updates on flights: what is followed how, and what it is worth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import manetdiff as md
from manetdiff.measure.flown import KINDS, Flight, drawn_flights, searched
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways import chains, hindsight
from manetdiff.measure.ways.chains import Situation, Way, chain_of, row_of
from manetdiff.reproduce import flights as page
from manetdiff.scenarios import FAMILIES, MOTIONS

FLIGHTS = drawn_flights(7, 4.0, 3, 2)


@pytest.fixture(scope="module")
def flight() -> Flight:
    return FLIGHTS.layout(0)


WAYS: dict[str, Way] = {
    "update": chains.updates(loyalty=1.0),
    "known": chains.updates(True),
    "blind": chains.updates(None),
    "setup": chains.updates_with_setup(2.0),
    "paper": chains.as_in_the_paper("minor", "netdiff"),
    "anew": chains.anew("instant"),
    "repaired": chains.repaired(0.002),
    "annealing": chains.searched(0.003, 1.0, plain=True),
    "search": chains.searched(0.003, 1.0, plain=False, known=True),
    "held": chains.held,
}


def test_all_families_and_motions_are_flown() -> None:
    assert {family for _, family in KINDS} == set(FAMILIES)
    assert {motion for motion, _ in KINDS} == set(MOTIONS)
    assert len(set(KINDS)) == len(KINDS)
    # Few flights are of many families, and of several motions after that.
    assert len({family for _, family in KINDS[: len(FAMILIES)]}) == len(FAMILIES)


def test_a_flight_is_the_same_every_time(flight: Flight) -> None:
    again = searched(flight.fleets, flight.step, flight.radio)
    assert again.targets == flight.targets
    assert again.first == flight.first
    assert len(flight.fleets) == 5  # before, three updates, and where the last one leads to


@pytest.mark.parametrize("name", WAYS)
def test_every_way_follows_the_fleet(name: str, flight: Flight) -> None:
    made = list(chain_of(flight, WAYS[name]))
    assert len(made) == 3
    for (topology, seconds), fleet in zip(made, flight.fleets[1:], strict=False):
        assert topology.on().fleet.ids == fleet.ids
        assert np.array_equal(topology.on().fleet.positions, fleet.positions)
        assert seconds >= 0
        assert name == "held" or md.metrics(topology)["valid"] == 1.0
    row = row_of(flight, made)
    assert 0 < row["worst"] <= row["share"] <= 1.02
    assert row["delivered_2"] <= row["delivered_0.5"] + 1e-12 <= row["delivered_0"] + 2e-12


def test_a_row_is_what_the_metrics_say(flight: Flight) -> None:
    made = list(chain_of(flight, chains.held))
    row = row_of(flight, made)
    carried = [md.metrics(flight.first, fleet)["throughput"] for fleet in flight.fleets[:5]]
    shares = np.array(carried[1:4]) / flight.targets[1:4]
    assert row["share"] == pytest.approx(shares.mean())
    assert row["continuity"] == 1.0
    through = np.mean([(a + b) / 2 for a, b in pairwise(carried)])
    for setup in ("0", "0.5", "2"):
        assert row[f"delivered_{setup}"] == pytest.approx(through / np.mean(flight.targets[:4]))


def test_what_is_to_come_is_what_will_be_or_what_is_predicted(flight: Flight) -> None:
    now = Situation(flight.first, flight.fleets[0], flight.fleets[1], flight.fleets[2], flight.step, 1)
    assert now.ahead(known=True) == [flight.fleets[2]]
    (guess,) = now.ahead(known=False)
    assert np.allclose(guess.positions, md.predicted(flight.fleets[0], flight.fleets[1], 4.0).positions)


def test_hindsight_is_no_worse_than_what_knows_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hindsight, "LOYALTIES", (0.7,))
    few = FLIGHTS.first(1)
    best = hindsight.hindsight(RowStore(), few, 2.0).values("delivered_2")
    held = chains.followed(RowStore(), "held", {}, few, lambda: chains.held).values("delivered_2")
    assert best.mean() >= held.mean()


def test_what_was_measured_is_kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, asked = tmp_path_factory.mktemp("rows"), []

    def way() -> Way:
        asked.append(1)
        return chains.held

    rows = [chains.followed(RowStore(folder), "held", {}, FLIGHTS.first(1), way).rows for _ in range(2)]
    assert rows[0] == rows[1] and asked == [1]


def test_the_lead_is_read_off_our_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(*points: tuple[float, float]) -> dict[str, object]:
        from manetdiff.measure.rows import Rows

        return {str(k): Rows([{"continuity": c, "share": t}]) for k, (c, t) in enumerate(points)}

    made = {
        "update": rows((0.8, 0.98), (0.9, 0.96)),
        "other": rows((0.85, 0.95), (0.9, 0.955)),
        "anew": rows((0.6, 1.0)),
        "steady": rows((0.95, 0.9)),
        "held": rows((1.0, 0.7)),
    }
    monkeypatch.setattr(page, "ways_of", lambda setting, flown: made)
    told = page._lead(None, FLIGHTS)  # type: ignore[arg-type]
    assert told == "other +0.5; anew keeps fewer links than any of ours; steady keeps more links than any of ours."
