"""Topologies over time, for formats that show them on a globe: when what is there, and in which colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TypeVar

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.topology import Topology

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
# Parity 0 and 1, and links, as in the pictures: red, green, blue, opacity.
NODE_COLOURS = ((0, 114, 178, 255), (230, 159, 0, 255))
LINK_COLOUR = (0, 158, 115, 255)

LinkedFleet = tuple[float, Fleet, Topology]  # at so many seconds
MaybeLinked = tuple[float, Fleet, Topology | None]
Linked = TypeVar("Linked", Topology, Topology | None)
Spans = list[tuple[float, float]]  # from and to, seconds


def check_moments(moments: Sequence[MaybeLinked], what: str) -> None:
    """Raise unless the moments are in the order of time and the fleets know where on earth they are.

    - what: the format that needs it.
    """
    if not moments:
        raise FormatError("there is no moment to write")
    if any(later[0] <= earlier[0] for earlier, later in pairwise(moments)):
        raise FormatError(f"{what} needs moments in the order of time, each once")
    if any(fleet.frame is None for _, fleet, _ in moments):
        raise FormatError(f"{what} needs latitude and longitude: read the fleet from degrees")


def steps(moments: Sequence[tuple[float, Fleet, Linked]]) -> Iterator[tuple[float, float, Fleet, Linked]]:
    """Each moment with the time until which it holds: that of the next; the last is but an instant."""
    ends = [time for time, _, _ in moments[1:]] + [moments[-1][0]]
    for (time, fleet, topology), until in zip(moments, ends, strict=True):
        yield time, until, fleet, topology


def extend(spans: Spans, time: float, until: float) -> None:
    """Add a span, or make the last one longer where it goes on."""
    if spans and spans[-1][1] == time:
        spans[-1] = (spans[-1][0], until)
    else:
        spans.append((time, until))


def date_at(epoch: datetime, seconds: float, what: str) -> str:
    """So many seconds after the epoch, as ISO 8601. what: the format that needs it."""
    try:
        return (epoch + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise FormatError(f"{what} counts in dates, and {seconds:g} s after {epoch.date()} is none") from None
