"""EMANE: events that say where the nodes are, and a schedule that says what the parity says."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FormatError
from manetdiff.fleet.geodetic import LocalFrame
from manetdiff.formats.emane import LARGEST_NEM, eel_text, schedule_xml
from manetdiff.layout import Layout
from support.strategies import topologies

SCHEMA = Path(__file__).parent / "tdmaschedule.xsd"
EVENT = re.compile(r"(-?\d+\.\d{6}) nem:(\d+) (location gps|orientation) (-?[\d.]+),(-?[\d.]+),(-?[\d.]+)")

Events = dict[tuple[float, int, str], tuple[float, float, float]]


def parsed(text: str) -> Events:
    """By time, node and kind the three numbers of each event."""
    events: Events = {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("#"):  # EMANE skips these
            continue
        match = EVENT.fullmatch(line)
        assert match, line
        key = (float(match[1]), int(match[2]), match[3].split()[0])
        assert key not in events
        events[key] = (float(match[4]), float(match[5]), float(match[6]))
    return events


@st.composite
def fleets_on_earth(draw: st.DrawFn) -> tuple[Fleet, list[list[float]]]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 8))
    lat, lon = draw(st.floats(-85, 85)), draw(st.floats(-180, 180))
    latitude, longitude = lat + rng.uniform(-0.3, 0.3, n), lon + rng.uniform(-0.3, 0.3, n)
    heading = rng.uniform(0, 360, n)
    degrees = [column.tolist() for column in (latitude, longitude, heading)]
    return Fleet.from_geodetic(latitude, longitude, heading), degrees


@given(fleets_on_earth(), st.floats(0, 1e5))
def test_events_are_read_back_to_the_same_places_and_headings(
    made: tuple[Fleet, list[list[float]]], time: float
) -> None:
    fleet, (latitude, longitude, heading) = made
    events = parsed(eel_text([(time, fleet)], altitude=1234.5))
    assert len(events) == 2 * len(fleet)
    for place in range(len(fleet)):
        key = (round(time, 6), place + 1)
        lat, lon, altitude = events[*key, "location"]
        assert (lat, altitude) == pytest.approx((latitude[place], 1234.5), abs=1e-7)
        assert math.remainder(lon - longitude[place], 360) == pytest.approx(0, abs=1e-7)
        pitch, roll, yaw = events[*key, "orientation"]
        assert (pitch, roll) == (0, 0)
        assert 0 <= yaw < 360
        assert math.remainder(yaw - heading[place], 360) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("nearly", [360.0, 359.9999999, 359.99999951, -1e-12, 1e-12, 720.0])
def test_a_heading_of_a_full_turn_is_written_as_none(nearly: float) -> None:
    fleet = Fleet.from_geodetic([48.0, 48.0], [11.0, 11.0001], [nearly, 90.0])
    text = eel_text([(0.0, fleet)])
    assert "360.000000" not in text
    assert parsed(text)[0.0, 1, "orientation"][2] == pytest.approx(0, abs=1e-5)


def test_a_node_keeps_its_number_when_others_come_and_go() -> None:
    frame = LocalFrame(48.0, 11.0)
    ids = [["a", "b", "c"], ["c", "a"], ["d", "c"]]
    moments = [
        (float(t), Fleet([(10 * i, t) for i in range(len(x))], [0] * len(x), x, frame)) for t, x in enumerate(ids)
    ]
    numbers = [
        [nem for time, nem, kind in parsed(eel_text(moments)) if (time, kind) == (t, "location")] for t in range(3)
    ]
    assert numbers == [[1, 2, 3], [3, 1], [4, 3]]


def test_events_are_as_high_as_the_nodes_and_say_whose_numbers_they_use() -> None:
    fleet = Fleet.from_geodetic([48.0, 48.1], [11.0, 11.0], [0, 90], ["lead", 'the "other" one'], [3200.5, 9000])
    text = eel_text([(0.0, fleet)], altitude=50.0)
    assert [parsed(text)[0.0, nem, "location"][2] for nem in (1, 2)] == [3200.5, 9000]
    assert text.splitlines()[:2] == ['# nem:1 is "lead"', '# nem:2 is "the \\"other\\" one"']


def test_a_comment_is_never_longer_than_a_line_that_emane_reads() -> None:
    fleet = Fleet.from_geodetic([48.0, 48.1], [11.0, 11.0], [0, 90], ["x" * 5000, "\U0001f6e9" * 900])
    assert max(len(line.encode()) for line in eel_text([(0.0, fleet)]).splitlines()) < 2048


def test_a_schedule_says_whose_numbers_it_uses_in_comments_that_xml_allows() -> None:
    names = ["lead", "a--b", "--", "-", "<&>", "\x00\n-->"]
    text = schedule_xml(Topology([(0, 1)], [0, 1, 0, 1, 0, 1]), names)
    assert '<!-- nem 1 is "lead" -->' in text
    assert ElementTree.fromstring(text).find("structure") is not None
    assert len(re.findall(r"<!-- nem \d is .*? -->", text)) == len(names)
    layout = Layout(Fleet([(0, 0), (1, 1)], [0, 0], ["own", "other"]), Radio())
    assert '<!-- nem 2 is "other" -->' in schedule_xml(Topology([(0, 1)], [0, 1], layout=layout))


@given(st.integers(1, 40).flatmap(topologies))
def test_every_node_stands_once_in_each_slot_and_does_what_its_parity_says(topology: Topology) -> None:
    root = ElementTree.fromstring(schedule_xml(topology))
    acts: dict[tuple[int, int], str] = {}
    for slot in root.findall("./multiframe/frame[@index='0']/slot"):
        (act,) = slot
        for nem in slot.attrib["nodes"].split(","):
            key = (int(slot.attrib["index"]), int(nem))
            assert key not in acts
            acts[key] = act.tag
    expected = {
        (slot, node + 1): "tx" if parity == slot else "rx"
        for node, parity in enumerate(topology.parity.tolist())
        for slot in (0, 1)
    }
    assert acts == expected


def test_the_structure_is_of_one_frame_of_two_slots() -> None:
    text = schedule_xml(Topology([(0, 1)], [0, 1]), slot_us=500, overhead_us=20, bandwidth_hz=5_000_000)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<emane-tdma-schedule>\n')
    structure = ElementTree.fromstring(text).find("structure")
    assert structure is not None
    sizes = {"slotduration": "500", "slotoverhead": "20", "bandwidth": "5000000"}
    assert structure.attrib == {"frames": "1", "slots": "2", **sizes}


@pytest.fixture(scope="module")
def schema() -> Any:
    """EMANE's own, in lxml: whether a schedule keeps it."""
    etree = pytest.importorskip("lxml.etree")
    made = etree.XMLSchema(etree.parse(str(SCHEMA)))
    return lambda xml: made.validate(etree.fromstring(xml.encode()))


@given(topology=st.integers(1, 40).flatmap(topologies), power=st.sampled_from([0, -12.5]), slot=st.integers(1, 10**7))
def test_a_schedule_is_valid_by_the_schema(schema: Any, topology: Topology, power: float, slot: int) -> None:
    xml = schedule_xml(topology, power_dbm=power, slot_us=slot)
    assert schema(xml)
    assert not schema(xml.replace('slots="2" ', ""))
    assert not schema(xml.replace('power="', 'power="nan'))


def test_more_nodes_than_emane_can_number_are_refused() -> None:
    with pytest.raises(FormatError, match="EMANE numbers at most 65,534 nodes, not 65,535"):
        schedule_xml(Topology([], np.zeros(LARGEST_NEM + 1, dtype=int)))
