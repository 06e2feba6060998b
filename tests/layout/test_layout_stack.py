"""Layouts side by side: every number is the one that each layout alone gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from manetdiff import Fleet, Radio
from manetdiff.fleet.stack import FleetStack
from manetdiff.layout import Layout
from manetdiff.layout.arc_rows import joined_rows, rows_of, stacked_rows
from manetdiff.layout.stack import LayoutStack, stacked_tables
from support.strategies import drawn

RADIOS = {
    "default": Radio(),
    "metres": Radio(unit=300.0, range=4.0, boresight=0.3),
    "steered": Radio(pattern="parabolic", min_snr=3.0),
    "all around": Radio(reception="omni", sectors=3),
}


def _flat(n: int, seed: int) -> Fleet:
    return drawn(n, seed=seed)


def _hilly(n: int, seed: int) -> Fleet:
    flat = drawn(n, seed=seed)
    return flat.replace(np.column_stack([flat.horizontal, np.random.default_rng(seed).normal(size=n) * flat.spread]))


@pytest.mark.parametrize("n", [2, 5, 16, 33])
@pytest.mark.parametrize("kind", [_flat, _hilly])
def test_fleets_give_what_each_alone_gives(n: int, kind: Callable[[int, int], Fleet]) -> None:
    fleets = [kind(n, seed) for seed in range(5)]
    stack = FleetStack.of(fleets)
    places, yaw = stack.normalised()
    for row, fleet in enumerate(fleets):
        assert (stack.spread[row], stack.mean_heading[row]) == (fleet.spread, fleet.mean_heading)
        own, own_yaw = fleet.normalised_arrays()
        assert np.array_equal(places[row], own[:, :2]) and np.array_equal(yaw[row], own_yaw)


@pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
@pytest.mark.parametrize("kind", [_flat, _hilly])
@pytest.mark.parametrize("n", [3, 16])
def test_tables_and_features_are_those_of_each_layout_alone(
    n: int, kind: Callable[[int, int], Fleet], radio: Radio
) -> None:
    fleets = [kind(n, seed) for seed in range(3)]
    stack = LayoutStack.of(fleets, radio)
    assert stack.plain.all()
    features, rows = stack.features, stacked_rows(stack)
    alone = [Layout(fleet, radio) for fleet in fleets]
    for row, layout in enumerate(alone):
        for name, own in layout.features._asdict().items():
            assert np.array_equal(getattr(features, name)[row], own), name
        for name, own in layout.tables._asdict().items():
            assert np.array_equal(getattr(stacked_tables(stack.arrays, row), name), own), name
    for name, wanted in joined_rows([rows_of(layout.arcs) for layout in alone])._asdict().items():
        made = getattr(rows, name)
        # A bearing that was told by its cosine and sine is another in its last digit.
        equal = np.allclose(made, wanted, atol=1e-6) if name == "bearing" else np.array_equal(made, wanted)
        assert equal and made.dtype == wanted.dtype, name


def test_what_a_stack_cannot_speak_for_is_said() -> None:
    far = drawn(8).replace(np.vstack([drawn(8).positions[:7], [[1e7, 0.0]]]))
    fleets = [drawn(8), far, drawn(8, seed=1)]
    assert LayoutStack.of(fleets, Radio()).plain.tolist() == [True, False, True]
    level = drawn(8).replace(np.column_stack([drawn(8).horizontal, np.full(8, 50.0)]))
    hilly = _hilly(8, 0)
    assert LayoutStack.of([level, hilly], RADIOS["steered"]).plain.tolist() == [False, True]
    assert LayoutStack.of([level, hilly], Radio()).plain.tolist() == [True, True]
    assert not LayoutStack.fits(drawn(70))
    assert not LayoutStack.fits(Fleet(level.positions, level.yaw, blocked=[[(0.0, 1.0)]] * 8))
    assert LayoutStack.fits(level)
