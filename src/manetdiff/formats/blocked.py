"""Blocked azimuths in files, in the convention of the angles beside them.

Beside x, y, yaw they are radians counter-clockwise from the nose, beside lat, lon, heading degrees clockwise from it:
as a compass counts. `[[30, 60], [170, 190]]` in JSON is `30:60;170:190` where only text has room; either is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from manetdiff.checks import is_number
from manetdiff.fleet import Fleet
from manetdiff.fleet.azimuths import FARTHEST, Arc, width_of
from manetdiff.formats.record import Record, number_in, shown

BLOCKED = "blocked"
DECIMALS = 9  # of degrees, as of headings


def arcs_in(record: Record, local: bool) -> tuple[Arc, ...]:
    """The node's arcs in radians, counter-clockwise; none where the field is not there.

    - local: whether the file is in radians.
    """
    pairs = _pairs(record) if BLOCKED in record.values else []
    farthest, unit = (FARTHEST, "radians beside x, y, yaw") if local else (720.0, "degrees beside lat, lon, heading")
    for start, stop in pairs:
        told = f"({start:g}:{stop:g})"
        if max(abs(start), abs(stop)) > farthest:
            raise record.error(BLOCKED, f"is beyond two full turns {told}: it is in {unit}")
        if start == stop:
            raise record.error(BLOCKED, f"ends where it begins {told}: a whole turn is 0:{'6.2832' if local else 360}")
    # What runs clockwise from the first to the second runs counter-clockwise from the second to the first.
    return tuple(pairs if local else [(-math.radians(stop), -math.radians(start)) for start, stop in pairs])


def radians_text(arcs: Sequence[Arc]) -> str:
    """The arcs as text, in radians counter-clockwise, to the last bit."""
    return ";".join(f"{start!r}:{stop!r}" for start, stop in arcs)


def degrees_text(arcs: Sequence[Arc]) -> str:
    """The arcs as text, in degrees clockwise from 0 to 360."""
    return ";".join(f"{start:.12g}:{stop:.12g}" for start, stop in map(_clockwise, arcs))


def blocked_column(fleet: Fleet) -> list[str]:
    """What a table says of each node: degrees where the fleet knows where on earth it is, and radians otherwise."""
    text = radians_text if fleet.frame is None else degrees_text
    return [text(arcs) for arcs in fleet.blocked or [()] * len(fleet)]


def _clockwise(arc: Arc) -> Arc:
    start = round(-math.degrees(arc[1]) % 360.0, DECIMALS) % 360.0
    # An arc must not end where it begins, however narrow, or however near to a whole turn.
    width = min(max(round(math.degrees(width_of(arc)), DECIMALS), 10.0**-DECIMALS), 360.0)
    return start, start + width if width == 360.0 else round(start + width, DECIMALS) % 360.0


def _pairs(record: Record) -> list[Arc]:
    value = record.values[BLOCKED]
    if isinstance(value, str):
        pairs: object = [[number_in(end) for end in piece.split(":")] for piece in value.split(";") if value.strip()]
    else:
        pairs = value
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise _no_pairs(record, value)
    if not all(is_number(end) for pair in pairs for end in pair):
        raise _no_pairs(record, value)
    return [(float(start), float(stop)) for start, stop in pairs]


def _no_pairs(record: Record, value: object) -> Exception:
    given = shown(value) if isinstance(value, str | int | float) or value is None else "what stands there"
    return record.error(BLOCKED, f"must be pairs of finite numbers, [[30, 60], …] or 30:60;…, not {given}")
