"""A limit on how often: so many at once, and so many a second after that."""

from __future__ import annotations

from manetdiff.server.errors import TooOftenError


class Bucket:
    """rate: a second. burst: at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._then = burst, 0.0

    def take(self, now: float) -> None:
        """Take one, or raise a TooOftenError that says when there will be one. now: a steady clock, in seconds."""
        self._left = min(self._burst, self._left + self._rate * max(0.0, now - self._then))
        self._then = now
        if self._left < 1.0:
            raise TooOftenError(f"more than {self._rate:g} reports a second", (1.0 - self._left) / self._rate)
        self._left -= 1.0
