"""How long a search may go on: a time, or a number of moves, which gives the same answer on every machine."""

from __future__ import annotations

import time
from dataclasses import dataclass

from manetdiff.checks import is_number, is_whole
from manetdiff.errors import SolverError


@dataclass(frozen=True)
class Budget:
    """Either seconds or moves; exactly one of them is set."""

    seconds: float | None = None
    moves: int | None = None

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.moves is None):
            raise SolverError("a budget is either a time in seconds or a number of moves, one of the two")
        if self.seconds is not None and not (is_number(self.seconds) and self.seconds > 0):
            raise SolverError(f"a time budget must be a finite number of seconds above 0, not {self.seconds!r}")
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
        self._start = time.perf_counter() if started is None else started

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    @property
    def spent(self) -> float:
        """Share of the budget that is used, 0 … 1 (and beyond)."""
        if self.budget.moves is not None:
            return self.moves / self.budget.moves
        assert self.budget.seconds is not None
        return self.seconds / self.budget.seconds

    def moves_left(self, at_least: int) -> int:
        """Moves that the budget still has room for; for a time budget an estimate from the pace so far."""
        if self.budget.moves is not None:
            return max(0, self.budget.moves - self.moves)
        assert self.budget.seconds is not None
        if self.seconds >= self.budget.seconds:
            return 0
        if self.moves == 0:
            return at_least
        pace = self.moves / max(self.seconds, 1e-9)
        return max(0, int(pace * (self.budget.seconds - self.seconds)))
