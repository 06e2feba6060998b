"""The rehearsal of what only large batches ask for: layouts side by side."""

from __future__ import annotations

from functools import cache

import numpy as np

from manetdiff.compiled import nothing_left
from manetdiff.layout.arc_rows import stacked_rows
from manetdiff.layout.stack import LayoutStack
from manetdiff.radio import Radio
from manetdiff.solvers.rehearsal import BUDGET, TOY, rehearse
from manetdiff.solvers.stack_refinement import StackSamples, best_of_stack


@cache
def rehearse_batches() -> None:
    """As `rehearse`, and besides what features, arcs and refinement of many layouts at once are compiled into."""
    rehearse()
    stack = LayoutStack.of([TOY], Radio())
    _ = stack.features, stacked_rows(stack)
    pairs, zero = np.column_stack(np.triu_indices(len(TOY), 1)), np.zeros(1, dtype=np.int64)
    linked, parity = np.ones(len(pairs), dtype=np.uint8), np.zeros((1, 1, len(TOY)), dtype=np.uint8)
    samples = StackSamples(pairs, zero, zero + len(pairs), linked, zero, parity)
    best_of_stack(stack, samples, moves=BUDGET.moves or 0)
    nothing_left()
