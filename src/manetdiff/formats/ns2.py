"""ns-2 mobility, as ns-2, ns-3 and SUMO write and read it.

    $node_(0) set X_ 10.0                                  where node 0 is at the beginning (Y_ and, if not 0, Z_)
    $ns_ at 2.5 "$node_(0) setdest 40.0 25.0 5.0"          from 2.5 s on towards (40, 25) at 5 m/s, then at rest
    $ns_ at 9.0 "$node_(0) set X_ 12.0"                    a jump at 9 s

Lines of 8, 7 or 4 words; comments begin with `#`. A setdest of 9 words, with a third coordinate, as BonnMotion writes
for three dimensions, is refused: ns-3 drops such lines without a word, and its nodes then stay where they are. So a
node flies level, at the height at which it begins; a height changes by a jump of Z_ alone. Where no node has one, the
fleet is flat.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import Contents, Format, Holds, Order, Part
from manetdiff.formats.record import finite_number, naming, shown

NODE = re.compile(r"""^"?\$node_?\((\d{1,9})\)$""")
AXES = {"X_": 0, "Y_": 1, "Z_": 2}
SET_WORDS, SET_AT_WORDS, SETDEST_WORDS, SETDEST_3D_WORDS = 4, 7, 8, 9

Place = tuple[float, float, float]
Target = tuple[float | None, float | None, float | None]


@dataclass
class _Journey:
    """What a file says of one node, in the order of time. place: at the beginning, x or y not yet named is None."""

    place: list[float | None] = field(default_factory=lambda: [None, None, 0.0])
    orders: list[_Command] = field(default_factory=list)


@dataclass(frozen=True)
class _Command:
    """At a time: towards a place at a speed, or (speed None) at once to it. line: where it stands.

    - target: x, y and height; None for one that stays as it is.
    """

    time: float
    line: int
    target: Target
    speed: float | None


def read_ns2(path: PathLike) -> Tracks:
    """The tracks in an ns-2 mobility file; `-` reads standard input."""
    return tracks_in(read_source(path))


def tracks_in(source: Source) -> Tracks:
    """The tracks in an ns-2 mobility file. Nodes are called by their numbers."""
    journeys: dict[int, _Journey] = {}
    for number, line in enumerate(source.content.splitlines(), start=1):
        words = line.split("#", 1)[0].replace(";", " ").split()
        if words:
            _read_line(source.name, number, words, journeys)
    if not journeys:
        raise FormatError(f"{source.name}: holds no node of ns-2: lines such as '$node_(0) set X_ 10.0' are missing")
    with naming(source.name):
        tracks = [_track(source.name, node, journeys[node]) for node in sorted(journeys)]
        if not any(track.places[:, 2].any() for track in tracks):
            tracks = [Track(track.id, track.times, track.places[:, :2]) for track in tracks]
        return Tracks(tuple(tracks))


def write_ns2(tracks: Tracks, path: PathLike) -> None:
    """Write tracks for ns-2 and ns-3. Nodes are numbered in their order; a comment says what each was called.

    A node keeps the height at which it begins: ns-3 reads no movement that climbs.
    """
    write_text(path, ns2_text(tracks))


def ns2_text(tracks: Tracks) -> str:
    """The lines of an ns-2 mobility file."""
    lines = []
    for number, track in enumerate(tracks.tracks):
        if track.times[0] < 0:
            raise FormatError(f"node {track.id!r}: has a waypoint at {track.times[0]:g} s: time in ns-2 begins at 0")
        if track.id != str(number):
            lines.append(f"# node {number} is {shown(track.id)}")
        name = f"$node_({number})"
        beginning = [*track.places[0].tolist(), 0.0][: len(AXES)]
        lines += [f"{name} set {axis} {value!r}" for axis, value in zip(AXES, beginning, strict=True)]
        waypoints = zip(track.times.tolist(), track.places[:, :2].tolist(), strict=True)
        for (time, here), (later, there) in pairwise(waypoints):
            if here == there:
                continue
            speed = math.dist(here, there) / (later - time) if later > time else math.inf
            if math.isinf(speed):  # a jump, or as good as one
                # Both x and y: ns-3 would take the one that is not named back to where the node began.
                lines += [
                    f'$ns_ at {time!r} "{name} set {axis} {value!r}"' for axis, value in zip(AXES, there, strict=False)
                ]
            else:
                lines.append(f'$ns_ at {time!r} "{name} setdest {there[0]!r} {there[1]!r} {speed!r}"')
    return "\n".join(lines) + "\n"


def _read_line(file: str, number: int, words: Sequence[str], journeys: dict[int, _Journey]) -> None:
    where = f"{file}: line {number}"
    timed = words[0].startswith("$ns") and words[1:2] == ["at"]
    if timed and len(words) == SETDEST_3D_WORDS and words[4] == "setdest":
        raise FormatError(
            f"{where}: a setdest with a third coordinate, which ns-3 would drop without a word: write two-dimensional "
            "movements (BonnMotion's NSFile without 3D)"
        )
    if len(words) == SET_WORDS and words[1] == "set":
        journey, axis = _journey(where, words[0], journeys), _axis(where, words[2])
        journey.place[axis] = _number(where, words[3], words[2])
    elif timed and len(words) == SET_AT_WORDS and words[4] == "set":
        journey, axis = _journey(where, words[3], journeys), _axis(where, words[5])
        value, time = _number(where, words[6], words[5]), _number(where, words[2], "the time", least=0.0)
        x, y, z = (value if place == axis else None for place in AXES.values())
        journey.orders.append(_Command(time, number, (x, y, z), None))
    elif timed and len(words) == SETDEST_WORDS and words[4] == "setdest":
        time = _number(where, words[2], "the time", least=0.0)
        goal = _number(where, words[5], "x"), _number(where, words[6], "y"), None
        speed = _number(where, words[7], "the speed", least=0.0)
        _journey(where, words[3], journeys).orders.append(_Command(time, number, goal, speed))
    else:
        raise FormatError(
            f"{where}: is none of '$node_(i) set X_ v', '$ns_ at t \"$node_(i) setdest x y speed\"' and "
            f"'$ns_ at t \"$node_(i) set X_ v\"': {shown(' '.join(words))}"
        )


def _journey(where: str, word: str, journeys: dict[int, _Journey]) -> _Journey:
    match = NODE.match(word)
    if match is None:
        raise FormatError(f"{where}: {shown(word)} is not a node such as $node_(0)")
    return journeys.setdefault(int(match[1]), _Journey())


def _axis(where: str, word: str) -> int:
    if word not in AXES:
        raise FormatError(f"{where}: {shown(word)} is not one of {', '.join(AXES)}")
    return AXES[word]


def _number(where: str, word: str, what: str, least: float = -math.inf) -> float:
    value = finite_number(where, what, word.rstrip('"'))
    if value < least:
        raise FormatError(f"{where}: {what} is below {least:g} ({value:g})")
    return value


def _track(file: str, node: int, journey: _Journey) -> Track:
    """Orders carried out one after the other; one that comes while the node is under way takes over where it is."""
    x, y, z = journey.place
    if x is None or y is None or z is None:
        missing = "X_" if x is None else "Y_"
        raise FormatError(
            f"{file}: node {node}: its place at the beginning is missing ('$node_({node}) set {missing} …')"
        )
    times, places = [0.0], [(x, y, z)]
    goal: tuple[float, Place] | None = None  # when and where it arrives, while under way
    for order in sorted(journey.orders, key=lambda one: (one.time, one.line)):
        here = _here(times[-1], places[-1], goal, order.time)
        if goal is not None and goal[0] <= order.time:
            _append(times, places, *goal)
        _append(times, places, order.time, here)
        target = _reached(here, order.target)
        goal = None
        if order.speed is None:
            _append(times, places, order.time, target)
        elif order.speed > 0:
            goal = order.time + math.dist(here, target) / order.speed, target
    if goal is not None:
        _append(times, places, *goal)
    if not np.isfinite(times).all():
        raise FormatError(f"{file}: node {node}: moves so slowly that it never arrives")
    return Track(str(node), np.array(times), np.array(places))


def _here(time: float, place: Place, goal: tuple[float, Place] | None, now: float) -> Place:
    """Where the node is now, having left a place at a time for its goal."""
    if goal is None or goal[0] <= now:
        return place if goal is None else goal[1]
    share = (now - time) / (goal[0] - time)
    x, y, z = (old + share * (new - old) for old, new in zip(place, goal[1], strict=True))
    return x, y, z


def _reached(here: Place, target: Target) -> Place:
    """The target, with the node's own coordinates where it names none."""
    x, y, z = (old if new is None else new for old, new in zip(here, target, strict=True))
    return x, y, z


def _append(times: list[float], places: list[Place], time: float, place: Place) -> None:
    if (times[-1], places[-1]) != (time, place):
        times.append(time)
        places.append(place)


def _write(held: Contents, order: Order) -> None:
    write_ns2(held.moving("ns-2 mobility", order.time), order.path)


FORMAT = Format(
    name="ns2",
    title="ns-2",
    holds=Holds.TRACKS,
    suffixes=(".tcl", ".ns_movements", ".ns2"),
    keeps=frozenset({Part.PLACES, Part.HEIGHTS, Part.MOVEMENT}),
    note="a comment says what a number was called",
    begins=lambda source: source.first_line.startswith(("$node", "$ns")),
    read=tracks_in,
    write=_write,
)
