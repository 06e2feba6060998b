"""How speed, memory and the time to good topologies grow with the fleet, at one spacing: the radio and density of the
larger benchmark sets.

Times are seconds of processor time of this process, so that others on the machine have little say in them. The time to
a share of T is read between runs of twice as many moves each, every one from scratch, tables and all; the share is of
what a long search finds, the mean over the fleets of a size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from manetdiff.data import Settings
from manetdiff.data.benchmark_radios import IN_METRES, SPACING
from manetdiff.data.layouts import draw_layouts
from manetdiff.evaluate.memory import array_bytes, most_memory
from manetdiff.evaluate.over_time import Point, seconds_to_reach
from manetdiff.layout import Layout
from manetdiff.radio import throughput
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.solvers import correct, polish, solve
from manetdiff.solvers.annealing import anneal_plainly
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.reference import COLD, CROWD, HOT, PENALTIES
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, metrics, unwarned_of_parts

SIZES = (16, 32, 64, 128, 256, 512, 1000)
# A package, a patrol and traffic, the same at every size, so that the size alone is compared. Of small fleets there are
# more of each, so that all together have about so many nodes.
FLEETS = ("escort", "racetrack", "scatter")
NODES_OF_A_SIZE, MOST_OF_A_FAMILY = 400, 4
SEED = 15

# Larger fleets than this have sparse tables: another law may hold for them.
DENSE_UP_TO = EVERY_PAIR

SHARES = (0.98, 0.99, 0.995)
LONG_MOVES_A_NODE = 6_400
# The first run of each method, in moves a node; the next ones have twice as many each, up to this part of the long one.
FIRST_MOVES_A_NODE = 25
PART_OF_LONG = 4

REFERENCE, ANNEALING, POLISHED = METHODS = ("reference", "annealing", "mst-greedy + polish")

# Moves a node of the annealings whose pace is taken; the shorter one of plain annealing has just what is not moves.
PACED, UNPACED = 200, 20
# What is timed is repeated for so long.
SECONDS = 0.05
# Of a raw topology to correct: the share of nodes that have the wrong parity.
TURNED = 0.05


@dataclass(frozen=True)
class Scale:
    """Means over the fleets of one size.

    - …_rate: moves a second. tables, mst_greedy, scoring, correction: seconds. mst_greedy: without the tables, as what
      follows. scoring: of one topology, exactly. correction: of MST+greedy's links with some parities turned.
    - table_bytes: of all arrays of a layout; search_bytes: of what a search has beside it. process_bytes: the most that
      the whole process has had so far, where the system tells; sizes go up.
    - seconds_to: by method, seconds to each of SHARES; None where the longest run had less.
    """

    nodes: int
    fleets: int
    reference_rate: float
    annealing_rate: float
    tables: float
    mst_greedy: float
    scoring: float
    correction: float
    table_bytes: float
    search_bytes: float
    process_bytes: float | None
    seconds_to: dict[str, list[float | None]]
    points: list[Point]


def scales(
    sizes: Sequence[int] = SIZES,
    long_moves_a_node: int = LONG_MOVES_A_NODE,
    report: Callable[[str], None] = lambda what: None,
) -> list[Scale]:
    """A row for each size, smallest first."""
    rehearse()
    rows = []
    for nodes in sorted(sizes):
        layouts = fleets(nodes)
        report(f"{nodes} nodes, {len(layouts)} fleets")
        each = [_parts(layout) for layout in layouts]
        means = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
        points = list(_points(layouts, long_moves_a_node))
        reached = {method: [seconds_to_reach(points, method, nodes, share) for share in SHARES] for method in METHODS}
        rows.append(Scale(nodes, len(layouts), **means, process_bytes=most_memory(), seconds_to=reached, points=points))
    return rows


def fleets(nodes: int) -> list[Layout]:
    """Those of one size, all families alike."""
    count = len(FLEETS) * min(MOST_OF_A_FAMILY, max(1, NODES_OF_A_SIZE // (len(FLEETS) * nodes)))
    settings = Settings(
        nodes=(nodes,),
        count=count,
        seed=SEED,
        families=FLEETS,
        families_in_turn=True,
        moves_a_node=1,  # it is not solved by these settings
        radio=IN_METRES,
        spacing=SPACING,
    )
    return [draw_layouts(settings, index)[0].layout for index in range(count)]


class OfSize(Protocol):
    """Something measured on fleets of so many nodes."""

    @property
    def nodes(self) -> int: ...


Sized = TypeVar("Sized", bound=OfSize)


def exponent(rows: Sequence[Sized], value: Callable[[Sized], float | None], above: int = 0) -> float | None:
    """e of what grows as nodes ** e, fitted to the logarithms of rows with more nodes than `above`; None where fewer
    than three of them have a value."""
    known = [(row.nodes, it) for row in rows if row.nodes > above and (it := value(row))]
    if len(known) < 3:
        return None
    nodes, values = np.log(known).T
    return float(np.polyfit(nodes, values, 1)[0])


def _parts(layout: Layout) -> dict[str, float]:
    """The fields of Scale from reference_rate to search_bytes, for one fleet."""
    links, parity = mst_greedy_links(layout)
    turned = np.random.default_rng(len(layout)).random(len(layout)) < TURNED
    raw = Topology(links, np.where(turned, 1 - parity, parity), layout=layout)
    bench = Workbench(layout)
    held = array_bytes(layout)
    return {
        "reference_rate": _reference_rate(bench),
        "annealing_rate": _annealing_rate(layout),
        "tables": _seconds(lambda: Layout(layout.fleet, layout.radio).tables),
        "mst_greedy": _seconds(partial(mst_greedy_links, layout)),
        "scoring": _seconds(partial(throughput, layout.placement, links, parity)),
        "correction": _seconds(partial(correct, raw)),
        "table_bytes": held,
        "search_bytes": array_bytes(bench) - held,
    }


def _reference_rate(bench: Workbench) -> float:
    forest, moves = spanning_forest(bench.layout), PACED * len(bench.layout)
    worth = bench.worth_of_a_link(throughput(bench.layout.placement, *forest), len(forest[0]))

    def anneal() -> None:
        bench.put(*forest)
        bench.anneal(seeded(SEED, 0), moves, worth * HOT, worth * COLD, CROWD, worth * PENALTIES[0])

    return moves / _seconds(anneal)


def _annealing_rate(layout: Layout) -> float:
    moves = [each * len(layout) for each in (PACED, UNPACED)]
    long, short = (_seconds(partial(anneal_plainly, layout, Budget(moves=each), SEED)) for each in moves)
    return (moves[0] - moves[1]) / (long - short)


def _points(layouts: Sequence[Layout], long_moves_a_node: int) -> Iterator[Point]:
    """What each method makes of more and more moves, until it has the last of SHARES."""
    nodes = len(layouts[0])
    long = np.array([solve(one, moves=long_moves_a_node * nodes, seed=SEED).report.throughput for one in layouts])
    for method in METHODS:
        moves, ratio = (0 if method == POLISHED else FIRST_MOVES_A_NODE), 0.0
        while ratio < SHARES[-1] and (moves <= FIRST_MOVES_A_NODE or PART_OF_LONG * moves <= long_moves_a_node):
            point = _point(method, layouts, moves, long)
            ratio = point.ratio
            yield point
            moves = 2 * moves or FIRST_MOVES_A_NODE


def _point(method: str, layouts: Sequence[Layout], moves_a_node: int, long: npt.NDArray[np.float64]) -> Point:
    """One method with so many moves, on each fleet from scratch."""
    seconds, made = [], []
    for layout in layouts:
        with unwarned_of_parts():
            start = time.process_time()
            topology = _made(method, Layout(layout.fleet, layout.radio), moves_a_node * len(layout))
            seconds.append(time.process_time() - start)
        made.append(metrics(topology, layout))
    ratio = np.mean([one["throughput"] for one in made] / long)
    connected, valid = (float(np.mean([one[name] for one in made])) for name in ("connected", "valid"))
    setting = f"{moves_a_node} moves a node"
    return Point(method, setting, len(layouts[0]), None, float(np.mean(seconds)), float(ratio), connected, valid)


def _made(method: str, layout: Layout, moves: int) -> Topology:
    if method != POLISHED:
        return solve(layout, method=method, moves=moves, seed=SEED)
    start = solve(layout, method="mst-greedy")
    return polish(start, moves=moves, seed=SEED) if moves else start


def _seconds(work: Callable[[], object]) -> float:
    """Processor time that it takes once."""
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS or count == 0:
        work()
        count += 1
    return spent / count
