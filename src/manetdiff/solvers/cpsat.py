"""OR-Tools CP-SAT on the interference-free relaxation: a modern exact solver on the part of the problem it can state.

Without interference a link's rate is a constant, and the problem is linear: choose links and parity, at most one link
an antenna, connected, so that the sum of rates is largest. Connectivity is a flow from node 0 to all others. Where no
connected choice keeps every antenna to one link, antennas may carry more, at the price of the worst link each.
The answer is then scored with interference, as everything else is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.errors import SolverError
from manetdiff.layout import Layout
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.topology import component_labels

IntArray = npt.NDArray[np.int64]

DEFAULT_BUDGET = Budget(seconds=10.0)
# CP-SAT counts in whole numbers.
_SCALE = 1000


def solve_relaxation(layout: Layout, budget: Budget, seed: int) -> Found:
    """The relaxation's best topology within a time budget, on one worker; needs the extra `cpsat`."""
    cp_model = load_cpsat()
    if budget.seconds is None:
        raise SolverError("method 'cpsat' takes a time budget in seconds, not a number of moves")
    forest, parity = spanning_forest(layout)
    if len(forest) == 0:
        return found(layout, forest, parity, "forest").with_report(status="NOTHING_TO_LINK")
    model, link, side = _model(cp_model, layout, forest, parity)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = budget.seconds
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % (2**31)
    status = solver.solve(model)
    best = found(layout, forest, parity, "forest")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = np.array([pair for pair, variable in link.items() if solver.value(variable)], dtype=np.int64)
        sides = np.array([solver.value(variable) for variable in side], dtype=np.int64)
        best = better(best, found(layout, chosen.reshape(-1, 2), sides, "cpsat"))
    return best.with_report(status=solver.status_name(status))


def load_cpsat() -> Any:
    """CP-SAT's models, which take a while to load; an error that says what to install where they are not there."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise SolverError("method 'cpsat' needs OR-Tools: pip install 'manetdiff[cpsat]'") from None
    return cp_model


def _model(cp_model: Any, layout: Layout, forest: IntArray, parity: IntArray) -> tuple[Any, dict[Any, Any], Any]:
    n = len(layout)
    model = cp_model.CpModel()
    side = [model.new_bool_var(f"side{i}") for i in range(n)]
    link = {(i, j): model.new_bool_var(f"link{i},{j}") for i, j in layout.candidates.tolist()}
    snr = layout.pairs(layout.candidates).signal[:, 0] / layout.radio.sigma2
    worth = {pair: round(_SCALE * 2 * math.log2(1 + ratio)) for pair, ratio in zip(link, snr.tolist(), strict=True)}
    for (i, j), chosen in link.items():
        model.add(side[i] + side[j] == 1).only_enforce_if(chosen)
    model.add(side[0] == 0)
    model.maximize(
        sum(worth[pair] * chosen for pair, chosen in link.items())
        - max(worth.values()) * sum(_overloads(model, layout, link))
    )
    _connect(model, link, component_labels(forest, n))
    # Start from the spanning forest, so that there is an answer however short the time.
    tree = set(map(tuple, forest.tolist()))
    for pair, chosen in link.items():
        model.add_hint(chosen, pair in tree)
    for i in range(n):
        model.add_hint(side[i], int(parity[i] != parity[0]))
    return model, link, side


def _overloads(model: Any, layout: Layout, link: dict[Any, Any]) -> list[Any]:
    """One variable an antenna: the links on it beyond the first."""
    on_antenna: dict[tuple[int, int], list[Any]] = {}
    for ((i, j), chosen), (a, b) in zip(link.items(), layout.pairs(layout.candidates).sector.tolist(), strict=True):
        on_antenna.setdefault((i, a), []).append(chosen)
        on_antenna.setdefault((j, b), []).append(chosen)
    overloads = []
    for (i, a), chosen_links in on_antenna.items():
        if len(chosen_links) > 1:
            over = model.new_int_var(0, len(chosen_links) - 1, f"over{i},{a}")
            model.add(sum(chosen_links) <= 1 + over)
            overloads.append(over)
    return overloads


def _connect(model: Any, link: dict[Any, Any], component: IntArray) -> None:
    """Each node but the first of a component takes one unit of a flow that only runs over chosen links."""
    n = len(component)
    balance: list[list[Any]] = [[] for _ in range(n)]
    size = {int(root): int((component == root).sum()) for root in np.unique(component)}
    for (i, j), chosen in link.items():
        most = size[int(component[i])] - 1
        flow = model.new_int_var(-most, most, f"flow{i},{j}")
        model.add(flow <= most * chosen)
        model.add(flow >= -most * chosen)
        balance[i].append(-flow)
        balance[j].append(flow)
    for i in range(n):
        root = int(component[i])
        if i != root:
            model.add(sum(balance[i]) == 1)
