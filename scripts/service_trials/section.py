"""What a trial has found: a part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A title, what was done, and a table of it."""

    title: str
    about: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As a part of a page."""
        numbers = ["---", *["---:"] * (len(self.header) - 1)]
        lines = [" | ".join(row) for row in (self.header, numbers, *self.rows)]
        return "\n".join([f"## {self.title}", self.about, "", *(f"| {line} |" for line in lines), ""])
