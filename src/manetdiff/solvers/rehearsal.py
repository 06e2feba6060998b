"""Every compiled function is called once, so that none is loaded or compiled while a clock runs."""

from __future__ import annotations

import warnings
from functools import cache

from manetdiff.errors import DisconnectedWarning
from manetdiff.layout import Layout
from manetdiff.solvers.correction import correct
from manetdiff.solvers.local_search import polish
from manetdiff.solvers.methods import METHODS, solve
from manetdiff.solvers.spanning import bottleneck
from manetdiff.solvers.warm import TOY
from manetdiff.topology import Topology, metrics

# It constructs models of another library, and calls nothing of ours.
NOT_COMPILED = ("cpsat",)


@cache
def rehearse() -> None:
    """Do everything that compiled code is for, on a toy: by all methods, corrected, polished and scored."""
    layout = Layout(TOY)
    assert layout.features.node.shape == (len(TOY), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        for method in METHODS:
            if method not in NOT_COMPILED:
                solve(layout, method=method, moves=100 if method in ("reference", "annealing") else None)
        # Two far pairs of one parity: there is something to turn, to add and to drop.
        raw = Topology([(0, 1), (0, 2), (1, 2), (2, 3)], [0, 0, 1, 1])
        metrics(polish(correct(raw, layout, tau_interference=1.0, flip_parts=True), layout), layout)
        bottleneck(layout)
