"""What columns and fields may be called: one list of names for fleets and for fleets over time, in any case of letters.

The first name of each is ours. Where a table has several names for one thing, the one of the earlier group is taken;
two of one group are refused, because nobody but the user knows which is meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from manetdiff.errors import FormatError
from manetdiff.formats.csv_table import with_numbers
from manetdiff.formats.record import Record, shown

FOOT_M = 0.3048

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "time": (("time",), ("timestamp", "t", "time_s", "seconds", "datetime", "utc")),
    "id": (("id",), ("icao24", "icao", "hex"), ("node", "node_id", "callsign", "ident"), ("name",)),
    "x": (("x", "x_m"),),
    "y": (("y", "y_m"),),
    "yaw": (("yaw", "yaw_rad"),),
    "lat": (("lat", "latitude", "lat_deg"),),
    "lon": (("lon", "longitude", "lng", "long", "lon_deg"),),
    # Where a node points, before where it goes.
    "heading": (("heading", "hdg", "heading_deg"), ("track", "course", "bearing", "cog", "true_track", "track_deg")),
    # Above the ellipsoid before by air pressure: distances are geometry.
    "z": (
        ("z", "z_m", "alt", "altitude", "alt_m", "altitude_m", "height", "height_m", "alt_ft", "altitude_ft"),
        ("geoaltitude", "geo_altitude", "alt_geom"),
        ("baroaltitude", "baro_altitude", "alt_baro"),
    ),
    "blocked": (("blocked",),),
}
SAYS = {"time": "the time", "id": "which node it is", "heading": "the heading", "z": "the height"}
# In feet: by their name, or because the receivers that write them count so.
FEET = frozenset({"alt_ft", "altitude_ft", "alt_geom", "alt_baro"})
# What aircraft are known by, in tables of their reports.
AIRCRAFT = frozenset(NAMES["id"][1])
# Heights without a unit: metres, but feet in reports of aircraft.
NO_UNIT = frozenset({"alt", "altitude", "height"})
HIGHEST_M = 20_000.0
# Nothing in these bears on a topology; of any other column it is said that it is not used.
SPEEDS = ("groundspeed", "speed", "velocity", "gs", "vertical_rate", "vertrate", "vertical_speed")
STATES = ("squawk", "onground", "alert", "spi", "category", "lastposupdate", "lastcontact", "last_position")
IDLE = frozenset({"", *SPEEDS, *STATES, "origin_country", "callsign", "name", "parity"})
MOST_SHOWN = 5

PLACES = {name: (ours, group) for ours, groups in NAMES.items() for group, names in enumerate(groups) for name in names}


@dataclass(frozen=True)
class Columns:
    """What the columns of a table, or the fields of an object, say.

    - names: by our name for it, what the file calls it. unused: columns that say nothing of ours.
    """

    names: Mapping[str, str]
    unused: tuple[str, ...]

    @cached_property
    def height_factor(self) -> float:
        """Metres for each of what the heights are counted in."""
        spelt = self.names.get("z", "").lower()
        in_feet = spelt in FEET or (spelt in NO_UNIT and self.names.get("id", "").lower() in AIRCRAFT)
        return FOOT_M if in_feet else 1.0

    def record(self, file: str, what: str, values: Mapping[str, object]) -> Record:
        """One object, under our names and in our units; what is not ours keeps its name."""
        return self._in_metres(file, what, {self._ours.get(name, name): value for name, value in values.items()})

    def row(self, file: str, what: str, cells: Mapping[str, str]) -> Record:
        """The same of a row of text: numbers where its cells say one; an id is text whatever it says."""
        renamed = {self._ours.get(name, name): cell for name, cell in cells.items()}
        return self._in_metres(file, what, {**with_numbers(renamed)})

    def _in_metres(self, file: str, what: str, values: dict[str, object]) -> Record:
        height = values.get("z")
        if self.height_factor != 1.0 and isinstance(height, int | float) and not isinstance(height, bool):
            values["z"] = height * self.height_factor
        return Record(file, what, values, self.names)

    @cached_property
    def _ours(self) -> dict[str, str]:
        """By what the file calls it, our name for it."""
        return {theirs: name for name, theirs in self.names.items()}

    def doubt(self, file: str, heights: Iterable[float]) -> None:
        """Say so where heights without a unit are most likely in feet; they are taken as they are."""
        spelt = self.names.get("z", "")
        highest = max(heights, default=0.0)
        if spelt.lower() in NO_UNIT and self.height_factor == 1.0 and highest > HIGHEST_M:
            told = f"{spelt} {highest:g} is in metres: if it is in feet, call it alt_ft"
            warnings.warn(f"{file}: {told}", UserWarning, stacklevel=2)

    def say_unused(self, file: str, *idle: str) -> None:
        """Say which columns nothing was done with. idle: our names of those that this format has no use for."""
        unknown = [name for name in self.unused if name.lower() not in IDLE]
        unused = [shown(name) for name in (*unknown, *(self.names[one] for one in idle if one in self.names))]
        if unused:
            more = f" and {len(unused) - MOST_SHOWN} more" if len(unused) > MOST_SHOWN else ""
            told = f"columns that are not used: {', '.join(unused[:MOST_SHOWN])}{more}"
            warnings.warn(f"{file}: {told}", UserWarning, stacklevel=2)


def understood(where: str, names: Sequence[str]) -> Columns:
    """What these columns or fields say. where: what messages begin with."""
    candidates: dict[str, list[tuple[int, str]]] = {}
    for name in dict.fromkeys(names):
        ours, group = PLACES.get(name.lower(), (None, 0))
        if ours is not None:
            candidates.setdefault(ours, []).append((group, name))
    chosen = {}
    for ours, found in candidates.items():
        first = min(group for group, _ in found)
        best = [name for group, name in found if group == first]
        if len(best) > 1:
            told = f"{shown(best[0])} and {shown(best[1])} both say {SAYS.get(ours, ours)}: leave one out"
            raise FormatError(f"{where}: {told}")
        chosen[ours] = best[0]
    return Columns(chosen, tuple(name for name in names if name not in chosen.values()))


def meanings(names: Iterable[str]) -> set[str]:
    """Our names for these columns, for those who only want to know what a table is."""
    return {PLACES[name.strip().lower()][0] for name in names if name.strip().lower() in PLACES}
