"""Noise that depends on the heading: the geometry that it follows from, and the pace that it makes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio
from manetdiff.diffusion.heading import AHEAD, drift_risk
from manetdiff.diffusion.process import Process
from manetdiff.layout import Layout, pad
from manetdiff.model.tensors import Layouts
from support.pairs import every_pair

Matrix = npt.NDArray[np.float64]

# So little that a line turns in proportion to it.
STEP = 1e-6
# Of a line from the border of a sector: closer ones may fall on either side of it in single precision.
CLEAR = 1e-3
counts = st.integers(2, 9)
sector_counts = st.sampled_from([1, 2, 3, 4, 6])
fleet_seeds = st.integers(0, 2**16)


def flying(n: int, seed: int) -> Fleet:
    """Nodes anywhere, heading anywhere."""
    rng = np.random.default_rng((seed, n))
    return Fleet(rng.normal(size=(n, 2)) * 900 + 4000, rng.uniform(-math.pi, math.pi, n))


def layouts_of(*fleets: Fleet, sectors: int = 4, n: int | None = None) -> Layouts:
    return Layouts.from_numpy(pad([Layout(fleet, Radio(sectors=sectors)).features for fleet in fleets], n))


def risk_of(fleet: Fleet, sectors: int = 4) -> Matrix:
    risk: Matrix = drift_risk(layouts_of(fleet, sectors=sectors), sectors)[0].double().numpy()
    return risk


def bearings(positions: Matrix) -> Matrix:
    offset = positions[None, :, :] - positions[:, None, :]
    return np.arctan2(offset[..., 1], offset[..., 0])


def turned_by(fleet: Fleet) -> Matrix:
    """By how much each line turns while both ends move on by AHEAD spreads at the rate of the first tiny step."""
    along = np.column_stack([np.cos(fleet.yaw), np.sin(fleet.yaw)])
    step = bearings(fleet.positions + STEP * fleet.spread * along) - bearings(fleet.positions)
    wrapped: Matrix = np.arctan2(np.sin(step), np.cos(step))
    return AHEAD / STEP * wrapped


def room(fleet: Fleet, sectors: int, turned: Matrix) -> Matrix:
    """How far each line can still turn its way before it leaves the sector at its first end."""
    ahead = bearings(fleet.positions) - fleet.yaw[:, None]
    # Every border there is, and the first of them on the way.
    borders = 2 * math.pi / sectors * (np.arange(sectors) + 0.5)
    ways = np.sign(turned)[..., None] * (borders - ahead[..., None])
    return np.asarray(np.mod(ways, 2 * math.pi).min(-1))


def keeps_clear_of_borders(fleet: Fleet, sectors: int) -> bool:
    width = 2 * math.pi / sectors
    into = np.mod(bearings(fleet.positions) - fleet.yaw[:, None] + width / 2, width)
    near = np.minimum(into, width - into)
    return bool((near[~np.eye(len(fleet), dtype=np.bool_)] > CLEAR).all())


@given(counts, fleet_seeds, sector_counts)
@settings(max_examples=100)
def test_the_risk_is_what_moving_the_nodes_a_little_says(n: int, seed: int, sectors: int) -> None:
    fleet = flying(n, seed)
    assume(keeps_clear_of_borders(fleet, sectors))
    turned = turned_by(fleet)
    margin = room(fleet, sectors, turned)
    risk = risk_of(fleet, sectors)
    for i, j in itertools.permutations(range(n), 2):
        expected = min(1.0, abs(turned[i, j]) / min(margin[i, j], margin[j, i]))
        assert math.isclose(risk[i, j], expected, abs_tol=2e-3), (i, j)


@given(counts, fleet_seeds, st.sampled_from([2, 3, 4, 6]))
@settings(max_examples=30)
def test_the_risk_is_counted_to_where_the_radio_takes_another_antenna(n: int, seed: int, sectors: int) -> None:
    """Or else the test above would share a wrong idea of where the borders are."""
    fleet, radio = flying(n, seed), Radio(sectors=sectors)
    assume(keeps_clear_of_borders(fleet, sectors))
    now = every_pair(fleet, radio).sector
    turned = turned_by(fleet)
    margin = room(fleet, sectors, turned)
    for i in range(n):
        j = (i + 1) % n
        for share, same in ((0.999, True), (1.001, False)):
            # A line that turns one way in the frame of a node is a node that turns the other way.
            yaw = fleet.yaw - np.sign(turned[i, j]) * share * margin[i, j]
            assert (every_pair(fleet.replace(yaw=yaw), radio).sector[i, j] == now[i, j]) == same


@given(st.lists(counts, min_size=1, max_size=3), fleet_seeds, sector_counts)
@settings(max_examples=30)
def test_the_pace_is_faster_by_the_risk_whatever_the_batch_and_stands_at_padding(
    sizes: list[int], seed: int, sectors: int
) -> None:
    fleets = [flying(n, seed + n) for n in sizes]
    layouts = layouts_of(*fleets, sectors=sectors, n=11)
    pace = Process(2.5, heading=3.0).pace(layouts, sectors)
    assert pace is not None
    assert torch.equal(pace, pace.transpose(1, 2))
    assert bool((pace[~layouts.pair_mask] == 1).all())
    # Nor does it matter what stands at places that mean nothing.
    junk = torch.where(layouts.pair_mask[..., None], layouts.pair, torch.rand(layouts.pair.shape) + 0.1)
    node = torch.where(layouts.mask[..., None], layouts.node, torch.rand(layouts.node.shape))
    assert torch.equal(pace, 1 + 3 * drift_risk(layouts._replace(pair=junk, node=node), sectors))
    for row, (n, fleet) in enumerate(zip(sizes, fleets, strict=True)):
        if keeps_clear_of_borders(fleet, sectors):
            np.testing.assert_allclose(pace[row, :n, :n].numpy(), 1 + 3 * risk_of(fleet, sectors), atol=6e-3)
    assert Process(2.5, heading=0).pace(layouts, sectors) is None


def test_the_risk_of_known_pairs() -> None:
    # Two nodes are 2√2 spreads apart; one that is abeam is in the middle of its sector, 45° from either border.
    abeam = [[0.0, 0.0], [0.0, 500.0]]
    opposite = 2 * AHEAD / math.sqrt(8) / (math.pi / 4)
    for yaw, expected in (
        ([0.0, math.pi], opposite),
        ([0.3, 0.3], 0.0),
        # Head on, and one after the other: the line does not turn.
        ([math.pi / 2, -math.pi / 2], 0.0),
        ([math.pi / 2, math.pi / 2], 0.0),
        # Only one of them flies across the line; both are in the middle of a sector.
        ([0.0, math.pi / 2], opposite / 2),
    ):
        assert risk_of(Fleet(abeam, yaw))[0, 1] == pytest.approx(expected, abs=1e-6)


def test_the_risk_is_a_number_on_a_border_and_for_nodes_at_almost_the_same_place() -> None:
    on_border = Fleet([[0.0, 0.0], [500.0, 500.0], [-500.0, 500.0]], np.array([0.0, 1e-4, math.pi / 2]))
    close = Fleet([[0.0, 0.0], [1e-5, 0.0], [500.0, 200.0]], np.array([1.0, 2.0, 3.0]))
    assert np.isfinite(risk_of(on_border)).all() and np.isfinite(risk_of(close)).all()
    # On the border, but hardly turning: the margin is not taken for nothing.
    assert risk_of(on_border)[0, 1] < 0.1
    # That close, a sideways move of a tenth of the spread is more than any sector.
    assert risk_of(close)[0, 1] == 1
