"""`manetdiff bench --scaling`: speed, memory and the time to good topologies against the size of the fleet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from manetdiff.cli.output import Table
from manetdiff.cores import processor_name
from manetdiff.data.benchmark_radios import SPACING
from manetdiff.data.sizes import sizes_of
from manetdiff.evaluate.scaling import (
    DENSE_UP_TO,
    FIRST_MOVES_A_NODE,
    FLEETS,
    LONG_MOVES_A_NODE,
    METHODS,
    PART_OF_LONG,
    SHARES,
    SIZES,
    TURNED,
    Scale,
    exponent,
    scales,
)
from manetdiff.measure.measures import MEASURES, seconds_text
from manetdiff.reproduce.pages import commit

MEGABYTE = 1e6
QUICK_SIZES, QUICK_MOVES_A_NODE = (16, 64, 256), 800

Value = Callable[[Scale], float | None]
# The name of each column, its value, and how that is written.
Figures = Sequence[tuple[str, Value, Callable[[float], str]]]

RATES: Figures = (
    ("reference, moves/s", lambda row: row.reference_rate, lambda value: f"{value:,.0f}"),
    ("annealing, moves/s", lambda row: row.annealing_rate, lambda value: f"{value:,.0f}"),
    ("layout, MB", lambda row: row.table_bytes, lambda value: f"{value / MEGABYTE:.2f}"),
    ("search, MB", lambda row: row.search_bytes, lambda value: f"{value / MEGABYTE:.2f}"),
)
TIMES: Figures = (
    ("tables", lambda row: row.tables, seconds_text),
    ("MST+greedy", lambda row: row.mst_greedy, seconds_text),
    ("scoring", lambda row: row.scoring, seconds_text),
    ("correction", lambda row: row.correction, seconds_text),
)


Told = tuple[list[Table], dict[str, Any], str]


def scaling_tables(say: Callable[[str], None], nodes: str | None, moves_a_node: int | None, quick: bool) -> Told:
    """The tables, the same for machines, and what a page says above them.

    - nodes: sizes as text. moves_a_node: of the long search. quick: less of both, where they are not given.
    """
    sizes = sizes_of(nodes.split(",")) if nodes else QUICK_SIZES if quick else SIZES
    long = moves_a_node or (QUICK_MOVES_A_NODE if quick else LONG_MOVES_A_NODE)
    rows = scales(sizes, long, say)
    tables = [
        _table("Moves a second, and memory", RATES, rows, ("process, MB", _process)),
        _table("Seconds for a fleet", TIMES, rows),
        _reached_table(rows),
    ]
    return tables, {"long_moves_a_node": long, "scaling": [asdict(row) for row in rows]}, _intro(long)


def _table(
    title: str, figures: Figures, rows: Sequence[Scale], last: tuple[str, Callable[[Scale], str]] | None = None
) -> Table:
    """A row for each size and the exponents below. last: a column that has none."""
    more = [] if last is None else [last[1]]
    cells = [
        [
            f"{row.nodes:,}",
            f"{row.fleets}",
            *(_text(value(row), text) for _, value, text in figures),
            *(show(row) for show in more),
        ]
        for row in rows
    ]
    values = [value for _, value, _ in figures]
    cells += [[head, "", *slopes, *("" for _ in more)] for head, slopes in _exponents(rows, values)]
    return Table(title, ("nodes", "fleets", *(name for name, _, _ in figures), *([last[0]] if last else [])), cells)


def _reached_table(rows: Sequence[Scale]) -> Table:
    """Seconds to each share; where the longest run had less, that it takes longer."""
    cells = []
    for method in METHODS:
        for row in rows:
            line = [point for point in row.points if point.method == method]
            longest, best = max(point.seconds for point in line), max(point.ratio for point in line)
            times = [_text(took, seconds_text) or f"> {seconds_text(longest)}" for took in row.seconds_to[method]]
            cells.append([method, f"{row.nodes:,}", *times, MEASURES["ratio"].text(best)])
        values = [partial(_seconds_to, method, place) for place in range(len(SHARES))]
        cells += [[method, head, *figures, ""] for head, figures in _exponents(rows, values)]
    shares = (f"to {100 * share:g} %" for share in SHARES)
    return Table("Time to a share of a long search", ("method", "nodes", *shares, "best of its runs"), cells)


def _seconds_to(method: str, place: int, row: Scale) -> float | None:
    return row.seconds_to[method][place]


def _exponents(rows: Sequence[Scale], values: Sequence[Value]) -> list[tuple[str, list[str]]]:
    """Of all sizes, and of those whose tables are sparse, with what they are called; none where no column has any."""
    found = [
        (head, [_text(exponent(rows, value, above), lambda it: f"{it:.2f}") for value in values])
        for head, above in (("exponent", 0), (f"exponent above {DENSE_UP_TO} nodes", DENSE_UP_TO))
    ]
    return [(head, figures) for head, figures in found if any(figures)]


def _process(row: Scale) -> str:
    return _text(row.process_bytes, lambda value: f"{value / MEGABYTE:.0f}")


def _text(value: float | None, text: Callable[[float], str]) -> str:
    return "" if value is None else text(value)


def _intro(long: int) -> str:
    return f"""# Scaling

Fleets of three families ({", ".join(FLEETS)}; the same at every size) at one spacing, {SPACING:,.0f} m to the nearest
neighbour (the median of a fleet), under the default radio with a unit of 10 km: the density and radio of `bench64`,
`bench256` and `bench1000`. By `manetdiff bench --scaling`, commit {commit()}, in one run on one core of
{processor_name()}. Times are processor time of that one process, so that what else the machine does has little say in
them. Exponents are slopes of the logarithm of a column over that of the nodes. Up to {DENSE_UP_TO} nodes tables hold
every pair; beyond, they are sparse.

- **Moves a second**: of one annealing from hot to cold. *Layout*: all arrays of a layout, its tables among them;
  *search*: what a search has beside them; *process*: the most that the whole process, Python and libraries included,
  has had so far.
- **Seconds**: tables from positions; the others with tables at hand. Scoring is of one topology, exactly; correction is
  of MST+greedy's links with the parity of {100 * TURNED:.0f} % of the nodes turned.
- **Time to a share**: each method is run with {FIRST_MOVES_A_NODE} moves a node, then with twice as many, and so on,
  every time from positions alone, until it has {100 * SHARES[-1]:g} % or has had 1/{PART_OF_LONG} of the long search's
  moves (>: longer than that run). Times are read between these runs by interpolation over log time; where the shortest
  run already has a share, its time is given. Polish starts from MST+greedy. The long search is the reference with
  {long:,} moves a node; a share is the mean over the fleets of T over the long search's.
"""
