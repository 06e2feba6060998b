"""From one format to another: what a file holds is read once, and written as whatever can hold as much or less."""

from __future__ import annotations

import warnings
from dataclasses import replace

from manetdiff.errors import FormatError
from manetdiff.files import printable
from manetdiff.fleet import Fleet, Tracks
from manetdiff.formats import netjson
from manetdiff.formats.files import STANDARD, PathLike, read_source, suffix_of
from manetdiff.formats.format import STEP_S, Contents, Format, Holds, Order, read_as
from manetdiff.formats.registry import MOBILITY, READ, WRITTEN, names
from manetdiff.formats.reports import away

__all__ = [
    "Contents",
    "Order",
    "check_topology_path",
    "left_out",
    "read_contents",
    "read_tracks",
    "target_of",
    "write_contents",
]


def read_contents(
    path: PathLike, kind: str | None = None, step: float = STEP_S, longest_gap: float | None = None
) -> Contents:
    """What a file of any format holds. kind: the format's name, where the file's name and beginning do not tell.

    - longest_gap: as of read_tracks.
    """
    source = read_source(path)
    formats = _named(READ, kind, "--from: unknown format")
    held = read_as(formats, source, f"file of a known format: give --from {names(READ)}")
    if isinstance(held, Tracks):
        return Contents(source.name, tracks=_present(source.name, held, longest_gap), step=step)
    if longest_gap is not None:
        raise FormatError(f"{source.name}: holds a fleet at one time only: --gap goes with a table over time")
    fleet, topology = (held, None) if isinstance(held, Fleet) else held
    return Contents(source.name, fleet=fleet, topology=topology)


def read_tracks(path: PathLike, kind: str | None = None, longest_gap: float | None = None) -> Tracks:
    """Tracks from an ns-2, BonnMotion or ADS-B file or a table of times and places; `-` reads standard input.

    - kind: ns2, bonnmotion, adsb or table, where the file's name and beginning do not tell.
    - longest_gap: of tables, seconds without a row after which a node is taken to have left; math.inf: it never does.
      By default 60 s for aircraft, and five times the usual interval of a plain table.
    """
    formats = _named(MOBILITY, kind, "unknown kind of mobility file")
    source = read_source(path)
    tracks = read_as(formats, source, f"mobility file of a known kind: {names(MOBILITY)}")
    assert isinstance(tracks, Tracks)
    return _present(source.name, tracks, longest_gap)


def write_contents(held: Contents, order: Order, kind: str | None = None) -> str:
    """Write what is held, and say as what. kind: the format's name, where the path's suffix does not tell."""
    target = target_of(held, order, kind)
    assert target.write is not None
    target.write(held, order)
    return target.name


def target_of(held: Contents, order: Order, kind: str | None = None) -> Format:
    """The format to write, by its name or the path's suffix: of those of one name the one that can hold most."""
    formats = _named(WRITTEN, kind, "--to: unknown format")
    if order.time is not None and held.tracks is None:
        raise FormatError(f"{held.name}: holds a fleet at one time only: --time goes with a mobility file")
    suffix = suffix_of(order.path)
    fitting = [one for one in formats if suffix in one.suffixes] or (list(formats) if kind is not None else [])
    if not fitting:
        name = "standard output" if order.path == STANDARD else printable(order.path)
        raise FormatError(f"{name}: its name does not say which format to write: give --to {names(WRITTEN)}")
    best = [_most_held(held, order), Holds.FLEET]
    return min(fitting, key=lambda one: best.index(one.holds) if one.holds in best else len(best))


def check_topology_path(path: PathLike) -> None:
    """Raise a FormatError if the name belongs to another format than topologies are written in: nobody looks for
    NetJSON in a map."""
    suffix = suffix_of(path)
    titles = {one.title for one in WRITTEN if suffix in one.suffixes}
    if titles and netjson.FORMAT.title not in titles:
        raise FormatError(
            f"{printable(path)}: a topology is written as NetJSON, into .json; 'manetdiff convert' makes {suffix} of it"
        )


def left_out(held: Contents, order: Order, target: Format) -> list[str]:
    """What the contents say and the target cannot hold, in words."""
    return [part.value for part in target.loses(held.parts(order.time))]


def _present(name: str, tracks: Tracks, longest_gap: float | None) -> Tracks:
    """The tracks with the gap that is asked for; where none is, it is said if nodes are taken to be away."""
    if longest_gap is None:
        told = away(tracks)
        if told is not None:
            limit = f"--gap sets another limit than {tracks.longest_gap:g} s"
            warnings.warn(f"{name}: {told}; {limit}", UserWarning, stacklevel=3)
        return tracks
    if tracks.longest_gap is None:
        raise FormatError(f"{name}: says where its nodes are at all times: --gap goes with a table over time")
    if not longest_gap >= 0:
        raise FormatError(f"--gap: must be at least 0 seconds, not {longest_gap:g}")
    return replace(tracks, longest_gap=longest_gap)


def _named(formats: tuple[Format, ...], name: str | None, unknown: str) -> tuple[Format, ...]:
    """Those of a name; all of them where none is given."""
    found = tuple(one for one in formats if name in (None, one.name))
    if not found:
        raise FormatError(f"{unknown} {name!r}; known are {names(formats)}")
    return found


def _most_held(held: Contents, order: Order) -> Holds:
    if held.topology is not None:
        return Holds.TOPOLOGY
    return Holds.FLEET if held.tracks is None or order.time is not None else Holds.TRACKS
