"""What is measured, by name: what people call it, and how its value is written, alone, in a cell and in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from manetdiff.wording import share_text

NO_BREAK = "\u00a0"
# A mean and what holds it: `92 [13, 249]`, `60.0 ± 1.2`.
INTERVAL = re.compile(r"\d (\[|±)")


@dataclass(frozen=True)
class Measure:
    """How a metric is shown. digits: of a mean; digits_of_one: of one topology's, where that is another number.

    - percent: whether it is a share of 1, shown in percent. yes_or_no: whether one topology either has it or not.
    """

    metric: str
    label: str
    digits: int = 2
    percent: bool = False
    digits_of_one: int | None = None
    yes_or_no: bool = False

    def text(self, mean: float, spread: float | None = None) -> str:
        """A mean over layouts as a table shows it; spread: what follows after ±."""
        return self.number(mean) + ("" if spread is None else f" ± {self.number(spread)}") + self.unit

    def text_of_one(self, value: float) -> str:
        """The value of one topology as people read it."""
        if self.yes_or_no:
            return "yes" if value == 1.0 else "no"
        if self.percent:
            return share_text(value)
        return f"{value:.{self.digits if self.digits_of_one is None else self.digits_of_one}f}"

    def number(self, value: float) -> str:
        """The same without its unit."""
        return f"{100 * value if self.percent else value:.{self.digits}f}"

    @property
    def unit(self) -> str:
        """What stands after the number."""
        return " %" if self.percent else ""


@dataclass(frozen=True)
class Cell:
    """Our mean, the interval that holds it with 95 % confidence, and the paper's figure in the same unit.

    Shares are of 1 here and percent in text. low, high: None where there is one number only.
    """

    measure: Measure
    mean: float
    low: float | None = None
    high: float | None = None
    paper: float | None = None

    @property
    def text(self) -> str:
        """As a table shows it: ours [interval] (paper: …)."""
        written = self.measure.number(self.mean)
        if self.low is not None and self.high is not None:
            written += f" [{self.measure.number(self.low)}, {self.measure.number(self.high)}]"
        return written + self.measure.unit + ("" if self.paper is None else f" (paper: {self._printed(self.paper)})")

    def _printed(self, figure: float) -> str:
        # No figure of the paper has more than two digits, in percent where it is a share.
        return f"{100 * figure if self.measure.percent else figure:.2f}"


# Those of a topology come first, in the order of every table.
MEASURES = {
    measure.metric: measure
    for measure in (
        Measure("links", "links", digits_of_one=0),
        Measure("mean_length", "mean length", digits=3),
        Measure("link_throughput", "per link, Mbit/s", digits_of_one=3),
        Measure("throughput", "T, Mbit/s"),
        Measure("sustained", "sustained, Mbit/s"),
        Measure("ratio", "T / target", percent=True),
        Measure("antenna_saturation", "saturated antennas", percent=True),
        Measure("node_saturation", "saturated nodes", percent=True),
        Measure("connected", "connected", percent=True, yes_or_no=True),
        # Nearly all links keep it: what is missing shows in the third digit.
        Measure("parity", "parity", digits=3, percent=True),
        Measure("valid", "valid", percent=True, yes_or_no=True),
        Measure("continuity", "continuity", percent=True),
        Measure("milliseconds", "ms a layout"),
    )
}
# Of every table of topologies on a set of layouts.
OF_LAYOUTS = tuple(name for name in MEASURES if name not in ("sustained", "continuity", "milliseconds"))


def labels(metrics: Sequence[str]) -> list[str]:
    """Column names."""
    return [MEASURES[metric].label for metric in metrics]


def seconds_text(seconds: float) -> str:
    """A time as people read it."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column flush left, the others flush right; a number and its interval stay on one line."""
    rule = ["---", *("---:" for _ in columns[1:])]
    lines = [columns, rule, *([row[0], *map(unbroken, row[1:])] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def unbroken(cell: str) -> str:
    """A number with its interval or spread has no-break spaces, but for the one before what is in parentheses."""
    if not INTERVAL.search(cell):
        return cell
    return cell.replace(" ", NO_BREAK).replace(f"{NO_BREAK}(", " (")
