"""Each format by its own functions: the same as through the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manetdiff import Fleet, Topology
from manetdiff.fleet import Tracks
from manetdiff.formats import read_tracks, write_track_table
from manetdiff.formats.adsb import read_adsb
from manetdiff.formats.bonnmotion import read_bonnmotion
from manetdiff.formats.emane import eel_text, schedule_xml, write_eel, write_schedule
from manetdiff.formats.graphml import read_graphml, write_graphml
from manetdiff.formats.ns2 import read_ns2
from manetdiff.formats.track_table import read_track_table
from support.strategies import assert_same_on_earth

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
FLEET = Fleet.from_geodetic([48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [0.0, 90.0, 10.0], ["a", "b", "c"])
TOPOLOGY = Topology([(0, 1), (1, 2)], [0, 1, 0])


@pytest.mark.parametrize(
    ("read", "name"),
    [(read_ns2, "patrol.tcl"), (read_bonnmotion, "patrol.movements"), (read_adsb, "flights.csv")],
)
def test_tracks(read: Callable[[Path], Tracks], name: str) -> None:
    one, other = read(EXAMPLES / name), read_tracks(EXAMPLES / name)
    assert one.ids == other.ids
    for mine, same in zip(one.tracks, other.tracks, strict=True):
        assert np.array_equal(mine.times, same.times) and np.array_equal(mine.places, same.places)


def test_an_aircraft_is_there_as_long_as_the_gap_says() -> None:
    assert read_adsb(EXAMPLES / "flights.csv", longest_gap=5.0).longest_gap == 5.0


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write_track_table([(0.0, FLEET), (1.0, FLEET)], tmp_path / "t.csv")
    assert_same_on_earth(read_track_table(tmp_path / "t.csv").at(0.5), FLEET)
    write_graphml(TOPOLOGY, FLEET, None, tmp_path / "t.graphml")
    assert read_graphml(tmp_path / "t.graphml")[1] == TOPOLOGY
    write_eel([(0.0, FLEET)], tmp_path / "t.eel", altitude=50.0)
    assert (tmp_path / "t.eel").read_text() == eel_text([(0.0, FLEET)], 50.0)
    write_schedule(TOPOLOGY, tmp_path / "t.xml", FLEET.ids, slot_us=7)
    assert (tmp_path / "t.xml").read_text() == schedule_xml(TOPOLOGY, FLEET.ids, slot_us=7)
