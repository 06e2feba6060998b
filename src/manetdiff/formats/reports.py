"""Reports of where nodes were, as tables over time hold them, to tracks: sorted, filled where something is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from manetdiff.checks import some_of
from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import LocalFrame, Track, Tracks
from manetdiff.fleet.geodetic import compass_to_yaw
from manetdiff.formats.record import number_in, shown

# Unix time of the year 9999: whatever is beyond is in milliseconds.
LATEST_S = 253_402_300_800.0
# Of 2001: nobody counts so many from anything else than the beginning of Unix time.
UNIX_FROM_S = 1e9
# A node of which a table says nothing for so many times the usual interval is taken to have left.
USUAL_INTERVALS = 5


class Report(NamedTuple):
    """Where a node was at a time (seconds). place: x, y in metres, or latitude, longitude; in their units the angle."""

    time: float
    place: tuple[float, float]
    height: float | None
    angle: float | None


def tracks_of(
    reports: Mapping[str, Sequence[Report]],
    geodetic: bool,
    longest_gap: float | None = None,
    epoch: datetime | None = None,
) -> Tracks:
    """The tracks of nodes by their reports, at least one each, in any order.

    - A missing height lies on the line between the ones before and after it; a missing angle is the last one there was.
      A node without any angle points where it goes; one without any height among others that have one is refused.
    - longest_gap, epoch: as of Tracks; the gap by default a few times the median of all intervals between reports of a
      node.
    """
    ordered = {name: sorted(one, key=lambda report: report.time) for name, one in reports.items()}
    _check_heights(ordered)
    frame = _frame(ordered) if geodetic else None
    tracks = tuple(_track(name, one, frame) for name, one in ordered.items())
    return Tracks(tracks, frame, usual_gap(tracks) if longest_gap is None else longest_gap, epoch)


def usual_gap(tracks: Iterable[Track]) -> float:
    """Seconds without a report after which a node has left, by how often nodes of this table report."""
    intervals = np.concatenate([np.diff(track.times) for track in tracks])
    intervals = intervals[intervals > 0]
    return USUAL_INTERVALS * float(np.median(intervals)) if len(intervals) else 0.0


def away(tracks: Tracks) -> str | None:
    """In words, where a node is taken to have left: it may have been at rest all the time, and said so only once."""
    longest = tracks.longest_gap
    if longest is None:
        return None
    gaps = [
        f"node {track.id!r} has no row for {gap:g} s after {start:g} s and counts as away"
        for track in tracks.tracks
        for start, gap in zip(track.times[:-1].tolist(), np.diff(track.times).tolist(), strict=True)
        if gap > longest
    ]
    if tracks.end > tracks.start:
        once = [track for track in tracks.tracks if track.times[0] == track.times[-1]]
        gaps += [f"node {one.id!r} has one row only and counts as away but at {one.times[0]:g} s" for one in once]
    if not gaps:
        return None
    return gaps[0] + (f" ({len(gaps) - 1:,} more)" if len(gaps) > 1 else "")


def seconds_in(where: str, field: str, value: object) -> tuple[float, bool]:
    """The time that a cell says, in seconds, and whether it says it as a date: then they are of Unix time."""
    if isinstance(value, datetime):
        return _unix(value), True
    seconds = number_in(value)
    if seconds is not None and abs(seconds) > LATEST_S:
        raise FormatError(f"{where}: field {field!r} is beyond the year 9999 ({seconds:g}): give seconds")
    if seconds is not None and not math.isnan(seconds):
        return seconds, False
    try:
        return _unix(datetime.fromisoformat(str(value))), True
    except ValueError:
        raise FormatError(
            f"{where}: field {field!r} is neither seconds nor a date such as 2026-01-31 12:00:00 "
            f"({shown(None if value is None else str(value))})"
        ) from None


def epoch_of(first: float, counted_from: float, dated: bool = False) -> datetime | None:
    """When time 0 was; None where the file does not say.

    - first: the earliest time in the file, in seconds. counted_from: what was taken off all times. dated: whether they
      were dates; seconds count as Unix time where there are that many.
    """
    if not dated and first < UNIX_FROM_S:
        return None
    with suppress(OverflowError, ValueError):  # of a time zone ahead of the year 1
        return datetime.fromtimestamp(counted_from, UTC)
    return None


def _unix(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _check_heights(reports: Mapping[str, Sequence[Report]]) -> None:
    """Either no node ever says how high it is, or each does at least once."""
    silent = [name for name, one in reports.items() if all(report.height is None for report in one)]
    if 0 < len(silent) < len(reports):
        told = "no height in any row, though others have one: leave out these nodes, or the column"
        raise FleetError(f"{'node' if len(silent) == 1 else 'nodes'} {some_of(silent)}: {told}")


def _frame(reports: Mapping[str, Sequence[Report]]) -> LocalFrame:
    names = [name for name, one in reports.items() for _ in one]
    latitude, longitude = np.array([report.place for one in reports.values() for report in one]).T
    return LocalFrame.around(latitude, longitude, names)


def _track(name: str, reports: Sequence[Report], frame: LocalFrame | None) -> Track:
    times = np.array([report.time for report in reports])
    places = np.array([report.place for report in reports])
    heights = np.array([math.nan if report.height is None else report.height for report in reports])
    angles = _without_gaps([report.angle for report in reports])
    yaw = None if angles is None else np.array(angles)
    if frame is not None:
        latitude, longitude = places.T
        yaw = None if yaw is None else compass_to_yaw(frame, latitude, longitude, yaw)
        places = frame.to_xy(latitude, longitude)
    known = ~np.isnan(heights)
    if known.any():
        places = np.column_stack([places, np.interp(times, times[known], heights[known])])
    return Track(name, times, places, yaw)


def _without_gaps(values: list[float | None]) -> list[float] | None:
    """A missing value is the last one there was, at the beginning the first that comes; None where all are missing."""
    known = [value for value in values if value is not None]
    filled = accumulate(
        values, lambda last, value: last if value is None else value, initial=known[0] if known else None
    )
    return list(filled)[1:] if known else None
