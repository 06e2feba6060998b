"""A mobility file, flown again at any speed, as if its fleet were out there."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from manetdiff.checks import check_above_0
from manetdiff.client.errors import ClientError
from manetdiff.client.feeding import Feed, Show
from manetdiff.errors import FleetError
from manetdiff.fleet import Tracks

STEP_S = 1.0
SHORTEST_WAIT_S = 1e-3  # so that rounding never makes it wait for nothing, again and again

Clock = Callable[[], float]
# Wait so many seconds; whether to end.
Wait = Callable[[float], bool]


class Due(NamedTuple):
    """A moment to report. place: which of them. passed: seconds of flight since the first of all, over all laps.
    skipped: moments since the last that were left out."""

    place: int
    passed: float
    skipped: int


def replay(
    feed: Feed,
    tracks: Tracks,
    speed: float = 1.0,
    step: float = STEP_S,
    *,
    loop: bool = False,
    show: Show | None = None,
    reports: int | None = None,
    stop: threading.Event | None = None,
    clock: Clock = time.monotonic,
) -> None:
    """Report where the fleet is, whole, at every step of the file, until its end, until stopped, or so many times.

    - speed: seconds of flight a second. step: seconds of flight from one report to the next.
    - loop: begin again at the end.

    Times are those of the file. Where the network has seen a later one, they go on from there: a network takes nothing
    from its past. Who is late leaves moments out rather than fall behind.
    """
    check_above_0(ClientError, "speed", speed)
    moments = tracks.moments(step)
    seen = feed.client.network(feed.network).get("time")
    first = moments[0] if seen is None or seen < moments[0] else seen + step
    stop = threading.Event() if stop is None else stop
    any_fleet = False
    for due in paced(moments, step, speed, loop, clock, stop.wait):
        feed.progress.skipped += due.skipped
        try:
            fleet = tracks.at(moments[due.place])
        except FleetError as error:  # fewer than two nodes are there, or two of them at one place
            feed.progress.trouble = str(error)
            feed.progress.skipped += 1
        else:
            any_fleet = True
            feed.report(first + due.passed, fleet, complete=True)
        if show is not None:
            show(feed.progress)
        if reports is not None and feed.progress.reports >= reports:
            return
    if not any_fleet and feed.progress.trouble:
        raise ClientError(f"there was nothing to report: {feed.progress.trouble}")


def paced(moments: Sequence[float], step: float, speed: float, loop: bool, clock: Clock, wait: Wait) -> Iterator[Due]:
    """The moments as they become due, the first at once; of several that are due only the newest.

    With loop there are laps without end; from the last moment of one to the first of the next it is a step.
    """
    passed = [moment - moments[0] for moment in moments]
    due = [seconds / speed for seconds in passed]
    lap_s = passed[-1] + step
    began, following = clock(), 0  # following: counts moments over all laps
    while loop or following < len(moments):
        elapsed = clock() - began
        lap = int(elapsed * speed // lap_s) if loop else 0
        newest = lap * len(moments) + bisect_right(due, elapsed - lap * lap_s / speed) - 1
        if newest < following:
            laps, index = divmod(following, len(moments))
            if wait(max(laps * lap_s / speed + due[index] - elapsed, SHORTEST_WAIT_S)):
                return
            continue
        laps, index = divmod(newest, len(moments))
        yield Due(index, laps * lap_s + passed[index], newest - following)
        following = newest + 1
