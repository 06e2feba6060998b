"""One cell of a table: our mean with its confidence interval, and the paper's figure beside it."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.measure.measures import Measure


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
