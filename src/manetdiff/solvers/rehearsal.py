"""Every compiled function is called once before a clock starts, so that none is loaded or compiled while it runs."""

from __future__ import annotations

from functools import cache

import numpy as np

from manetdiff.compiled import nothing_left
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.solvers.annealing import anneal_plainly
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.exact import enumerate_all
from manetdiff.solvers.greedy_construction import greedy_links
from manetdiff.solvers.heuristics import huang_links, mst_greedy_links
from manetdiff.solvers.reference import search
from manetdiff.solvers.regions import search_by_regions
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, metrics

# Small enough to be solved at once by every method.
TOY = Fleet([(0, 0), (1, 0), (0, 1), (1, 2)], [0, 0, 0, 0])
# Two pairs of one parity each: there is something to drop, to turn and to add.
RAW = np.array([(0, 1), (0, 2), (1, 2), (2, 3)]), np.array([0, 0, 1, 1])
# More than are followed pair by pair, so that some are heard from afar.
MANY = Fleet(np.stack(np.divmod(np.arange(EVERY_PAIR + 16), 9), axis=1), np.zeros(EVERY_PAIR + 16))
BUDGET = Budget(moves=100)
# Its beams have gains.
STEERED = Radio(pattern="parabolic")
# Packaged: a fleet to come; two for uncertain places; and both. Any other number is compiled when it first comes up.
MOMENTS_AHEAD = (1, 2, 3)


@cache
def rehearse() -> None:
    """Do everything that compiled code is for, on a toy: features of both kinds, all methods, correction and scores.

    Once in a process. It takes a fifth of a second where there is code to load, and as long as compiling takes where
    there is none.
    """
    layout = Layout(TOY)
    _ = layout.features, layout.arcs, layout.range_tree, Layout(TOY, STEERED).tables
    for method in (greedy_links, huang_links, mst_greedy_links):
        method(layout)
    for solver in (search, anneal_plainly, search_by_regions):
        solver(layout, BUDGET, seed=0)
    search(Layout(MANY), BUDGET, seed=0)
    enumerate_all(layout)
    correct_onto(bench := Workbench(layout), *RAW, tau_interference=1.0, flip_parts=True)
    _ = bench.throughput, bench.parts, metrics(Topology(bench.links, bench.parity), layout)
    nothing_left()


@cache
def rehearse_ahead(moments: int) -> None:
    """The same for searches that look ahead to so many moments, which not everybody asks for."""
    rehearse()
    for fleet in (TOY, MANY):
        bench = Workbench(Layout(fleet))
        bench.look_ahead([Layout(fleet)] * moments)
        bench.put(*spanning_forest(bench.layout))
        bench.descend(Meter(BUDGET), 1, 1.0)
        bench.anneal(seeded(0, 0), 100, 1.0, 0.1, 1, 1.0)
    nothing_left()
