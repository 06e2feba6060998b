"""Files of fleets over time, told apart by name or by what they begin with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats import adsb, bonnmotion, ns2, track_table
from manetdiff.formats.csv_table import columns_in, csv_rows
from manetdiff.formats.files import STANDARD, PathLike, Text, read_text

KINDS = ("ns2", "bonnmotion", "adsb", "table")
SUFFIXES = {
    ".tcl": "ns2",
    ".ns_movements": "ns2",
    ".ns2": "ns2",
    ".movements": "bonnmotion",
}
_READ: dict[str, Callable[[Text], Tracks]] = {
    "ns2": ns2.tracks_in,
    "bonnmotion": bonnmotion.tracks_in,
    "adsb": lambda text: adsb.adsb_tracks(text.name, csv_rows(text, adsb.check_header)),
    "table": track_table.tracks_in,
}


def read_tracks(path: PathLike, kind: str | None = None) -> Tracks:
    """Tracks from an ns-2, BonnMotion or ADS-B file or a table of times and places; `-` reads standard input.

    kind: one of KINDS, where the file's name and beginning do not tell.
    """
    if kind is not None and kind not in KINDS:
        raise FormatError(f"unknown kind of mobility file {kind!r}: choose one of {', '.join(KINDS)}")
    if Path(path).suffix.lower() in adsb.PARQUET_SUFFIXES and kind in (None, "adsb"):
        return adsb.read_adsb(path)
    text = read_text(path)
    return _READ[kind or _kind_of(path, text)](text)


def _kind_of(path: PathLike, text: Text) -> str:
    name = "" if os.fspath(path) == STANDARD else Path(path).name.lower().removesuffix(".gz")
    if (suffix := Path(name).suffix) in SUFFIXES:
        return SUFFIXES[suffix]
    lines = (line.strip() for line in text.content.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith(("$node", "$ns")):
        return "ns2"
    columns = columns_in(first)
    if adsb.is_adsb_header(columns):
        return "adsb"
    if track_table.is_header(columns):
        return "table"
    if first and all(_is_number(word) for word in first.split()):
        return "bonnmotion"
    raise FormatError(
        f"{text.name}: is no mobility file of a known kind (ns-2, BonnMotion, an ADS-B table, or CSV with the columns "
        f"{', '.join(track_table.LOCAL)})"
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
