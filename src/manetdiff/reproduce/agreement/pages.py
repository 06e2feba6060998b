"""The page of agreement: every claim with its verdict, and for each table why."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

from manetdiff.reproduce.agreement.claims import CLAIMS
from manetdiff.reproduce.tables import Grid, Setting

COLUMNS = ["claim", "paper", "ours", "verdict"]
# A section for each table, under its name as a heading.
WHY = "why.md"


def reasons() -> dict[str, str]:
    """What we make of each table, by its name."""
    text = (files(__package__) / WHY).read_text(encoding="utf-8")
    sections = [part.partition("\n") for part in text.split("\n# ")]
    return {name.removeprefix("# ").strip(): body.strip() for name, _, body in sections}


def agreement(setting: Setting) -> list[Grid]:
    """All claims, table by table, after how many of each agree."""
    judged = {table: list(claims(setting)) for table, claims in CLAIMS.items()}
    why = reasons()
    counts = {table: Counter(one.verdict for one in made) for table, made in judged.items()}
    summary = Grid(
        "In short",
        ["table", "agrees", "level", "opposite"],
        [(table, [str(count[word]) for word in ("agrees", "level", "opposite")]) for table, count in counts.items()],
        why["in short"],
    )
    tables = [
        Grid(table, COLUMNS, [(one.claim, [one.paper, one.ours, one.verdict]) for one in made], why[table])
        for table, made in judged.items()
    ]
    return [summary, *tables]
