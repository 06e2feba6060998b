"""Progress on standard error: one bar for all commands, where there is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from manetdiff.compiled import compiling
from manetdiff.engine import Pace
from manetdiff.wording import duration_text

Part = TypeVar("Part")
Show = Callable[[int, int, str], None]
# Where there is no terminal, a line at least so often, in seconds, while there is news.
LINE_EVERY_S = 30.0
CLEAR_LINE = "\x1b[K"


@contextmanager
def bar(*, transient: bool = False) -> Iterator[Show | None]:
    """What to call with how much is done, of how much, and words beside it; None where there is no terminal.

    The bar is not there before the first call: of several processes, only one has any news.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(16), MofNCompleteColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=console, transient=transient, speed_estimate_period=120)

    def show(done: int, total: int, words: str) -> None:
        if not shown.task_ids:
            shown.start()
            # What an earlier run has done does not count in the time that is left.
            shown.add_task(words, total=total, completed=done)
        shown.update(shown.task_ids[0], completed=done, description=words)

    try:
        yield show
    finally:
        if shown.task_ids:
            shown.stop()


class Track(Protocol):
    """What is told how far the tasks of a run are."""

    def __call__(self, done: int, total: int, *, failed: int = 0, finished: str | None = None) -> None:
        """failed: of those that are done. finished: what is whole now, such as a file."""


@contextmanager
def tracked(unit: str) -> Iterator[Track]:
    """Progress of tasks, their rate, the time that is left, and how many have failed: a bar on a terminal; elsewhere
    lines, one for whatever is finished, and now and then one between. unit: what is counted."""
    pace = Pace()
    told_at = time.monotonic()
    with bar() as show:

        def track(done: int, total: int, *, failed: int = 0, finished: str | None = None) -> None:
            nonlocal told_at
            pace.saw(done)
            rate = f"{pace.rate:.1f}/s" + (f", {failed} failed" if failed else "")
            if show is not None:
                show(done, total, f"{unit}, {rate}")
            elif finished is not None or time.monotonic() > told_at + LINE_EVERY_S:
                told_at = time.monotonic()
                left = pace.seconds_left(total) if done < total else None
                ending = "" if left is None else f", {duration_text(left)} left"
                print(f"{finished or unit}: {done} of {total}, {rate}{ending}", file=sys.stderr, flush=True)

        yield track


def with_bar(parts: Iterable[Part], total: int, words: str) -> Iterator[Part]:
    """The parts of the work as they come, under a bar that goes away at the end."""
    with bar(transient=True) as show:
        for done, part in enumerate(parts, start=1):
            yield part
            if show is not None:
                show(done, total, words)


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Where there is a terminal, a line that says how far compiling is, while there is anything to compile.

    Plain, as a bar may be on the screen already, and there can be only one.
    """
    if not sys.stderr.isatty():
        yield
        return

    def show(done: int, total: int) -> None:
        line = f"compiling, once on this machine: {done} of {total} functions" if done < total else ""
        print(f"\r{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)

    with compiling(show):
        yield
