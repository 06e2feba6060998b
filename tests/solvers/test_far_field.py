"""What nodes hear from afar: exact when it is looked at, and within known bounds between two looks."""

from __future__ import annotations

import numpy as np
import pytest

from check_far_field import most_from_afar
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import GRADE
from manetdiff.radio import link_rates
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.solvers.scoring import gain_or_less, make
from manetdiff.solvers.state import FAR, HARM, NOISE
from manetdiff.solvers.workbench import Workbench
from support.large_fleets import CONE, KINDS, RADIOS
from support.plans import any_layout, carry_out, random_bench, random_plan


def exact_total(bench: Workbench) -> float:
    return float(link_rates(bench.layout.placement, bench.links, bench.parity).sum())


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
