"""How fast work gets done, and how long the rest of it will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

# The rate is that of so many seconds: tasks may get larger, and others may come to the machine.
OVER_S = 120.0


class Pace:
    """Of one run. What an earlier run has done does not count: it took none of this one's time.

    - clock: seconds, from anywhere.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def saw(self, done: int) -> None:
        """So much is done now."""
        now = self._clock()
        # The last one that is too old stays: the rate is that since then.
        while len(self._seen) > 1 and self._seen[1][0] <= now - OVER_S:
            self._seen.popleft()
        self._seen.append((now, done))

    @property
    def rate(self) -> float:
        """Of late, a second; 0 while nothing is known."""
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0

    def seconds_left(self, total: int) -> float | None:
        """Until all is done; None while nothing is known."""
        return (total - self._seen[-1][1]) / self.rate if self.rate > 0 else None
