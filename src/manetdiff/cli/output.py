"""What commands print: a table for people, plain columns for pipes, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

# How each metric is shown: what people call it, and how its value is written.
METRIC_LABELS = {
    "links": "links",
    "mean_length": "mean length",
    "link_throughput": "per link, Mbit/s",
    "throughput": "T, Mbit/s",
    "antenna_saturation": "saturated antennas",
    "node_saturation": "saturated nodes",
    "connected": "connected",
    "parity": "parity",
    "valid": "valid",
}


@dataclass(frozen=True)
class Table:
    """Rows of text under column names; the first column names the row, the others are set flush right.

    A column name may have two lines; where all names are empty, there is no head.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def print_table(table: Table, stream: TextIO | None = None) -> None:
    """A framed table on a terminal; elsewhere plain columns without title, rules or colour."""
    target = sys.stdout if stream is None else stream
    console = Console(file=target, highlight=False)
    if console.is_terminal:
        console.print(_rich(table))
    else:
        target.write(_plain(table))
    target.flush()


def print_json(document: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """One JSON object; numbers that JSON has no word for become null."""
    target = sys.stdout if stream is None else stream
    target.write(json.dumps(_json_ready(document), indent=1, allow_nan=False) + "\n")
    target.flush()


def metric_text(name: str, value: float) -> str:
    """A metric's value as people read it."""
    if name == "links":
        return f"{value:.0f}"
    if name in ("connected", "valid"):
        return "yes" if value == 1.0 else "no"
    if name in ("mean_length", "link_throughput"):
        return f"{value:.3f}"
    if name == "throughput":
        return f"{value:.2f}"
    return share_text(value)


def share_text(value: float) -> str:
    """A share of 0 … 1 in per cent; 100 % and 0 % only where that is exact."""
    text = f"{value:.1%}"
    if (text == "100.0%" and value < 1) or (text == "0.0%" and value > 0):
        text = f"{value:.4%}"
    return text.replace("%", " %")


def seconds_text(seconds: float) -> str:
    """A time as people read it."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def _rich(table: Table) -> RichTable:
    shown = RichTable(
        title=table.title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_header=any(table.columns),
    )
    for place, column in enumerate(table.columns):
        shown.add_column(Text(column), justify="left" if place == 0 else "right", no_wrap=place == 0)
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def _plain(table: Table) -> str:
    head = [[column.replace("\n", ": ") for column in table.columns]] if any(table.columns) else []
    rows = [*head, *map(list, table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines) + "\n"


def _json_ready(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _json_ready(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _json_ready(value.tolist())
    if isinstance(value, list | tuple):
        return [_json_ready(entry) for entry in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
