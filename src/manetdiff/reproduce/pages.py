"""Results as files: a page and a JSON document for each table."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from manetdiff import __version__
from manetdiff.cores import processor_name
from manetdiff.formats import write_text
from manetdiff.measure.measures import Cell, markdown_table
from manetdiff.reproduce.tables import Grid, PaperTable


def where_it_ran(quick: bool, *, alone: bool = True) -> dict[str, str]:
    """The commit, the machine, and how much was measured. alone: whether by one process."""
    beside = "" if alone else ", several processes at a time, of a core each"
    return {
        "version": __version__,
        "commit": commit(),
        "machine": f"{processor_name()}, {os.cpu_count()} cores, Python {platform.python_version()}{beside}",
        "run": "quick" if quick else "full",
    }


def commit() -> str:
    """Of the source tree, where there is one."""
    here = Path(__file__).parent
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return asked.stdout.strip() or "unknown"


def write_page(
    table: PaperTable, grids: Sequence[Grid], folder: Path, made: dict[str, str], pictures: Sequence[str] = ()
) -> Path:
    """The table's page and its JSON document. pictures: names of files beside the page."""
    page = folder / f"{table.name}.md"
    write_text(page, _page(table, grids, made, pictures))
    write_text(folder / f"{table.name}.json", json.dumps(_document(table, grids, made), indent=1, ensure_ascii=False))
    return page


def text_of(cell: Cell | str) -> str:
    """A cell as text."""
    return cell if isinstance(cell, str) else cell.text


def _page(table: PaperTable, grids: Sequence[Grid], made: dict[str, str], pictures: Sequence[str] = ()) -> str:
    parts = [f"# {table.title}", table.claim]
    parts += [f"![{table.title}]({picture})" for picture in pictures]
    for grid in grids:
        rows = [[label, *map(text_of, cells)] for label, cells in grid.rows]
        parts += [f"## {grid.title}", markdown_table(grid.columns, rows).rstrip()]
        if grid.note:
            parts.append(grid.note)
    parts.append(
        "In brackets: 95 % confidence, layouts (and seeds, where several are pooled) drawn again. "
        f"By `manetdiff reproduce {table.name}"
        + (" --quick`" if made["run"] == "quick" else "`")
        + f", commit {made['commit']}, on {made['machine']}."
    )
    return "\n\n".join(parts) + "\n"


def _document(table: PaperTable, grids: Sequence[Grid], made: dict[str, str]) -> dict[str, Any]:
    return {
        "study": table.name,  # as the first documents called it
        "claim": table.claim,
        "made": made,
        "tables": [
            {
                "title": grid.title,
                "columns": list(grid.columns),
                "rows": [[label, *(_plain(cell) for cell in cells)] for label, cells in grid.rows],
                "note": grid.note,
            }
            for grid in grids
        ],
    }


def _plain(cell: Cell | str) -> Any:
    if isinstance(cell, str):
        return cell
    return {
        "metric": cell.measure.metric,
        **{key: _finite(value) for key, value in asdict(cell).items() if key != "measure"},
    }


def _finite(value: float | None) -> float | None:
    """A share of nothing has no word in JSON."""
    return value if value is not None and math.isfinite(value) else None
