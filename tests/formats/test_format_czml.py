"""CZML: a point for each node and a line for each link, there while they are there and not a moment longer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff import Fleet, Topology
from manetdiff.errors import FormatError
from manetdiff.fleet.geodetic import LocalFrame
from manetdiff.formats.czml import czml, write_czml
from manetdiff.formats.moments import LinkedFleet

FRAME = LocalFrame(48.0, 11.0)
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)


def moment(time: float, ids: str, links: list[str], parity: str | None = None, shift: float = 0.0) -> LinkedFleet:
    """Nodes called by letters on a line northwards; links as pairs of letters."""
    fleet = Fleet([(100.0 * (ord(name) - 97), shift) for name in ids], [0.0] * len(ids), list(ids), FRAME)
    pairs = [(ids.index(link[0]), ids.index(link[1])) for link in links]
    return time, fleet, Topology(pairs, [int(bit) for bit in parity or "0" * len(ids)])


def packets(*moments: LinkedFleet) -> dict[str, dict[str, Any]]:
    made = czml(list(moments), epoch=EPOCH)
    assert len({packet["id"] for packet in made}) == len(made)
    return {packet.get("name", packet["id"]): packet for packet in made}


def spans(intervals: list[str]) -> list[tuple[float, float]]:
    """Intervals as seconds after the epoch."""
    return [
        (one, other)
        for interval in intervals
        for one, other in [[(datetime.fromisoformat(end) - EPOCH).total_seconds() for end in interval.split("/")]]
    ]


def test_the_first_packet_is_the_document_with_its_clock() -> None:
    head = czml([moment(0, "ab", []), moment(90.5, "ab", [])], epoch=EPOCH)[0]
    assert (head["id"], head["version"]) == ("document", "1.0")
    assert head["clock"]["interval"] == "2026-03-01T00:00:00Z/2026-03-01T00:01:30.500000Z"
    assert head["clock"]["currentTime"] == "2026-03-01T00:00:00Z"


def test_a_node_has_a_place_at_each_moment() -> None:
    moments = [moment(0, "ab", []), moment(5, "ab", [], shift=200.0)]
    position = packets(*moments)["b"]["position"]
    assert position["epoch"] == "2026-03-01T00:00:00Z"
    rows = np.array(position["cartographicDegrees"]).reshape(-1, 4)
    assert rows[:, 0].tolist() == [0, 5]
    assert rows[:, 3].tolist() == [3000, 3000]
    assert FRAME.to_xy(rows[:, 2], rows[:, 1]) == pytest.approx(np.array([[100, 0], [100, 200]]), abs=0.05)


def test_a_node_is_as_high_as_it_is() -> None:
    fleet = Fleet([(0, 0, 120.0), (100, 0, 9500.5)], [0, 0], ["a", "b"], FRAME)
    there = packets((0.0, fleet, Topology([], [0, 1])))
    assert [there[name]["position"]["cartographicDegrees"][3] for name in "ab"] == [120, 9500.5]


def test_a_node_is_there_only_while_it_is() -> None:
    there = packets(
        moment(0, "abc", []), moment(10, "ab", []), moment(20, "abc", []), moment(30, "abc", []), moment(40, "ab", [])
    )
    assert spans(there["a"]["availability"]) == [(0, 40)]
    assert spans(there["c"]["availability"]) == [(0, 10), (20, 40)]


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (
            [(0, "abc", "ab"), (10, "abc", "ab bc"), (20, "abc", "bc"), (30, "abc", "ab"), (40, "abc", "ab")],
            {"a - b": [(0, 20), (30, 40)], "b - c": [(10, 30)]},
        ),
        # A short break late in a long flight is still a break.
        (
            [(1e6, "ab", "ab"), (1e6 + 1, "ab", ""), (1e6 + 2, "ab", "ab"), (1e6 + 3, "ab", "")],
            {"a - b": [(1e6, 1e6 + 1), (1e6 + 2, 1e6 + 3)]},
        ),
        # A link is the same in whatever order its nodes stand.
        ([(0, "ab", "ab"), (1, "ba", "ba"), (2, "ab", "")], {"a - b": [(0, 2)]}),
    ],
)
def test_a_link_is_there_only_while_it_is(moments: list[Any], expected: dict[str, Any]) -> None:
    there = packets(*(moment(time, ids, links.split()) for time, ids, links in moments))
    assert {name: spans(one["availability"]) for name, one in there.items() if " - " in name} == expected


def test_a_node_wears_the_colour_of_its_parity_at_the_time() -> None:
    moments = [moment(float(time), "ab", [], parity) for time, parity in enumerate(["01", "01", "11", "01"])]
    there = packets(*moments)
    a, b = (there[name]["point"]["color"] for name in "ab")
    assert spans([one["interval"] for one in a]) == [(0, 2), (2, 3), (3, 3)]
    assert a[0]["rgba"] == a[2]["rgba"] != a[1]["rgba"]
    assert spans([one["interval"] for one in b]) == [(0, 3)]
    assert b[0]["rgba"] == a[1]["rgba"]


def test_a_line_ends_at_its_two_nodes_whatever_they_are_called() -> None:
    fleet = Fleet([(0, 0), (1, 0), (2, 0), (3, 0)], [0] * 4, ["document", "a-b", "a", "x#\\y"], FRAME)
    topology = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1])
    made = czml([(0.0, fleet, topology), (1.0, fleet, topology)], epoch=EPOCH)
    ids = [packet["id"] for packet in made]
    assert len(set(ids)) == len(ids) == 1 + 4 + 3
    for packet in made[5:]:
        for reference in packet["polyline"]["positions"]["references"]:
            assert reference.endswith("#position")
            name = reference.removesuffix("#position").replace("\\#", "#").replace("\\\\", "\\")
            assert name in ids[1:5]
    odd = made[-1]["polyline"]["positions"]["references"]
    assert odd == ["node:a#position", "node:x\\#\\\\y#position"]


def test_a_file_is_json(tmp_path: Path) -> None:
    moments = [moment(0, "ab", ["ab"]), moment(1, "ab", ["ab"])]
    write_czml(moments, tmp_path / "t.czml", epoch=EPOCH)
    assert json.loads((tmp_path / "t.czml").read_text()) == czml(moments, epoch=EPOCH)


def test_what_cannot_be_written_is_said() -> None:
    _, fleet, topology = moment(0, "ab", [])
    nowhere = (0.0, Fleet(fleet.positions, fleet.yaw), topology)
    for moments, problem in (
        ([], "there is no moment to write"),
        ([nowhere], "CZML needs latitude and longitude"),
        ([moment(1, "ab", []), moment(0, "ab", [])], "in the order of time"),
        ([moment(0, "ab", []), moment(1e12, "ab", [])], "CZML counts in dates"),
    ):
        with pytest.raises(FormatError, match=problem):
            czml(moments)
