"""From one format to another: what a file holds is read once, and written as whatever can hold as much or less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import Fleet, Tracks
from manetdiff.formats import mobility
from manetdiff.formats.adsb import PARQUET_SUFFIXES, is_adsb_header
from manetdiff.formats.csv_table import columns_in
from manetdiff.formats.czml import write_czml
from manetdiff.formats.emane import write_eel, write_schedule
from manetdiff.formats.files import STANDARD, PathLike, name_of, read_text
from manetdiff.formats.fleet_file import read_fleet, write_fleet
from manetdiff.formats.graphs import read_graphml, write_graphml
from manetdiff.formats.netjson import read_topology, write_topology
from manetdiff.formats.ns2 import write_ns2
from manetdiff.formats.record import parse_object
from manetdiff.formats.track_table import is_header, write_track_table
from manetdiff.radio import Radio
from manetdiff.topology import Topology

STEP_S = 1.0


@dataclass(frozen=True)
class Contents:
    """What a file holds: a fleet over time, or a fleet at one time, with or without its topology."""

    name: str
    tracks: Tracks | None = None
    fleet: Fleet | None = None
    topology: Topology | None = None
    step: float = STEP_S

    def fleet_at(self, time: float | None = None) -> Fleet:
        """The fleet; of tracks the one at a time, by default the first moment of at least two nodes."""
        return next(self._fleets(time))[1]

    def moments(self, time: float | None = None) -> list[tuple[float, Fleet]]:
        """Seconds and fleet, a step apart, or only at a time; a fleet alone is at 0 s."""
        return list(self._fleets(time))

    def linked(self, what: str) -> tuple[Fleet, Topology]:
        """The fleet and its topology, without which there is nothing to write."""
        if self.fleet is None or self.topology is None:
            raise FormatError(f"{self.name}: holds no topology, which {what} needs: 'manetdiff generate' makes one")
        return self.fleet, self.topology

    def _fleets(self, time: float | None) -> Iterator[tuple[float, Fleet]]:
        if self.tracks is None:
            assert self.fleet is not None
            yield 0.0, self.fleet
            return
        try:
            if time is not None:
                yield time, self.tracks.at(time)
            else:
                yield from self.tracks.fleets(self.tracks.moments(self.step))
        except FleetError as error:
            raise FormatError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class Order:
    """What to write where. time: of the fleet in a mobility file. radio: for rates, instead of
    the one that the file was written for."""

    path: PathLike
    radio: Radio | None = None
    time: float | None = None


def _write_fleet(held: Contents, order: Order) -> None:
    write_fleet(held.fleet_at(order.time), order.path)


def _write_netjson(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("NetJSON")
    write_topology(topology, fleet, order.radio, order.path)


def _write_graphml(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("GraphML")
    write_graphml(topology, fleet, order.radio, order.path)


def _write_schedule(held: Contents, order: Order) -> None:
    _, topology = held.linked("an EMANE schedule")
    write_schedule(topology, order.path)


def _write_eel(held: Contents, order: Order) -> None:
    write_eel(held.moments(order.time), order.path)


def _write_czml(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("CZML")
    write_czml([(0.0, fleet, topology), (1.0, fleet, topology)], order.path)


def _write_ns2(held: Contents, order: Order) -> None:
    if held.tracks is None:
        raise FormatError(f"{held.name}: does not say how its nodes move, which ns-2 mobility needs")
    if order.time is not None:
        raise FormatError(f"{held.name}: ns-2 mobility is of all times: --time goes with fleet, table and emane-eel")
    write_ns2(held.tracks, order.path)


def _write_table(held: Contents, order: Order) -> None:
    write_track_table(held.moments(order.time), order.path)


WRITERS: dict[str, Callable[[Contents, Order], None]] = {
    "fleet": _write_fleet,
    "netjson": _write_netjson,
    "graphml": _write_graphml,
    "emane-schedule": _write_schedule,
    "emane-eel": _write_eel,
    "czml": _write_czml,
    "ns2": _write_ns2,
    "table": _write_table,
}
READERS = ("fleet", "netjson", "graphml", *mobility.KINDS)
WRITTEN_BY_SUFFIX = {
    ".netjson": "netjson",
    ".graphml": "graphml",
    ".xml": "emane-schedule",
    ".eel": "emane-eel",
    ".czml": "czml",
    ".tcl": "ns2",
    ".ns_movements": "ns2",
    ".ns2": "ns2",
}


def read_contents(path: PathLike, kind: str | None = None, step: float = STEP_S) -> Contents:
    """What a file of any format holds. kind: one of READERS, where its name and beginning do not tell."""
    if kind is not None and kind not in READERS:
        raise FormatError(f"--from: unknown format {kind!r}; known are {', '.join(READERS)}")
    chosen = kind or _kind_of(path)
    name = name_of(path)
    if chosen == "fleet":
        return Contents(name, fleet=read_fleet(path))
    if chosen in ("netjson", "graphml"):
        fleet, topology = read_topology(path) if chosen == "netjson" else read_graphml(path)
        return Contents(name, fleet=fleet, topology=topology)
    return Contents(name, tracks=mobility.read_tracks(path, None if chosen == "mobility" else chosen), step=step)


def write_contents(held: Contents, order: Order, kind: str | None = None) -> str:
    """Write what is held, and say as what. kind: one of WRITERS, where the path's suffix does not tell."""
    if kind is not None and kind not in WRITERS:
        raise FormatError(f"--to: unknown format {kind!r}; known are {', '.join(WRITERS)}")
    if order.time is not None and held.tracks is None:
        raise FormatError(f"{held.name}: holds a fleet at one time only: --time goes with a mobility file")
    chosen = kind or _written_as(held, order)
    WRITERS[chosen](held, order)
    return chosen


def _written_as(held: Contents, order: Order) -> str:
    suffix = Path(order.path).suffix.lower()
    if suffix in WRITTEN_BY_SUFFIX:
        return WRITTEN_BY_SUFFIX[suffix]
    if suffix == ".json":
        return "fleet" if held.topology is None else "netjson"
    if suffix == ".csv":
        return "fleet" if held.tracks is None or order.time is not None else "table"
    name = "standard output" if str(order.path) == STANDARD else name_of(order.path)
    raise FormatError(f"{name}: its name does not say which format to write: give --to {', '.join(WRITERS)}")


def _kind_of(path: PathLike) -> str:
    """By the suffix, and for what many formats share by what the file says."""
    if str(path) == STANDARD:
        raise FormatError(f"standard input: give --from {', '.join(READERS)}")
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix == ".graphml":
        return "graphml"
    if suffix in (*mobility.SUFFIXES, *PARQUET_SUFFIXES):
        return "mobility"
    if suffix == ".netjson":
        return "netjson"
    text = read_text(path)
    if text.content.lstrip().startswith("{"):
        return "netjson" if "type" in parse_object(text.name, text.content) else "fleet"
    if text.content.lstrip().startswith("<"):
        return "graphml"
    lines = (line.strip() for line in text.content.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    columns = columns_in(first)
    return "mobility" if len(columns) < 2 or is_adsb_header(columns) or is_header(columns) else "fleet"
