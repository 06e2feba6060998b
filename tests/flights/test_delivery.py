"""What gets through over a flight."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, ManetDiffError, Topology
from manetdiff.flights.delivery import delivered_between
from manetdiff.layout import Layout
from manetdiff.scenarios import draw, move
from support.strategies import drawn

RADIO = md.Radio(unit=1.0, range=100.0)


def pair(distance: float, ids: tuple[str, ...] = ("a", "b")) -> Fleet:
    return Fleet([(0.0, 0.0), (distance, 0.0)], [0.0, 0.0], ids=ids)


def linked(fleet: Fleet, links: list[tuple[int, int]], parity: list[int]) -> Topology:
    return Topology(links, parity, layout=Layout(fleet, RADIO))


def t(topology: Topology, fleet: Fleet | None = None) -> float:
    return md.metrics(topology, fleet)["throughput"]


ONE = linked(pair(1.0), [(0, 1)], [0, 1])
NONE = linked(pair(1.0), [], [0, 1])


def test_a_fleet_that_stands_delivers_what_it_carries() -> None:
    assert md.delivered([(0.0, ONE)]) == pytest.approx(t(ONE))
    assert md.delivered([(0.0, ONE), (7.0, ONE), (9.0, ONE)], setup=2.0) == pytest.approx(t(ONE))


def test_between_moments_rates_go_from_what_they_are_to_what_the_same_links_have_then() -> None:
    later = linked(pair(2.0), [(0, 1)], [0, 1])
    assert md.delivered([(0.0, ONE), (4.0, later)]) == pytest.approx((t(ONE) + t(later)) / 2)
    gone = linked(Fleet([(0.0, 0.0), (1.0, 5.0)], [0.0, 0.0], ids=["a", "c"]), [], [0, 1])
    assert md.delivered([(0.0, ONE), (4.0, gone)]) == pytest.approx(t(ONE) / 2)


def test_a_new_link_carries_nothing_until_it_is_set_up() -> None:
    flight = [(0.0, NONE), (4.0, ONE), (8.0, ONE), (12.0, ONE)]
    each = delivered_between(flight, setup=1.0)
    assert each == pytest.approx([0.0, 0.75 * t(ONE), t(ONE)])
    assert delivered_between(flight, setup=6.0) == pytest.approx([0.0, 0.0, 0.5 * t(ONE)])
    assert md.delivered(flight, setup=1.0) == pytest.approx(np.mean(each))
    # What was dropped and comes again is new.
    again = [(0.0, ONE), (4.0, NONE), (8.0, ONE), (12.0, ONE)]
    assert delivered_between(again, setup=1.0) == pytest.approx([t(ONE), 0.0, 0.75 * t(ONE)])


def test_nodes_are_known_by_their_ids() -> None:
    turned = linked(pair(1.0, ("b", "a")), [(0, 1)], [1, 0])
    assert md.delivered([(0.0, ONE), (4.0, turned), (8.0, turned)], setup=3.0) == pytest.approx(t(ONE))


@given(st.integers(0, 50), st.floats(0.0, 6.0), st.floats(0.0, 6.0))
@settings(max_examples=20, deadline=None)
def test_the_longer_it_takes_the_less_gets_through(seed: int, one: float, other: float) -> None:
    rng = np.random.default_rng(seed)
    path = move(draw("wedge", 6, rng), "gauss-markov", rng, duration=12.0, step=4.0)
    flight = [(4.0 * k, md.solve(fleet, moves=100, seed=k)) for k, fleet in enumerate(path)]
    low, high = sorted((one, other))
    quick, slow = md.delivered(flight, low), md.delivered(flight, high)
    assert slow <= quick + 1e-9
    ends = [(t(a), t(a, b.on().fleet)) for (_, a), (_, b) in pairwise(flight)]
    assert md.delivered(flight) == pytest.approx(np.mean(ends))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ManetDiffError, match="setup"):
        md.delivered([(0.0, ONE)], setup=-1.0)
    with pytest.raises(ManetDiffError, match="at least one"):
        md.delivered([])
    with pytest.raises(ManetDiffError, match="order of time"):
        md.delivered([(4.0, ONE), (4.0, ONE)])
    with pytest.raises(ManetDiffError, match="order of time"):
        md.delivered([(0.0, ONE), (float("nan"), ONE)])
    with pytest.raises(ManetDiffError, match="does not know its fleet"):
        md.delivered([(0.0, Topology([], np.zeros(len(drawn(3)), dtype=int)))])
