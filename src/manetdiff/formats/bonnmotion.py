"""BonnMotion's own files: a line for each node, with waypoints `t x y`, or `t x y z` under a comment `#3D`.

Between two waypoints a node moves on a straight line at one speed. Files may be compressed (`.movements.gz`). Height is
read and left out: topologies are of the plane.
"""

from __future__ import annotations

import math

import numpy as np

from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats.files import PathLike, Text, read_text
from manetdiff.formats.record import shown

MARK_3D = "3D"


def read_bonnmotion(path: PathLike) -> Tracks:
    """The tracks in a BonnMotion file; `-` reads standard input. Nodes are called by their lines: 0, 1, …"""
    return tracks_in(read_text(path))


def tracks_in(text: Text) -> Tracks:
    """The tracks in the text of a BonnMotion file."""
    width = 3
    tracks: list[Track] = []
    for number, line in enumerate(text.content.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            width = 4 if stripped.lstrip("# ").upper().startswith(MARK_3D) else width
        elif stripped:
            tracks.append(_track(f"{text.name}: line {number}", str(len(tracks)), stripped.split(), width))
    if not tracks:
        raise FormatError(f"{text.name}: holds no nodes: every line must be the waypoints of one, 't x y t x y …'")
    try:
        return Tracks(tuple(tracks))
    except FleetError as error:
        raise FormatError(f"{text.name}: {error}") from None


def _track(where: str, name: str, words: list[str], width: int) -> Track:
    if len(words) % width:
        given = "t x y" if width == 3 else "t x y z (after '#3D')"
        other = ""
        if width == 3 and len(words) % 4 == 0:
            other = "; waypoints of four numbers need a line '#3D' above them"
        raise FormatError(f"{where}: has {len(words)} numbers, which is no multiple of {width}: {given}{other}")
    values = []
    for place, word in enumerate(words, start=1):
        try:
            value = float(word) if "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise FormatError(f"{where}: number {place} is not a finite number ({shown(word)})")
        values.append(value)
    waypoints = np.array(values).reshape(-1, width)
    try:
        return Track(name, waypoints[:, 0], waypoints[:, 1:3])
    except FleetError as error:
        raise FormatError(f"{where}: {error}") from None
