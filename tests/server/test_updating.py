"""From one version to the next: no flapping, pins, nodes that come and go."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import manetdiff as md
from manetdiff.errors import PinError
from manetdiff.fleet import Fleet
from manetdiff.flights.delivery import link_names
from manetdiff.runtime.model import Model
from manetdiff.scenarios import move
from manetdiff.server.messages_in import Pins, Settings
from manetdiff.server.updating import Wanted, next_topology
from manetdiff.server.versions import Version
from manetdiff.topology import metrics
from support.service import small_fleet


@pytest.fixture(scope="module")
def model() -> Model:
    return md.load()


def _wanted(*, pins: Pins | None = None, **settings: object) -> Wanted:
    return Wanted(md.Radio(), Settings.model_validate({"preset": "instant", **settings}), pins or Pins())


def _version(model: Model, before: Version | None, fleet: Fleet, time: float, wanted: Wanted) -> Version:
    topology, change = next_topology(model, before, fleet, time, wanted)
    number = 1 if before is None else before.number + 1
    heard = (time,) * len(fleet)
    return Version(number, time, 0.0, topology, heard, frozenset(), metrics(topology), change)


def test_what_is_stored_of_a_version_gives_it_back_to_the_last_bit(model: Model) -> None:
    fleet = Fleet.from_geodetic([47.0, 47.01, 47.02], [8.0, 8.02, 8.0], [0, 90, 200], ["a", "b", "ü"], [0.0, 1.0, 2.0])
    wanted = _wanted()
    first = _version(model, None, fleet, 1.0, wanted)
    version = _version(model, first, fleet.replace(fleet.positions + np.array([1.0, 0.1, 0.0])), 2.0, wanted)
    record = json.loads(json.dumps(version.to_record(), allow_nan=False))
    again = Version.from_record(version.number, version.time, version.at, record)
    assert again.to_record() == version.to_record()
    assert again.topology == version.topology
    assert np.array_equal(again.fleet.positions, version.fleet.positions)
    assert again.fleet.frame == version.fleet.frame
    assert metrics(again.topology) == version.metrics


def test_a_fleet_that_stays_keeps_its_links_and_one_that_flies_stays_valid(model: Model) -> None:
    wanted = _wanted()
    rng = np.random.default_rng(3)
    version = _version(model, None, small_fleet(12), 0.0, wanted)
    assert version.change.mode == "generated"
    assert len(version.change.added) == len(version.topology.links)
    still = _version(model, version, small_fleet(12), 1.0, wanted)
    assert (still.change.mode, still.change.added, still.change.dropped) == ("unmoved", (), ())
    for time, fleet in enumerate(move(small_fleet(12), "gauss-markov", rng, duration=40.0, step=4.0), start=2):
        version = _version(model, version, fleet, 4.0 * time, wanted)
        assert version.metrics["valid"] == 1.0


def test_links_change_only_for_a_gain_unless_they_break_a_rule(model: Model) -> None:
    rng = np.random.default_rng(3)
    path = move(small_fleet(12), "gauss-markov", rng, duration=60.0, step=4.0)

    def flown(least_gain: float) -> list[Version]:
        made: list[Version] = []
        for time, fleet in enumerate(path):
            made.append(_version(model, made[-1] if made else None, fleet, 4.0 * time, _wanted(least_gain=least_gain)))
        return made

    free, held = flown(0.0), flown(1.0)
    assert any(one.change.mode == "held" for one in held)
    assert not any(one.change.mode == "held" for one in free)
    assert sum(len(one.change.dropped) for one in held) < sum(len(one.change.dropped) for one in free)
    for one in held:
        assert one.metrics["valid"] == 1.0
    for before, after in pairwise(held):
        if after.change.mode == "held":
            assert link_names(before.topology) == link_names(after.topology)


def test_links_are_not_held_beyond_the_range(model: Model) -> None:
    radio = md.Radio(unit=1000.0, range=5.0)
    wanted = Wanted(radio, Settings(preset="instant", least_gain=1.0, loyalty=100.0), Pins())
    version: Version | None = None
    for time, x in enumerate((7800.0, 8200.0, 8600.0, 9400.0, 12_000.0)):
        fleet = Fleet([(0.0, 0.0), (4000.0, 0.0), (x, 0.0)], [0.0, 0.0, 0.0], ["a", "b", "c"])
        version = _version(model, version, fleet, float(time), wanted)
        assert (("b", "c") in link_names(version.topology)) == (x <= 9000.0)


def test_nodes_join_and_leave_and_a_fleet_of_strangers_begins_anew(model: Model) -> None:
    wanted, fleet = _wanted(), small_fleet(8)
    version = _version(model, None, fleet.part(range(6)), 0.0, wanted)
    joined = _version(model, version, fleet, 1.0, wanted)
    assert joined.metrics["connected"] == 1.0
    left = _version(model, joined, fleet.part(range(2, 8)), 2.0, wanted)
    assert left.metrics["connected"] == 1.0
    strangers = Fleet(fleet.positions, fleet.yaw, [f"x{k}" for k in range(8)])
    assert _version(model, left, strangers, 3.0, wanted).change.mode == "generated"


def test_pins_are_kept_to_or_refused_and_in_flight_left_aside_with_a_word(model: Model) -> None:
    fleet = small_fleet(8)
    first = _version(model, None, fleet, 0.0, _wanted())
    linked = set(link_names(first.topology))
    a, b = next(iter(linked))
    avoiding = _version(model, first, fleet, 1.0, _wanted(pins=Pins(avoid=[[a, b]])))
    assert (a, b) not in link_names(avoiding.topology)
    assert avoiding.change.unmet is None
    silent = _version(model, first, fleet, 1.0, _wanted(pins=Pins(silent=[a])))
    assert all(a not in link for link in link_names(silent.topology))
    both = _wanted(pins=Pins(keep=[[a, b]], avoid=[[b, a]]))
    with pytest.raises(PinError):
        next_topology(model, first, fleet, 1.0, both, strict=True)
    _, change = next_topology(model, first, fleet, 1.0, both)
    assert change.unmet is not None
    gone = _wanted(pins=Pins(keep=[[a, "nobody"]], silent=["nobody"]))
    assert next_topology(model, first, fleet, 1.0, gone, strict=True)[1].unmet is None
