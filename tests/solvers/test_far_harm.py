"""The price of sending, held against what every beam does to every far receiver, at the margin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import GRADE, OWNER, PEER, SIGNAL
from manetdiff.solvers.state import AIRTIME, HARM, NOISE, PLACE
from manetdiff.solvers.workbench import Workbench
from support.large_fleets import KINDS, RADIOS
from support.plans import any_layout, random_bench

FloatArray = npt.NDArray[np.float64]


def exact_prices(bench: Workbench) -> FloatArray:
    """(2, p) by the parity that a slot's owner sends with: all that its beam at the peer leaks to far receivers, times
    what a little more noise costs each of them."""
    layout, state, ints = bench.layout, bench.state, bench.tables.ints
    place, radio, n = layout.placement, layout.radio, len(layout)
    values, gains = place.every_pair, place.every_gain
    far = ~np.eye(n, dtype=np.bool_)
    far[layout.choice.first, layout.choice.second] = False
    cost = np.zeros((n, n))  # of power at the second node that comes from the first
    for slot in np.flatnonzero(state.ints[PLACE] >= 0):
        j, peer = ints[OWNER, slot], ints[PEER, slot]
        noise, signal = radio.sigma2 + state.floats[NOISE, slot], bench.tables.floats[SIGNAL, slot]
        if 1 + signal / noise > radio.most_states or signal / noise < radio.least_snr:
            continue
        slope = state.floats[AIRTIME, slot] * radio.bandwidth / 1e6 / np.log(2) * signal / (noise * (noise + signal))
        if radio.reception == "omni":
            cost[:, j] += slope
        else:
            cost[:, j] += slope * (gains[j, peer] if place.steers else values.sector[j] == values.sector[j, peer])
    prices = np.zeros((2, bench.tables.slots))
    for slot in np.flatnonzero(ints[GRADE] >= LINKABLE):
        k, aim = ints[OWNER, slot], ints[PEER, slot]
        apart = np.abs(values.bearing[k] - values.bearing[k, aim])
        beam = gains[k, aim] if place.steers else np.minimum(apart, 2 * np.pi - apart) <= radio.theta_max
        harm = far[k] * beam * values.fade[k] * values.sent[k, aim] * cost[k]
        for side in range(2):
            prices[side, slot] = harm[state.parity != side].sum()
    return prices


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RADIOS)
def test_prices_are_what_beams_cost_far_receivers(name: str, kind: str) -> None:
    bench = random_bench(any_layout(3, 100, RADIOS[name][0], **KINDS[kind]), np.random.default_rng(3), 0.03)
    expected, held = exact_prices(bench), bench.state.floats[HARM : HARM + 2]
    assert (held >= 0).all() and expected.sum() > 0
    # Directions are told apart by the eighth of a beam, which blurs the edges of cones most; angles in space, exactly.
    by_node = bench.layout.placement.steers and bench.layout.placement.elevated
    assert held.sum() == pytest.approx(expected.sum(), rel=0.001 if by_node else 0.05)
    assert np.abs(held - expected).sum() <= (0.01 if by_node else 0.15) * expected.sum()
