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
from manetdiff.formats.files import Source
from manetdiff.formats.ns2 import ns2_text, read_ns2, tracks_in, write_ns2

SECOND = "$node_(1) set X_ 900\n$node_(1) set Y_ 900\n"
START = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n"


def read(content: str) -> Tracks:
    return tracks_in(Source("m.tcl", content.encode()))


def node(orders: str, start: str = START) -> Track:
    """The first node under these orders; a second one only makes a fleet of it."""
    return read(SECOND + start + orders).tracks[0]


def refusal(content: str) -> str:
    with pytest.raises(FormatError) as caught:
        read(content)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_lines_of_four_words_are_places_at_the_beginning() -> None:
    tracks = read("$node_(3) set X_ 1.5\n$node_(3) set Y_ -2e1\n$node_(12) set X_ 0\n$node_(12) set Y_ 7\n")
    assert tracks.ids == ("3", "12")
    assert [track.place_at(99).tolist() for track in tracks.tracks] == [[1.5, -20], [0, 7]]
    assert tracks.frame is None
    assert tracks.longest_gap is None


def test_lines_of_eight_words_are_journeys_that_end_in_rest() -> None:
    one = node('$ns_ at 2.0 "$node_(0) setdest 30.0 40.0 5.0"\n')
    assert one.times.tolist() == [0, 2, 12]
    assert one.place_at(2).tolist() == [0, 0]
    assert one.place_at(7).tolist() == [15, 20]
    assert one.place_at(12).tolist() == [30, 40]
    assert one.place_at(50).tolist() == [30, 40]


def test_lines_of_seven_words_are_jumps() -> None:
    one = node('$ns_ at 5 "$node_(0) set X_ 70"\n$ns_ at 5 "$node_(0) set Y_ 80"\n')
    assert one.place_at(4.999).tolist() == [0, 0]
    assert one.place_at(5).tolist() == [70, 80]
    assert one.yaw_at(6) == 0


def test_a_jump_while_under_way_moves_one_axis_and_ends_the_journey() -> None:
    one = node('$ns_ at 0 "$node_(0) setdest 100 50 11.180339887498949"\n$ns_ at 4 "$node_(0) set Y_ 300"\n')
    assert one.place_at(3.999999) == pytest.approx([40, 20], abs=1e-4)
    for time in (4, 8, 100):
        assert one.place_at(time) == pytest.approx([40, 300])


def test_an_order_that_interrupts_another_takes_over_where_the_node_is() -> None:
    # Eastwards at 10 m/s: at 4 s the node is at (40, 0). From there to (40, 30) at 5 m/s: there at 10 s.
    one = node('$ns_ at 0 "$node_(0) setdest 100 0 10"\n$ns_ at 4 "$node_(0) setdest 40 30 5"\n')
    for time, place in {2: (20, 0), 4: (40, 0), 7: (40, 15), 10: (40, 30), 11: (40, 30)}.items():
        assert one.place_at(time) == pytest.approx(place)
    assert one.yaw_at(2) == 0
    assert one.yaw_at(7) == pytest.approx(math.pi / 2)


def test_three_orders_that_interrupt_each_other() -> None:
    one = node(
        '$ns_ at 0 "$node_(0) setdest 0 1000 10"\n'
        '$ns_ at 3 "$node_(0) setdest 1000 30 20"\n'
        '$ns_ at 5 "$node_(0) setdest 40 0 3"\n'
    )
    assert one.place_at(3) == pytest.approx([0, 30])
    assert one.place_at(5) == pytest.approx([40, 30])
    assert one.place_at(10) == pytest.approx([40, 15])
    assert one.place_at(15) == pytest.approx([40, 0])
    assert one.times[-1] == pytest.approx(15)


def test_an_order_after_the_arrival_starts_where_the_last_one_ended() -> None:
    one = node('$ns_ at 0 "$node_(0) setdest 10 0 10"\n$ns_ at 5 "$node_(0) setdest 10 10 1"\n')
    assert one.times.tolist() == [0, 1, 5, 15]
    soon = node('$ns_ at 0 "$node_(0) setdest 10 0 10"\n$ns_ at 1.5 "$node_(0) setdest 10 10 1"\n')
    assert soon.times.tolist() == [0, 1, 1.5, 11.5]
    assert one.place_at(3).tolist() == [10, 0]
    assert one.place_at(5).tolist() == [10, 0]
    assert one.place_at(10).tolist() == [10, 5]


def test_an_order_at_the_moment_of_arrival_loses_nothing() -> None:
    one = node('$ns_ at 0 "$node_(0) setdest 10 0 10"\n$ns_ at 1 "$node_(0) setdest 10 10 10"\n')
    assert one.times.tolist() == [0, 1, 2]
    assert one.places.tolist() == [[0, 0], [10, 0], [10, 10]]


def test_speed_zero_stops_a_node_where_it_is() -> None:
    one = node('$ns_ at 0 "$node_(0) setdest 100 0 10"\n$ns_ at 3 "$node_(0) setdest 500 500 0"\n')
    for time in (3, 10, 1000):
        assert one.place_at(time).tolist() == [30, 0]
    assert one.yaw_at(1000) == 0


def test_the_last_of_two_orders_at_one_time_counts() -> None:
    one = node('$ns_ at 1 "$node_(0) setdest 100 0 10"\n$ns_ at 1 "$node_(0) setdest 0 100 10"\n')
    assert one.place_at(6).tolist() == [0, 50]


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


def test_comments_semicolons_blank_lines_and_spaces_are_no_matter() -> None:
    plain = node('$ns_ at 1.0 "$node_(0) setdest 3 4 5"\n')
    dressed = node('# setdest 1 2 3\n\n \t$ns_  at 1.0   "$node_(0) setdest 3 4 5" ; # as above\r\n;\n')
    assert np.array_equal(plain.times, dressed.times)
    assert np.array_equal(plain.places, dressed.places)


def test_names_as_sumo_and_ns3_write_them_are_read() -> None:
    one = read('$node(0) set X_ 1\n$node(0) set Y_ 2\n$ns at 1 "$node(0) setdest 1 3 1"\n' + SECOND).tracks[0]
    assert one.place_at(2).tolist() == [1, 3]


def test_height_is_read_and_left_out() -> None:
    one = node('$node_(0) set Z_ 500\n$ns_ at 1 "$node_(0) set Z_ 600"\n')
    assert one.place_at(5).tolist() == [0, 0]
    assert "Z_ is not a finite number" in refusal(SECOND + START + '$ns_ at 1 "$node_(0) set Z_ high"\n')


@pytest.mark.parametrize("axis", ["X_", "Y_"])
def test_a_missing_place_at_the_beginning_names_the_node_and_the_axis(axis: str) -> None:
    other = "Y_" if axis == "X_" else "X_"
    message = refusal(SECOND + f'$node_(7) set {other} 1\n$ns_ at 1 "$node_(7) setdest 1 1 1"\n')
    assert message.startswith(f"m.tcl: node 7: its place at the beginning is missing ('$node_(7) set {axis}")


def test_a_setdest_of_nine_words_is_refused() -> None:
    message = refusal(SECOND + START + '$ns_ at 1.0 "$node_(0) setdest 1.0 2.0 3.0 4.0"\n')
    assert message.startswith("m.tcl: line 6: a setdest with a third coordinate")


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
    ],
)
def test_a_bad_line_is_named(line: str, problem: str) -> None:
    message = refusal(f"{SECOND}{START}# and now\n{line}\n")
    assert message.startswith("m.tcl: line 7: ")
    assert problem in message


def test_no_nodes_or_one_node_are_refused() -> None:
    assert "holds no node of ns-2" in refusal("# nothing\n")
    assert "at least two nodes, not 1" in refusal(SECOND)


def test_a_journey_that_never_ends_is_refused() -> None:
    message = refusal(SECOND + START + '$ns_ at 0 "$node_(0) setdest 1e300 0 1e-300"\n')
    assert message == "m.tcl: node 0: moves so slowly that it never arrives"


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
    assert read_ns2(tmp_path / "m.tcl").ids == ("0", "1")


def test_lines_that_are_written_have_four_seven_or_eight_words() -> None:
    places = np.array([[0, 0], [1, 0], [1, 0], [5, 5], [5, 6], [9, 9.0]])
    one = Track("a", np.array([0, 1, 1.5, 1.5, 1.5, 2]), places)  # there, a rest, two jumps, and on
    lines = ns2_text(Tracks((one, Track("1", np.zeros(1), np.ones((1, 2)))))).splitlines()
    # A jump names both axes, also the one that stays: ns-3 would take that back to where the node began.
    assert [len(line.split()) for line in lines if not line.startswith("#")] == [4, 4, 4, 8, 7, 7, 7, 7, 8, 4, 4, 4]


def test_a_leg_too_short_for_a_speed_is_written_as_a_jump() -> None:
    one = Track("0", np.array([0, 5e-324, 1]), np.array([[0, 0], [50, 60], [50, 60.0]]))
    text = ns2_text(Tracks((one, Track("1", np.zeros(1), np.ones((1, 2))))))
    assert "inf" not in text
    assert read(text).tracks[0].place_at(0.5).tolist() == [50, 60]


def test_times_before_zero_cannot_be_written() -> None:
    early = Track("early", np.array([-5.0, 1]), np.array([[0, 0], [1, 1.0]]))
    with pytest.raises(FormatError, match="node 'early': has a waypoint at -5 s: time in ns-2 begins at 0"):
        ns2_text(Tracks((early, Track("1", np.zeros(1), np.ones((1, 2))))))
