"""What commands print: a table for people, plain columns for pipes, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO, TypeVar

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from manetdiff.formats import write_text
from manetdiff.measure.measures import INTERVAL, MEASURES, markdown_table
from manetdiff.messages import escaped

UNLIMITED = 10_000  # columns

Item = TypeVar("Item")
# The name of each column, and what an item has there.
Columns = Sequence[tuple[str, Callable[[Item], str]]]


@dataclass(frozen=True)
class Table:
    """Rows of text under column names; the first column names the row, the others are set flush right.

    A column name may have two lines; where all names are empty, there is no head.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(cls, title: str, columns: Columns[Item], items: Iterable[Item]) -> Table:
        """A row for each item."""
        return cls(title, [name for name, _ in columns], [[cell(item) for _, cell in columns] for item in items])


def measured(*metrics: str) -> Columns[Any]:
    """A column for each metric that items have as an attribute, named and written as everywhere."""

    def column(name: str) -> tuple[str, Callable[[Any], str]]:
        return MEASURES[name].label, lambda one: MEASURES[name].text(getattr(one, name))

    return [column(name) for name in metrics]


def print_table(table: Table, stream: TextIO | None = None) -> None:
    """A framed table on a terminal; elsewhere plain columns without title, rules or colour."""
    target = sys.stdout if stream is None else stream
    console = Console(file=target, highlight=False)
    table = replace(table, rows=[list(map(escaped, row)) for row in table.rows])
    if console.is_terminal:
        shown = _rich(table)
        wanted = console.measure(shown, options=console.options.update(max_width=UNLIMITED)).maximum
        console.print(shown if wanted <= console.width else _rich(_stacked(table), fold_names=True))
    else:
        target.write(_plain(table))
    target.flush()


def print_json(document: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """One JSON object; numbers that JSON has no word for become null."""
    target = sys.stdout if stream is None else stream
    target.write(json.dumps(_json_ready(document), indent=1, allow_nan=False) + "\n")
    target.flush()


def write_markdown(tables: Sequence[Table], path: str, intro: str | None = None) -> None:
    """The tables as a page of Markdown. intro: what stands above them."""
    parts = [f"## {table.title}\n\n{markdown_table(table.columns, table.rows)}" for table in tables]
    write_text(path, "\n".join(parts if intro is None else [intro, *parts]))


def say(what: str) -> None:
    """What is being done, where somebody is watching."""
    if sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr)


def _rich(table: Table, *, fold_names: bool = False) -> RichTable:
    """fold_names: whether names of rows may take several lines, so that numbers need not."""
    shown = RichTable(
        title=table.title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_header=any(table.columns),
    )
    for place, column in enumerate(table.columns):
        shown.add_column(Text(column), justify="left" if place == 0 else "right", no_wrap=place == 0 and not fold_names)
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def _stacked(table: Table) -> Table:
    """The same, narrower: an interval below its number, and what is in parentheses below that, each in one piece."""

    def stacked(cell: str) -> str:
        return re.sub(r" (?=[\[(])", "\n", cell) if INTERVAL.search(cell) else cell

    return replace(table, rows=[list(map(stacked, row)) for row in table.rows])


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
