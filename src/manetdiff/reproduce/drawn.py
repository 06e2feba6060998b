"""Layouts that no benchmark has: other sizes and other radios, drawn and solved when they are first looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.radio import Radio
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.solvers import solve
from manetdiff.topology import metrics

MOVES_A_NODE = 1_500


class DrawnLayouts(Sequence[SolvedLayout]):
    """Layouts of all families in turn, solved by a short reference search: only if their rows are not kept already."""

    def __init__(self, nodes: int, length: int, radio: Radio) -> None:
        self.nodes, self.length, self.radio = nodes, length, radio

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, place: int) -> SolvedLayout: ...
    @overload
    def __getitem__(self, place: slice) -> list[SolvedLayout]: ...
    def __getitem__(self, place: int | slice) -> SolvedLayout | list[SolvedLayout]:
        return self._solved[place]

    @cached_property
    def _solved(self) -> list[SolvedLayout]:
        return [self._one(index) for index in range(self.length)]

    def _one(self, index: int) -> SolvedLayout:
        family = FAMILIES[index % len(FAMILIES)]
        fleet = draw(family, self.nodes, np.random.default_rng((7, self.nodes, index)))
        topology = solve(fleet, self.radio, "reference", moves=MOVES_A_NODE * self.nodes, seed=index)
        return SolvedLayout(
            index=index,
            step=0,
            displacement=0.0,
            motion=None,
            family=family,
            fleet=fleet,
            topology=topology,
            metrics=metrics(topology, fleet, self.radio),
        )


def set_name(layouts: Sequence[SolvedLayout], tag: str = "") -> str:
    """What a set of layouts is called; tag: what sets it apart from the benchmark's own."""
    nodes = layouts.nodes if isinstance(layouts, DrawnLayouts) else len(layouts[0].fleet)
    return f"{len(layouts)} layouts of {nodes} nodes{tag and ', ' + tag}"
