"""BonnMotion: lines of two and of three dimensions, packed or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from manetdiff.errors import FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats.bonnmotion import bonnmotion_text, tracks_in, write_bonnmotion
from manetdiff.formats.conversion import read_tracks
from manetdiff.formats.files import Source, read_source
from support.format_samples import refusal

PLANE = "0.0 10.0 20.0 5.0 20.0 20.0 9.0 20.0 20.0\n1.0 -3.5 4.25 11.0 6.5 4.25\n"
SPACE = "#3D\n0 10 20 300 5 20 20 310\n1 -3.5 4.25 200 11 6.5 4.25 200\n"


def read(content: str) -> Tracks:
    return tracks_in(Source("m.movements", content.encode()))


def test_a_line_is_a_node_of_waypoints() -> None:
    tracks = read(PLANE)
    assert tracks.ids == ("0", "1")
    assert tracks.tracks[0].times.tolist() == [0, 5, 9]
    assert tracks.at(2.5).positions.tolist() == [[15, 20], [-2, 4.25]]
    assert (tracks.start, tracks.end) == (0, 11)


def test_comments_and_blank_lines_are_no_nodes() -> None:
    assert read("# two nodes\n\n" + PLANE.replace("\n", "\n\n# and\n")).ids == ("0", "1")


@pytest.mark.parametrize("name", ["m.movements.gz", "m.movements", "m"])
def test_a_packed_file_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(PLANE.encode()))
    assert read_tracks(path).at(2.5).positions.tolist() == [[15, 20], [-2, 4.25]]
    assert read_source(path).suffix == (".movements" if "." in name else "")


def test_a_file_packed_in_several_parts_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "m.movements.gz"
    path.write_bytes(b"".join(gzip.compress(line.encode()) for line in PLANE.splitlines(keepends=True)))
    assert read_tracks(path).ids == ("0", "1")


def test_a_packed_file_that_breaks_off_or_was_damaged_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(PLANE.encode())
    broken = [(packed[:length], "is a gzip file that breaks off before its end") for length in range(2, len(packed))]
    unreadable = "is not a gzip file that can be unpacked"
    path = tmp_path / "m.movements.gz"
    for data, problem in [
        *broken,
        (packed[:-6] + b"xx" + packed[-4:], f"{unreadable}: CRC"),
        (packed + b"junk", unreadable),
    ]:
        path.write_bytes(data)
        with pytest.raises(FormatError, match=rf"movements\.gz: {problem}"):
            read_tracks(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("# two\n" + PLANE.rstrip()[:-5], "line 3: has 5 numbers, which is no multiple of 3: t x y"),
        ("0 1 2 3 4 5 6\n", "line 1: has 7 numbers, which is no multiple of 3: t x y"),
        (
            "0 1 2 0 1 2\n0 1 2 3 5 6 7 8\n",
            "line 2: has 8 numbers, which is no multiple of 3: t x y; "
            "waypoints of four numbers need a line '#3D' above them",
        ),
        (SPACE + "0 1 2\n", "line 4: has 3 numbers, which is no multiple of 4: t x y z (after '#3D')"),
        *(
            (PLANE + f"0 1 2 3 {word} 4\n", f'line 3: number 5 is not a finite number ("{word}")')
            for word in ("x", "nan", "inf", "1_0", "1,5", "1e999", "12:00")
        ),
        ("5 0 0 3 1 1\n" + PLANE, "line 1: node '0': waypoint 2 at 3 s is before the one above it"),
        ("# nothing\n", "holds no nodes: every line must be the waypoints of one, 't x y t x y …'"),
        ("0 1 2\n", "a fleet needs at least two nodes, not 1: there is nothing to link"),
    ],
)
def test_what_is_wrong_is_named(content: str, problem: str) -> None:
    assert refusal(tracks_in, "m.movements", content) == problem


def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for axes in (2, 3):
        times = [np.cumsum(rng.uniform(0, 9, count)) for count in (1, 4, 7)]
        tracks = Tracks(tuple(Track(str(k), one, rng.normal(size=(len(one), axes))) for k, one in enumerate(times)))
        write_bonnmotion(tracks, tmp_path / "m.movements")
        again = read_tracks(tmp_path / "m.movements")
        for one, other in zip(tracks.tracks, again.tracks, strict=True):
            assert np.array_equal(one.times, other.times) and np.array_equal(one.places, other.places)


def test_only_the_mark_of_three_dimensions_is_written_beside_the_nodes() -> None:
    assert bonnmotion_text(read(SPACE)).splitlines()[0] == "#3D"
    plane = bonnmotion_text(read(PLANE)).splitlines()
    assert plane == ["0.0 10.0 20.0 5.0 20.0 20.0 9.0 20.0 20.0", "1.0 -3.5 4.25 11.0 6.5 4.25"]


def test_times_before_zero_cannot_be_written() -> None:
    early = Track("early", np.array([-5.0, 1]), np.array([[0, 0], [1, 1.0]]))
    with pytest.raises(FormatError, match="node 'early': has a waypoint at -5 s: BonnMotion begins at 0"):
        bonnmotion_text(Tracks((early, Track("b", np.zeros(1), np.ones((1, 2))))))
