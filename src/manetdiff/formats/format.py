"""What a format is: how its files are known, read and written; and what a file can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, Tracks
from manetdiff.formats.files import PathLike, Source
from manetdiff.formats.record import naming
from manetdiff.radio import Radio
from manetdiff.topology import Topology

STEP_S = 1.0


class Holds(Enum):
    """What the files of a format hold."""

    FLEET = "a fleet"
    TOPOLOGY = "a topology"
    TRACKS = "a fleet over time"


class Part(Enum):
    """Something that a file may say. What a format cannot hold of it is left out when it is written."""

    IDS = "ids"
    PLACES = "places"
    HEIGHTS = "heights"
    HEADINGS = "headings"
    EARTH = "where on earth"
    BLOCKED = "blocked azimuths"
    MOVEMENT = "movement"
    CLIMBS = "climbs"
    PRESENCE = "who is there when"
    LINKS = "links"
    PARITY = "parity"
    RATES = "sectors and rates"
    RADIO = "radio"


FLEET_PARTS = frozenset({Part.IDS, Part.PLACES, Part.HEIGHTS, Part.HEADINGS, Part.EARTH})
FLIGHT_PARTS = FLEET_PARTS | {Part.MOVEMENT, Part.CLIMBS, Part.PRESENCE}
LINK_PARTS = frozenset({Part.LINKS, Part.PARITY, Part.RATES})
# What there is only of movement: where that is left out, nobody needs to be told of these.
OF_MOVEMENT = frozenset({Part.CLIMBS, Part.PRESENCE})


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

    def moving(self, what: str, time: float | None) -> Tracks:
        """The tracks, without which, or at one time of which, there is nothing to write."""
        if self.tracks is None:
            raise FormatError(f"{self.name}: does not say how its nodes move, which {what} needs")
        if time is not None:
            raise FormatError(f"{self.name}: {what} is of all times: --time goes with a fleet or a table")
        return self.tracks

    def parts(self, time: float | None = None) -> frozenset[Part]:
        """What it says, or says at a time: beyond places, and beyond ids that only count the nodes."""
        if self.tracks is not None and time is None:
            return _track_parts(self.tracks)
        fleet = self.fleet_at(time)
        said = {
            Part.IDS: fleet.ids != tuple(str(number) for number in range(len(fleet))),
            Part.HEIGHTS: fleet.has_heights,
            Part.HEADINGS: True,
            Part.EARTH: fleet.frame is not None,
            Part.BLOCKED: fleet.blocked is not None,
            Part.LINKS: self.topology is not None,
            Part.PARITY: self.topology is not None,
            Part.RATES: self.topology is not None,
            Part.RADIO: self.topology is not None and self.topology.layout is not None,
        }
        return frozenset({Part.PLACES, *(part for part, is_said in said.items() if is_said)})

    def _fleets(self, time: float | None) -> Iterator[tuple[float, Fleet]]:
        if self.tracks is None:
            assert self.fleet is not None
            yield 0.0, self.fleet
            return
        with naming(self.name):
            if time is not None:
                yield time, self.tracks.at(time)
            else:
                yield from self.tracks.fleets(self.tracks.moments(self.step))


def _track_parts(tracks: Tracks) -> frozenset[Part]:
    said = {
        Part.IDS: tracks.ids != tuple(str(number) for number in range(len(tracks.ids))),
        Part.HEIGHTS: any(track.places.shape[1] == 3 for track in tracks.tracks),
        Part.CLIMBS: any(np.ptp(track.places[:, 2:], axis=0).any() for track in tracks.tracks),
        Part.HEADINGS: any(track.yaw is not None for track in tracks.tracks),
        Part.EARTH: tracks.frame is not None,
        Part.BLOCKED: any(track.blocked for track in tracks.tracks),
        Part.PRESENCE: tracks.come_and_go,
    }
    return frozenset({Part.PLACES, Part.MOVEMENT, *(part for part, is_said in said.items() if is_said)})


@dataclass(frozen=True)
class Order:
    """What to write where. time: of the fleet in a mobility file. radio: for rates, instead of
    the one that the file was written for."""

    path: PathLike
    radio: Radio | None = None
    time: float | None = None


Held = Fleet | tuple[Fleet, Topology] | Tracks


@dataclass(frozen=True)
class Format:
    """One format of files.

    - name: what --from and --to call it; formats of one name differ in suffix and beginning.
    - title: what people call it, after a comma which kind of it. suffixes: with their dot, in lower case.
    - begins: whether a file begins as one of these; it is asked where the suffix does not decide.
    - read, write: None where the format is only written, or only read.
    - keeps: what the files hold. note: more about that, for the documentation.
    """

    name: str
    title: str
    holds: Holds
    suffixes: tuple[str, ...]
    keeps: frozenset[Part]
    note: str = ""
    begins: Callable[[Source], bool] = lambda source: False
    read: Callable[[Source], Held] | None = None
    write: Callable[[Contents, Order], None] | None = None

    def loses(self, parts: Iterable[Part] = Part) -> list[Part]:
        """Which of these parts, by default of all, are left out when one is written."""
        lost = set(parts) - self.keeps
        return [part for part in Part if part in lost and (part not in OF_MOVEMENT or Part.MOVEMENT in self.keeps)]


def chosen(formats: Sequence[Format], source: Source) -> Format | None:
    """The format of a file: by its suffix where only one has it, else the first whose files begin so.

    Where all that are possible have one name, one of these is meant: the last, if none begins so.
    """
    named = [one for one in formats if source.suffix in one.suffixes]
    if len(named) == 1:
        return named[0]
    only = formats[-1] if len({one.name for one in formats}) == 1 else None
    return next((one for one in formats if one.begins(source)), only)


def read_as(formats: Sequence[Format], source: Source, otherwise: str = "") -> Held:
    """What a file in one of these formats holds. otherwise: what it is not, where it is in none of them."""
    found = chosen(formats, source)
    if found is None or found.read is None:
        raise FormatError(f"{source.name}: is no {otherwise}")
    return found.read(source)
