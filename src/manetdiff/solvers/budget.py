"""How long a search may go on: a time, or a number of moves, which gives the same answer on every machine."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from manetdiff.checks import check_above_0, is_whole
from manetdiff.errors import SolverError


@dataclass(frozen=True)
class Budget:
    """Either seconds or moves; exactly one of them is set.

    - deadline: beside moves, when to stop in any case, by time.perf_counter.
    """

    seconds: float | None = None
    moves: int | None = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.moves is None):
            raise SolverError("a budget is either a time in seconds or a number of moves, one of the two")
        if self.seconds is not None:
            check_above_0(SolverError, "a time budget", self.seconds)
        if self.moves is not None and not (is_whole(self.moves) and self.moves >= 1):
            raise SolverError(f"a move budget must be a whole number above 0, not {self.moves!r}")

    @classmethod
    def of(cls, seconds: float | None, moves: int | None, default: Budget) -> Budget:
        """What was asked for, or the default if nothing was."""
        return default if seconds is None and moves is None else cls(seconds, moves)


class Meter:
    """A budget being spent: tells how far it is used up, and paces a search that checks it now and then."""

    def __init__(self, budget: Budget, started: float | None = None) -> None:
        """started: when the clock began, by time.perf_counter; now by default."""
        self.budget = budget
        self.moves = 0
        self._timed_moves, self._timed_seconds = 0, 0.0
        self._start = time.perf_counter() if started is None else started
        self._end = budget.deadline if budget.seconds is None else self._start + budget.seconds

    def time_moves(self, moves: int, since: float) -> None:
        """So many moves were made since a time by time.perf_counter: the pace is that of moves timed, where there are
        any, and else that of the whole search so far."""
        self.moves += moves
        self._timed_moves += moves
        self._timed_seconds += time.perf_counter() - since

    def keep_back(self, seconds: float) -> None:
        """End so much earlier, at most at half the time, where there is a clock to look at."""
        if self._end is not None:
            self._end = max(self._end - seconds, (self._start + self._end) / 2)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    @property
    def spent(self) -> float:
        """Share of the budget that is used, 0 … 1 (and beyond)."""
        if self.budget.moves is not None:
            return 1.0 if self.late else self.moves / self.budget.moves
        assert self._end is not None
        return self.seconds / (self._end - self._start)

    @property
    def watches_clock(self) -> bool:
        """Whether a search must look at the clock now and then."""
        return self._end is not None

    @property
    def late(self) -> bool:
        """Whether the clock has run out."""
        return self._end is not None and time.perf_counter() >= self._end

    def moves_left(self, at_least: int) -> int:
        """Moves that the budget still has room for; by the clock an estimate from the pace so far."""
        counted = math.inf if self.budget.moves is None else max(0, self.budget.moves - self.moves)
        if self._end is None:
            return int(counted)
        left = self._end - time.perf_counter()
        if left <= 0:
            return 0
        moves, seconds = (self._timed_moves, self._timed_seconds) if self._timed_moves else (self.moves, self.seconds)
        pace = moves / max(seconds, 1e-9)
        return int(min(counted, pace * left if self.moves else at_least))
