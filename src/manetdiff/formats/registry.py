"""Every format of fleets, topologies and fleets over time. A new one is a file beside this one and a line here."""

from __future__ import annotations

from manetdiff.formats import (
    adsb,
    bonnmotion,
    czml,
    emane,
    fleet_file,
    geojson,
    graphml,
    kml,
    netjson,
    ns2,
    track_table,
)
from manetdiff.formats.format import Format, Holds, Part

# Where several formats begin alike, the more particular one comes first.
FORMATS: tuple[Format, ...] = (
    netjson.FORMAT,
    graphml.FORMAT,
    fleet_file.JSON,
    fleet_file.CSV,
    ns2.FORMAT,
    bonnmotion.FORMAT,
    adsb.PARQUET,
    adsb.CSV,
    track_table.FORMAT,
    emane.SCHEDULE,
    emane.EVENTS,
    czml.FORMAT,
    geojson.FORMAT,
    kml.FORMAT,
)
READ = tuple(one for one in FORMATS if one.read is not None)
WRITTEN = tuple(one for one in FORMATS if one.write is not None)
MOBILITY = tuple(one for one in READ if one.holds is Holds.TRACKS)


def names(formats: tuple[Format, ...], last: str = ", ") -> str:
    """What the command line calls them, each once. last: what stands before the last one."""
    *most, end = dict.fromkeys(one.name for one in formats)
    return f"{', '.join(most)}{last}{end}"


def _listed(parts: list[Part], note: str = "") -> str:
    return ", ".join(part.value for part in parts) + (f"; {note}" if note else "")


def markdown_table() -> str:
    """The table of formats in docs/formats.md."""
    head = "| format | `--from` `--to` | in | out | suffix | kept | lost when written |"
    rows = [head, "| --- | --- | :---: | :---: | --- | --- | --- |"]
    for one in FORMATS:
        section = one.title.split(",")[0]
        cells = [
            f"[{one.title}](#{section.lower().replace(' ', '-')})",
            f"`{one.name}`",
            "" if one.read is None else "yes",
            "" if one.write is None else "yes",
            ", ".join(f"`{suffix}`" for suffix in one.suffixes),
            _listed([part for part in Part if part in one.keeps and part is not Part.CLIMBS], one.note),
            "" if one.write is None else _listed(one.loses()),
        ]
        rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
    return "\n".join(rows) + "\n"
