"""What a training run shows on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

QUIET_S = 10.0  # between lines where there is no terminal


class Report(Protocol):
    """A step of the run, of how many, and figures by name."""

    @property
    def step(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def figures(self) -> Mapping[str, float]: ...


@contextmanager
def shown(steps: int, done: int) -> Iterator[Callable[[Report], None]]:
    """What to call with each report; done: steps that an earlier run has taken."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (BarColumn(16), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=steps, completed=done)
        words: dict[str, str] = {}

        def report(news: Report) -> None:
            words.update(_words(news.figures))
            short = [words[name] for name in ("loss", "ratio", "speed") if name in words]  # fits 80 columns
            bar.update(task, completed=news.step, description="  ".join(short))

        yield report


class _Lines:
    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, news: Report) -> None:
        now = time.monotonic()
        judged = any(name.startswith("validation/") for name in news.figures)
        if not judged and now - self._last < QUIET_S and news.step < news.steps:
            return
        self._last = now
        said = "  ".join(_words(news.figures).values())
        print(f"step {news.step} of {news.steps}: {said}", file=sys.stderr, flush=True)


def _words(figures: Mapping[str, float]) -> dict[str, str]:
    """The figures that people look at."""
    words = {}
    if "loss" in figures:
        words["loss"] = f"loss {figures['loss']:.4f}"
        words["speed"] = f"{figures['graphs_per_second']:,.0f} graphs/s"
    if "validation/ratio" in figures:
        words["ratio"] = f"T {100 * figures['validation/ratio']:.2f} %"
        for name in ("connected", "parity", "valid"):
            words[name] = f"{name} {100 * figures[f'validation/{name}']:.1f} %"
    return words
