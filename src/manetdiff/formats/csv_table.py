"""Tables as CSV: a first line of column names, then a row a line."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from manetdiff.checks import first_repeated
from manetdiff.errors import FormatError
from manetdiff.formats.files import Source
from manetdiff.formats.record import number_in, shown

# How a formula begins, also behind apostrophes: one that was there before is kept.
FORMULA = re.compile("'*[=+\\-@＝＋－＠]")  # as wide letters they begin one, too


def csv_rows(
    source: Source, check_header: Callable[[str, Sequence[str]], None], row: str = "row"
) -> tuple[list[str], list[dict[str, str]]]:
    """The column names in lower case, and the rows by these names, cells stripped, empty ones left out.

    - check_header: raises unless the file (its name) has the columns that it must have. row: what messages call one.
    """
    lines = _lines(source)
    header = [cell.lower() for cell in lines[0]] if lines else []
    check_header(source.name, header)
    twice = first_repeated(filter(None, header))
    if twice is not None:
        raise FormatError(f"{source.name}: the column {shown(twice)} stands twice in the first line")
    rows = []
    for place, cells in enumerate(lines[1:], start=1):
        if len(cells) > len(header):
            raise FormatError(f"{source.name}: {row} {place}: has {len(cells)} cells under {len(header)} columns")
        rows.append({name: cell for name, cell in zip(header, cells, strict=False) if cell})
    return header, rows


def by_what(header: Sequence[str]) -> str:
    """The end of a message about column names: that something else than commas stands between them, if that is so."""
    other = [name for name, sign in (("semicolons", ";"), ("tabs", "\t")) if len(header) == 1 and sign in header[0]]
    return f": separate them by commas, not {other[0]}" if other else ""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; text that would not be read back as it is is a FormatError."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        for cell in row:
            if isinstance(cell, str) and (cell != cell.strip() or "\r" in cell or "\0" in cell):
                raise FormatError(f"CSV cannot keep {shown(cell)} as it is: spaces around it, or control characters")
        writer.writerow([_guarded(cell) if isinstance(cell, str) else cell for cell in row])
    return buffer.getvalue()


def _guarded(cell: str) -> str:
    """Text that a spreadsheet would take for a formula, behind an apostrophe: there it is text, and here it is taken
    off again. A finite number is no formula, whatever its sign."""
    number = number_in(cell)
    harmless = number is not None and math.isfinite(number)
    return f"'{cell}" if FORMULA.match(cell) and not harmless else cell


def columns_in(line: str) -> list[str]:
    """The column names in a first line, in lower case; none where it is not one."""
    try:
        return [cell.strip().lower() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return []


def with_numbers(row: Mapping[str, str]) -> dict[str, float | str]:
    """A row with numbers where its cells say one; an id is text whatever it says."""
    said = ((name, number_in(cell)) for name, cell in row.items() if name != "id")
    return {**row, **{name: number for name, number in said if number is not None}}


def _unguarded(cell: str) -> str:
    text = cell.strip()
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def _lines(source: Source) -> list[list[str]]:
    try:
        lines = [[_unguarded(cell) for cell in line] for line in csv.reader(io.StringIO(source.content, newline=""))]
    except csv.Error as error:
        raise FormatError(f"{source.name}: is not CSV: {error}") from None
    return [line for line in lines if any(line)]
