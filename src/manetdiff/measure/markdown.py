"""Tables as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column flush left, the others flush right."""
    rule = ["---", *("---:" for _ in columns[1:])]
    lines = [columns, rule, *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
