"""The first page of a folder of results: the headline table, every page in it, and the pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manetdiff.formats import write_text
from manetdiff.json_settings import parsed_json
from manetdiff.measure.measures import markdown_table
from manetdiff.reproduce import paper
from manetdiff.reproduce.tables import PaperTable
from manetdiff.reproduce.throughput import LABELS

INDEX = "README.md"
TARGET = "target"
PICTURES = {
    "frontier.png": "Quality over time on one core",
    "denoising.png": "A topology appears in 50 steps of denoising",
    "denoising.gif": "The same, moving",
    "reconfiguration-standard.png": "A standard reconfiguration",
    "reconfiguration-minor.png": "A minor reconfiguration",
    "acam.png": "The ACAM block, drawn from the code's own modules",
}
HEADLINE_COLUMNS = [
    "method",
    *(f"{nodes} nodes: {what}" for nodes in (16, 32) for what in ("T / target", "paper's", "ms")),
]


def write_index(folder: Path, tables: Mapping[str, PaperTable]) -> Path:
    """Of what the folder holds, whichever run it is from."""
    documents = {name: _document(folder / f"{name}.json") for name in tables}
    parts = ["# The paper's tables and figures, made again"]
    if (throughput := documents.get("throughput")) is not None:
        parts.append(headline(throughput))
    listed = [
        f"- [{tables[name].title}]({name}.md): {document['made']['run']} run, commit {document['made']['commit']}"
        for name, document in documents.items()
        if document is not None
    ]
    parts.append("\n".join(listed))
    parts += [f"![{title}]({name})" for name, title in PICTURES.items() if (folder / name).exists()]
    parts.append("Made by `manetdiff reproduce`; every page names its own command, commit and machine.")
    page = folder / INDEX
    write_text(page, "\n\n".join(parts) + "\n")
    return page


def headline(throughput: Mapping[str, Any]) -> str:
    """T as a share of the target, the paper's share and the time, at both sizes, of the document of throughput."""
    by_size = [_shares(table) for table in throughput["tables"]]
    rows = []
    for method in sorted(by_size[0], key=lambda method: method == TARGET):  # the target last
        row = [method]
        for nodes, shares in zip((16, 32), by_size, strict=True):
            share, spent = shares.get(method, ("", ""))
            row += [share, _papers(method, nodes), spent]
        rows.append(row)
    return markdown_table(HEADLINE_COLUMNS, rows).rstrip()


def _shares(table: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    found = {}
    for label, *cells in table["rows"]:
        by_metric = {cell["metric"]: cell["mean"] for cell in cells if isinstance(cell, dict)}
        if "ratio" not in by_metric:
            continue
        spent = by_metric.get("milliseconds")
        # The budget of annealing is another at each size.
        method = label.rpartition(" (")[0]
        method = "annealing, as long as 50 steps" if method.startswith("annealing") else method
        found[method] = f"{100 * by_metric['ratio']:.2f} %", "" if spent is None else _time(spent)
    return found


def _time(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def _papers(method: str, nodes: int) -> str:
    figures = paper.THROUGHPUT[nodes]
    name = next((name for name, label in LABELS.items() if label == method), method)
    return f"{100 * figures[name] / figures['target']:.1f} %" if name in figures else ""


def _document(path: Path) -> Any:
    try:
        return parsed_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, or torn: then it is not listed
        return None
