"""ns-2 mobility: every kind of line, orders that interrupt each other, and back again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.errors import FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats import read_tracks
from manetdiff.formats.files import Source
from manetdiff.formats.ns2 import ns2_text, tracks_in, write_ns2
from support.format_samples import refusal

SECOND = "$node_(1) set X_ 900\n$node_(1) set Y_ 900\n"
START = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n"


def read(content: str) -> Tracks:
    return tracks_in(Source("m.tcl", content.encode()))


def node(orders: str, start: str = START) -> Track:
    """The first node under these orders; a second one only makes a fleet of it."""
    return read(SECOND + start + orders).tracks[0]


def test_lines_of_four_words_are_places_at_the_beginning() -> None:
    tracks = read("$node_(3) set X_ 1.5\n$node_(3) set Y_ -2e1\n$node_(12) set X_ 0\n$node_(12) set Y_ 7\n")
    assert tracks.ids == ("3", "12")
    assert [track.place_at(99).tolist() for track in tracks.tracks] == [[1.5, -20], [0, 7]]
    assert tracks.frame is None
    assert tracks.longest_gap is None


def go(time: float, x: float, y: float, speed: float) -> str:
    return f'$ns_ at {time} "$node_(0) setdest {x} {y} {speed}"\n'


def jump(time: float, axis: str, value: float) -> str:
    return f'$ns_ at {time} "$node_(0) set {axis} {value}"\n'


# Commands to a node at (0, 0), where it is at some times, and where it points at some.
JOURNEYS: dict[str, tuple[str, dict[float, tuple[float, float]], dict[float, float]]] = {
    "a journey ends in rest": (go(2, 30, 40, 5), {2: (0, 0), 7: (15, 20), 12: (30, 40), 50: (30, 40)}, {}),
    "a jump": (jump(5, "X_", 70) + jump(5, "Y_", 80), {4.999: (0, 0), 5: (70, 80)}, {6: 0}),
    "a jump under way moves one axis and ends the journey": (
        go(0, 100, 50, math.hypot(10, 5)) + jump(4, "Y_", 300),
        {3.9999999: (40, 20), 4: (40, 300), 8: (40, 300), 100: (40, 300)},
        {},
    ),
    "a command that interrupts another takes over where the node is": (
        go(0, 100, 0, 10) + go(4, 40, 30, 5),
        {2: (20, 0), 4: (40, 0), 7: (40, 15), 10: (40, 30), 11: (40, 30)},
        {2: 0, 7: math.pi / 2},
    ),
    "three that interrupt each other": (
        go(0, 0, 1000, 10) + go(3, 1000, 30, 20) + go(5, 40, 0, 3),
        {3: (0, 30), 5: (40, 30), 10: (40, 15), 15: (40, 0), 16: (40, 0)},
        {},
    ),
    "one after the arrival": (go(0, 10, 0, 10) + go(5, 10, 10, 1), {3: (10, 0), 5: (10, 0), 10: (10, 5)}, {}),
    "one at the moment of arrival": (go(0, 10, 0, 10) + go(1, 10, 10, 10), {1: (10, 0), 1.5: (10, 5), 2: (10, 10)}, {}),
    "speed zero": (go(0, 100, 0, 10) + go(3, 500, 500, 0), {3: (30, 0), 10: (30, 0), 1000: (30, 0)}, {1000: 0}),
    "of two at one time the last counts": (go(1, 100, 0, 10) + go(1, 0, 100, 10), {6: (0, 50)}, {}),
    "comments, semicolons, blank lines and spaces are no matter": (
        '# setdest 1 2 3\n\n \t$ns_  at 1.0   "$node_(0) setdest 3 4 5" ; # as above\r\n;\n',
        {1: (0, 0), 1.5: (1.5, 2), 9: (3, 4)},
        {},
    ),
    "names as SUMO and ns-3 write them": ('$ns at 1 "$node(0) setdest 0 3 1"\n$node(0) set X_ 7\n', {9: (0, 3)}, {}),
}


@pytest.mark.parametrize("case", JOURNEYS)
def test_a_node_is_where_its_commands_take_it(case: str) -> None:
    commands, places, directions = JOURNEYS[case]
    one = node(commands)
    for time, place in places.items():
        assert one.place_at(time) == pytest.approx(place, abs=1e-5)
    for time, yaw in directions.items():
        assert one.yaw_at(time) == pytest.approx(yaw)


def test_waypoints_are_where_something_changes_and_no_others() -> None:
    assert node(go(2, 30, 40, 5)).times.tolist() == [0, 2, 12]
    for again, times in ((5, [0, 1, 5, 15]), (1.5, [0, 1, 1.5, 11.5]), (1, [0, 1, 11])):
        assert node(go(0, 10, 0, 10) + go(again, 10, 10, 1)).times.tolist() == times


def test_the_order_of_lines_does_not_matter() -> None:
    lines = (
        START + SECOND + '$ns_ at 2 "$node_(0) setdest 50 0 10"\n$ns_ at 4 "$node_(0) setdest 20 90 3"\n'
        '$ns_ at 1 "$node_(1) setdest 3 4 5"\n$ns_ at 9 "$node_(1) set X_ 1"\n'
    ).splitlines()
    expected = read("\n".join(lines))
    for seed in range(5):
        shuffled = read("\n".join(np.random.default_rng(seed).permutation(lines)))
        assert shuffled.ids == expected.ids
        for one, other in zip(shuffled.tracks, expected.tracks, strict=True):
            assert np.array_equal(one.times, other.times)
            assert np.array_equal(one.places, other.places)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("hello", "is none of '$node_(i) set X_ v'"),
        ("$node_(0) set X_", "is none of"),
        ("$node_(0) set X_ 1 2", "is none of"),
        ('$ns_ at 1 "$node_(0) setdest 1 2"', "is none of"),
        ('go at 1 "$node_(0) setdest 1 2 3"', "is none of"),
        ('$ns_ on 1 "$node_(0) setdest 1 2 3"', "is none of"),
        ("$god_ set-dist 0 1 5", "is none of"),
        ("$node_(0) set W_ 1", '"W_" is not one of X_, Y_, Z_'),
        ("$node_(a) set X_ 1", '"$node_(a)" is not a node such as $node_(0)'),
        ("$node_(-1) set X_ 1", "is not a node such as"),
        ("$node_(12345678901) set X_ 1", "is not a node such as"),
        ("$node_(0) set X_ east", 'X_ is not a finite number ("east")'),
        ("$node_(0) set X_ nan", "X_ is not a finite number"),
        ("$node_(0) set X_ 1_0", "X_ is not a finite number"),
        ("$node_(0) set X_ 1,5", "X_ is not a finite number"),
        ('$ns_ at -1 "$node_(0) setdest 1 2 3"', "the time is below 0 (-1)"),
        ('$ns_ at soon "$node_(0) setdest 1 2 3"', "the time is not a finite number"),
        ('$ns_ at 1 "$node_(0) setdest 1 2 -3"', "the speed is below 0 (-3)"),
        ('$ns_ at 1 "$node_(0) setdest 1 inf 3"', "y is not a finite number"),
        ('$ns_ at 1 "$node_(0) set X_ x"', "X_ is not a finite number"),
        ('$ns_ at 1 "$node_(0) set Z_ high"', "Z_ is not a finite number"),
        ('$ns_ at 1.0 "$node_(0) setdest 1.0 2.0 3.0 4.0"', "a setdest with a third coordinate"),
    ],
)
def test_a_bad_line_is_named(line: str, problem: str) -> None:
    message = refusal(tracks_in, "m.tcl", f"{SECOND}{START}# and now\n{line}\n")
    assert message.startswith("line 7: ")
    assert problem in message


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("# nothing\n", "holds no node of ns-2"),
        (SECOND, "a fleet needs at least two nodes, not 1"),
        (SECOND + START + go(0, 1e300, 0, 1e-300), "node 0: moves so slowly that it never arrives"),
        (SECOND + "$node_(7) set Y_ 1\n", "node 7: its place at the beginning is missing ('$node_(7) set X_"),
        (SECOND + "$node_(7) set X_ 1\n", "node 7: its place at the beginning is missing ('$node_(7) set Y_"),
    ],
)
def test_what_is_wrong_with_a_whole_file_is_named(content: str, problem: str) -> None:
    assert refusal(tracks_in, "m", content).startswith(problem)


@st.composite
def many_tracks(draw: st.DrawFn) -> Tracks:
    """Journeys, rests and jumps of two to five nodes; some begin late."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = []
    for number in range(draw(st.integers(2, 5))):
        count = draw(st.integers(1, 8))
        steps = rng.uniform(0.01, 100, count) * (rng.random(count) < 0.8)
        steps[0] = draw(st.sampled_from([0.0, 3.7]))
        places = rng.uniform(-1e4, 1e4, (count, 2))
        resting = rng.random(count) < 0.2
        for place in range(1, count):
            if resting[place]:
                places[place] = places[place - 1]
        made.append(Track(f"plane {number}", np.cumsum(steps), places))
    return Tracks(tuple(made))


@given(many_tracks(), st.integers(0, 2**32 - 1))
def test_what_is_written_is_read_back_to_the_same_places(tracks: Tracks, seed: int) -> None:
    again = read(ns2_text(tracks))
    assert again.ids == tuple(str(number) for number in range(len(tracks.tracks)))
    times = np.random.default_rng(seed).uniform(-1, tracks.end + 5, 50)
    for one, other in zip(tracks.tracks, again.tracks, strict=True):
        for time in times:
            assert one.place_at(time) == pytest.approx(other.place_at(time), abs=1e-6)
            assert math.remainder(one.yaw_at(time) - other.yaw_at(time), math.tau) == pytest.approx(0, abs=1e-6)


def test_a_file_says_what_its_nodes_were_called(tmp_path: Path) -> None:
    tracks = Tracks((Track("0", np.zeros(1), np.zeros((1, 2))), Track("A\n7", np.zeros(1), np.ones((1, 2)))))
    write_ns2(tracks, tmp_path / "m.tcl")
    comments = [line for line in (tmp_path / "m.tcl").read_text().splitlines() if line.startswith("#")]
    assert comments == ['# node 1 is "A\\n7"']
    assert read_tracks(tmp_path / "m.tcl").ids == ("0", "1")


def with_another(one: Track) -> Tracks:
    return Tracks((one, Track("1", np.zeros(1), np.ones((1, 2)))))


def test_lines_that_are_written_have_four_seven_or_eight_words() -> None:
    places = np.array([[0, 0], [1, 0], [1, 0], [5, 5], [5, 6], [9, 9.0]])
    one = Track("a", np.array([0, 1, 1.5, 1.5, 1.5, 2]), places)  # there, a rest, two jumps, and on
    lines = ns2_text(with_another(one)).splitlines()
    # A jump names both axes, also the one that stays: ns-3 would take that back to where the node began.
    assert [len(line.split()) for line in lines if not line.startswith("#")] == [4, 4, 4, 8, 7, 7, 7, 7, 8, 4, 4, 4]


def test_a_leg_too_short_for_a_speed_is_written_as_a_jump() -> None:
    one = Track("0", np.array([0, 5e-324, 1]), np.array([[0, 0], [50, 60], [50, 60.0]]))
    text = ns2_text(with_another(one))
    assert "inf" not in text
    assert read(text).tracks[0].place_at(0.5).tolist() == [50, 60]


def test_times_before_zero_cannot_be_written() -> None:
    early = Track("early", np.array([-5.0, 1]), np.array([[0, 0], [1, 1.0]]))
    with pytest.raises(FormatError, match="node 'early': has a waypoint at -5 s: time in ns-2 begins at 0"):
        ns2_text(with_another(early))
