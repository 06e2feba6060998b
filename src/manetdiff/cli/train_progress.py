"""What a training run shows on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from manetdiff.cli.progress import Show, bar

if TYPE_CHECKING:  # PyTorch is loaded by the command alone
    from manetdiff.training.loop import TrainingNews

from manetdiff.measure.measures import MEASURES

QUIET_S = 10.0  # between lines where there is no terminal


@contextmanager
def shown() -> Iterator[Callable[[TrainingNews], None]]:
    """What to call with the news of a run."""
    with bar() as show:
        yield _Lines() if show is None else _Bar(show)


class _Bar:
    def __init__(self, show: Show) -> None:
        self._show = show
        self._words: dict[str, str] = {}

    def __call__(self, news: TrainingNews) -> None:
        self._words.update(_words(news.figures))
        short = [self._words[name] for name in ("loss", "ratio", "speed") if name in self._words]  # fits 80 columns
        self._show(news.step, news.steps, "  ".join(short))


class _Lines:
    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, news: TrainingNews) -> None:
        now = time.monotonic()
        judged = any(name.startswith("validation/") for name in news.figures)
        if not news.figures or (not judged and now - self._last < QUIET_S and news.step < news.steps):
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
        words["ratio"] = f"T {MEASURES['ratio'].text(figures['validation/ratio'])}"
        for name in ("connected", "parity", "valid"):
            words[name] = f"{MEASURES[name].label} {MEASURES[name].text(figures[f'validation/{name}'])}"
    return words
