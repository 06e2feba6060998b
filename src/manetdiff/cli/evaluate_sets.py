"""The tables of `manetdiff evaluate` for sets of other sizes and radios than the default ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from manetdiff.cli.output import Table
from manetdiff.cores import processor_name
from manetdiff.data import BENCHMARKS, Settings, benchmark_dataset
from manetdiff.evaluate.scores import Score, has_radios, ratios_by_radio
from manetdiff.measure.measures import MEASURES, labels, markdown_table, seconds_text
from manetdiff.measure.rows import Rows
from manetdiff.reproduce.pages import commit

SHOWN = ("links", "ratio", "antenna_saturation", "connected", "valid")


def set_tables(name: str, rows: Mapping[str, Rows]) -> tuple[dict[str, Any], list[Table]]:
    """Of a set: the scores of each method, and where the set has several radios, T under each of them; for machines,
    and as tables."""
    mixed = has_radios(name)
    scores = [Score.of(label, made, by_layout=mixed) for label, made in rows.items()]
    cells = []
    for score in scores:
        means = {**score.metrics, "ratio": score.ratio}
        took = "" if score.processor_seconds is None else seconds_text(score.processor_seconds)
        cells.append([score.method, str(score.layouts), *(MEASURES[one].text(means[one]) for one in SHOWN), took])
    tables = [Table(name, ("method", "layouts", *labels(SHOWN), "processor, a layout"), cells)]
    found: dict[str, Any] = {name: [asdict(score) for score in scores]}
    if mixed:
        by_radio = ratios_by_radio(name, rows)
        text = MEASURES["ratio"].text
        by_method = [
            [label, *(text(ratios[label]) if label in ratios else "" for ratios in by_radio.values())] for label in rows
        ]
        tables.append(Table(f"{name}: T / target by radio", ("method", *by_radio), by_method))
        found[f"{name}_by_radio"] = by_radio
    return found, tables


def about_sets(names: Sequence[str], *, alone: bool = True) -> str:
    """What a page about these sets says above its tables. alone: whether one process measured all."""
    by = "in one process" if alone else "in several processes at a time, of a core each,"
    columns = ("set", "layouts", "nodes", "target: moves of the search")
    rows = [_about(name, benchmark_dataset(name).settings) for name in names]
    return f"""# Solvers on the benchmark sets

By `manetdiff evaluate {" ".join(names)}`, commit {commit()}, {by} on {processor_name()}; *processor* is the
processor time of a layout, all cores together. Every method starts from positions alone. Where a set has several
radios, T / target is the mean of the layouts' own ratios, because what one radio carries is many times what another
does; elsewhere it is that of the sums. The network is not among the methods:
`manetdiff evaluate {" ".join(names)} --preset balanced` has it.

The targets are what the reference found with so many moves a layout:

{markdown_table(columns, rows)}"""


def _about(name: str, settings: Settings) -> list[str]:
    sizes = BENCHMARKS[name].nodes
    nodes = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    moves = f"{settings.search_moves:,}" if settings.search_moves else f"{settings.moves_a_node:,} a node"
    return [f"`{name}`", f"{settings.count:,}", nodes, moves]
