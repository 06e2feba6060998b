"""What becomes of tasks: results, or the errors that they ended with."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from manetdiff.errors import ManetDiffError
from manetdiff.messages import one_line

Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """Of one task. error: what it raised, or that it was lost; there is no result then."""

    result: Result | None = None
    error: Exception | None = None

    def value(self) -> Result:
        """The result; the error is raised."""
        if self.error is not None:
            raise self.error
        return cast(Result, self.result)


def raised(outcomes: Generator[Outcome[Result], None, None]) -> Generator[Result, None, None]:
    """The results; the first error is raised, and ends what is under way."""
    with closing(outcomes) as coming:
        for outcome in coming:
            yield outcome.value()


def failure_text(error: Exception) -> str:
    """An error in one line: what is wrong where it is somebody's mistake, and else also of which kind it is."""
    told = str(error)
    return one_line(told if isinstance(error, ManetDiffError) else f"{type(error).__name__}: {told}".rstrip(": "))
