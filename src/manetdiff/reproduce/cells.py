"""One cell of a table: our mean with its confidence interval, and the paper's figure beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """How a metric is shown. percent: whether it is a share of 1, shown in percent."""

    metric: str
    label: str
    digits: int = 2
    percent: bool = False


MEASURES = {
    measure.metric: measure
    for measure in (
        Measure("links", "links"),
        Measure("mean_length", "mean length"),
        Measure("link_throughput", "per link, Mbit/s"),
        Measure("throughput", "T, Mbit/s"),
        Measure("ratio", "T / target", percent=True),
        Measure("antenna_saturation", "saturated antennas", percent=True),
        Measure("node_saturation", "saturated nodes", percent=True),
        Measure("connected", "connected", percent=True),
        Measure("parity", "parity", percent=True),
        Measure("valid", "valid", percent=True),
        Measure("continuity", "continuity", percent=True),
        Measure("milliseconds", "ms a layout"),
    )
}


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
        factor, unit = (100.0, " %") if self.measure.percent else (1.0, "")
        digits = self.measure.digits
        written = f"{factor * self.mean:.{digits}f}"
        if self.low is not None and self.high is not None:
            written += f" [{factor * self.low:.{digits}f}, {factor * self.high:.{digits}f}]"
        return written + unit + ("" if self.paper is None else f" (paper: {factor * self.paper:.{digits}f})")
