"""Layouts that no benchmark has: other sizes and other radios, drawn and solved when they are first looked at."""

from __future__ import annotations

from functools import cache

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.measure.sets import LayoutSet
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, draw
from manetdiff.solvers import solve
from manetdiff.topology import Topology, metrics

MOVES_A_NODE = 1_500


def drawn_set(nodes: int, count: int, radio: Radio | None = None) -> LayoutSet:
    """Layouts of all families of aircraft in turn, solved by a short search: only if their rows are not kept yet."""
    physics = radio or Radio()

    @cache
    def layout(index: int) -> SolvedLayout:
        family = AIR[index % len(AIR)]
        fleet = draw(family, nodes, np.random.default_rng((7, nodes, index)))
        topology = solve(fleet, physics, "reference", moves=MOVES_A_NODE * nodes, seed=index)
        return solved_now(index, family, topology)

    key = {"drawn": nodes, "radio": physics.to_dict()}
    return LayoutSet(
        f"{nodes} nodes, drawn",
        nodes,
        tuple(range(count)),
        layout,
        key,
        (__name__,),
        (drawn_set, (nodes, count, radio)),
    )


def solved_now(index: int, family: str, topology: Topology) -> SolvedLayout:
    """A layout that was drawn and solved for a measurement; the topology knows its fleet."""
    return SolvedLayout(
        index=index,
        step=0,
        displacement=0.0,
        motion=None,
        family=family,
        fleet=topology.on().fleet,
        topology=topology,
        metrics=metrics(topology),
    )
