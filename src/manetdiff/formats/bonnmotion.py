"""BonnMotion's own files: a line for each node, with waypoints `t x y`, or `t x y z` under a comment `#3D`.

Between two waypoints a node moves on a straight line at one speed. Files may be compressed (`.movements.gz`).
"""

from __future__ import annotations

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import Contents, Format, Holds, Order, Part
from manetdiff.formats.record import finite_number, naming, number_in

MARK_3D = "3D"


def read_bonnmotion(path: PathLike) -> Tracks:
    """The tracks in a BonnMotion file; `-` reads standard input."""
    return tracks_in(read_source(path))


def tracks_in(source: Source) -> Tracks:
    """The tracks in a BonnMotion file. Nodes are called by their lines: 0, 1, …"""
    width = 3
    tracks: list[Track] = []
    for number, line in enumerate(source.content.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            width = 4 if stripped.lstrip("# ").upper().startswith(MARK_3D) else width
        elif stripped:
            tracks.append(_track(f"{source.name}: line {number}", str(len(tracks)), stripped.split(), width))
    if not tracks:
        raise FormatError(f"{source.name}: holds no nodes: every line must be the waypoints of one, 't x y t x y …'")
    with naming(source.name):
        return Tracks(tuple(tracks))


def _track(where: str, name: str, words: list[str], width: int) -> Track:
    if len(words) % width:
        told = "t x y" if width == 3 else "t x y z (after '#3D')"
        if width == 3 and len(words) % 4 == 0:
            told += "; waypoints of four numbers need a line '#3D' above them"
        raise FormatError(f"{where}: has {len(words)} numbers, which is no multiple of {width}: {told}")
    values = [finite_number(where, f"number {place}", word) for place, word in enumerate(words, start=1)]
    waypoints = np.array(values).reshape(-1, width)
    with naming(where):
        return Track(name, waypoints[:, 0], waypoints[:, 1:])


def write_bonnmotion(tracks: Tracks, path: PathLike) -> None:
    """Write tracks for BonnMotion and what reads its files. Nodes are their lines, in their order.

    No comments but the one that the format has: not every reader skips them.
    """
    write_text(path, bonnmotion_text(tracks))


def bonnmotion_text(tracks: Tracks) -> str:
    """The lines of a BonnMotion file, under `#3D` where the nodes have heights."""
    lines = [f"#{MARK_3D}"] if tracks.tracks[0].places.shape[1] == 3 else []
    for track in tracks.tracks:
        if track.times[0] < 0:
            raise FormatError(f"node {track.id!r}: has a waypoint at {track.times[0]:g} s: BonnMotion begins at 0")
        waypoints = np.column_stack([track.times, track.places])
        lines.append(" ".join(repr(value) for value in waypoints.ravel().tolist()))
    return "\n".join(lines) + "\n"


def _write(held: Contents, order: Order) -> None:
    write_bonnmotion(held.moving("BonnMotion", order.time), order.path)


def _begins(source: Source) -> bool:
    words = source.first_line.split()
    return bool(words) and all(number_in(word) is not None for word in words)


FORMAT = Format(
    name="bonnmotion",
    title="BonnMotion",
    holds=Holds.TRACKS,
    suffixes=(".movements",),
    keeps=frozenset({Part.PLACES, Part.HEIGHTS, Part.MOVEMENT, Part.CLIMBS}),
    begins=_begins,
    read=tracks_in,
    write=_write,
)
