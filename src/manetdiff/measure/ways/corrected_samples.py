"""Samples of weights after the paper's correction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from manetdiff.measure.ways.samples import sampled
from manetdiff.solvers import correct

if TYPE_CHECKING:
    from manetdiff.diffusion.weights import Weights
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore


def corrected(store: RowStore, weights: Weights, layouts: LayoutSet, *, name: str = "weights") -> Rows:
    """One sample on each layout, corrected; whole parts are turned where no admissible link is left."""
    after = partial(correct, flip_parts=True)
    return sampled(store, weights, layouts, name=f"{name}, corrected", after=after, code=__name__)
