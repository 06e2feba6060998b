"""What nodes hear from afar: exact when it is looked at, and within known bounds between two looks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from manetdiff.layout import Layout
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import ANTENNA, GRADE, OWNER
from manetdiff.radio import link_rates
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.solvers.scoring import gain_or_less, make
from manetdiff.solvers.state import FAR, HARM, NOISE
from manetdiff.solvers.workbench import Workbench
from support.large_fleets import CONE, KINDS, RADIOS
from support.pairs import every_pair
from support.plans import any_layout, carry_out, random_bench, random_plan

FloatArray = npt.NDArray[np.float64]


def exact_total(bench: Workbench) -> float:
    return float(link_rates(bench.layout.placement, bench.links, bench.parity).sum())


def most_from_afar(layout: Layout) -> FloatArray:
    """(p,) what each slot's owner hears, were every node that it does not follow to send at full power, over each of
    its antennas, straight at it; where the receiver hears one sector, those that stand there."""
    tables, values, n = layout.tables, every_pair(layout.fleet, layout.radio), len(layout)
    far = ~np.eye(n, dtype=np.bool_)
    far[layout.choice.first, layout.choice.second] = False
    power = np.where(far, values.fade, 0.0) * layout.radio.p_max * layout.radio.sectors
    most = np.zeros(tables.slots)
    for slot in range(tables.slots):
        j = tables.ints[OWNER, slot]
        heard = np.ones(n, dtype=np.bool_)
        if layout.radio.pattern == "cone" and layout.radio.reception == "sectored":
            heard = values.sector[j] == tables.ints[ANTENNA, slot] % layout.radio.sectors
        most[slot] = power[j, heard].sum()
    return most


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RADIOS)
def test_after_a_look_t_is_exact(name: str, kind: str) -> None:
    radio, error = RADIOS[name]
    for seed, n in enumerate((EVERY_PAIR + 1, 90, 150)):
        rng = np.random.default_rng(seed)
        bench = random_bench(any_layout(seed, n, radio, **KINDS[kind]), rng, 0.03)
        assert not bench.holds_all
        assert (bench.state.floats[FAR:HARM] > 0).any()
        assert bench.throughput == pytest.approx(exact_total(bench), rel=error)
        # So it is after a search has gone on for a while, and looks again.
        for _ in range(20):
            carry_out(bench, random_plan(bench, rng))
            gain_or_less(bench.tables, bench.state, -np.inf)
            make(bench.tables, bench.state)
        bench.look_afar()
        assert bench.throughput == pytest.approx(exact_total(bench), rel=error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RADIOS)
def test_what_is_held_between_two_looks_is_within_what_far_nodes_could_send(name: str, kind: str) -> None:
    radio, _ = RADIOS[name]
    layout = any_layout(7, 110, radio, **KINDS[kind])
    rng = np.random.default_rng(7)
    bench, fresh = random_bench(layout, rng, 0.03), Workbench(layout)
    most = most_from_afar(layout)
    may_be_linked = layout.tables.ints[GRADE] >= LINKABLE
    for _ in range(10):
        for _ in range(10):
            carry_out(bench, random_plan(bench, rng))
            gain_or_less(bench.tables, bench.state, -np.inf)
            make(bench.tables, bench.state)
        links = bench.links
        fresh.put(links, bench.parity)
        for state in (bench.state, fresh.state):
            held = state.floats[FAR : FAR + 2, may_be_linked]
            assert (held >= 0).all() and (held <= most[may_be_linked] * (1 + 1e-9)).all()
        slots = np.concatenate([bench.slots(links), bench.slots(links[:, ::-1])])
        apart = np.abs(bench.state.floats[NOISE, slots] - fresh.state.floats[NOISE, slots])
        assert apart.max() > 0  # or nothing would be tested
        assert (apart <= most[slots] + 1e-9).all()


def test_what_is_near_and_small_fleets_have_no_far_field() -> None:
    small = Workbench(any_layout(1, EVERY_PAIR, CONE))
    assert small.holds_all
    wide = any_layout(1, 80, CONE)
    assert not Workbench(wide).holds_all
    bench = random_bench(small.layout, np.random.default_rng(1), 0.03)
    assert not bench.state.floats[FAR:].any()  # nor a price of sending
    assert bench.throughput == pytest.approx(exact_total(bench), rel=1e-12)
