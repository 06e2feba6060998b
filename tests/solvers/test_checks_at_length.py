"""Checks that are run at length by scripts, with small numbers: any fleet under any radio."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import check_correction
import check_exact
import check_far_field
from manetdiff import Fleet, Radio, Topology, polish
from manetdiff.errors import SolverError
from manetdiff.layout import Layout
from manetdiff.solvers.workbench import Workbench


@pytest.mark.parametrize("name", check_exact.CASES)
def test_the_reference_equals_the_enumeration_of_all_topologies(name: str) -> None:
    for seed in range(8):
        compared = check_exact.compare(check_exact.layout_of(name, seed), 50_000, seed)
        assert compared.equal, (seed, compared)


def test_correction_keeps_its_word_whatever_it_is_given() -> None:
    kinds = set()
    for number in range(250):
        given = check_correction.draw_input(number, largest=120)
        corrected = check_correction.timed(given)[2]
        assert list(check_correction.broken_rules(given, corrected)) == [], number
        kinds.add((given.kind, given.flip_parts))
    assert len(kinds) == 2 * len(check_correction.RAW)


def test_broken_rules_are_seen() -> None:
    fleet = Fleet([(0, 0), (1, 0.1), (2, -0.1), (30, 0)], [0.0] * 4)
    layout = Layout(fleet, Radio(unit=1.0, range=5.0))
    raw = check_correction.Input(layout, Topology([(0, 1), (1, 2)], [0, 1, 0, 1]), False, "by hand")
    for links, parity, rule in (
        ([(0, 1), (1, 2)], [0, 1, 1, 1], "inside one parity"),
        ([(0, 1), (1, 2)], [1, 0, 1, 1], "parity has changed"),
        ([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1], "may not be"),
        ([(0, 1)], [0, 1, 0, 1], "more parts than there were"),
        ([(0, 1)], [0, 1, 0, 1], "nodes 1 and 2 could still be linked"),
    ):
        assert any(rule in told for told in check_correction.broken_rules(raw, Topology(links, parity))), rule
    crowded = raw._replace(raw=Topology([], [0, 1, 1, 1]))
    told = list(check_correction.broken_rules(crowded, Topology([(0, 1), (0, 2)], [0, 1, 1, 1])))
    assert "two links on an antenna" in told


@pytest.mark.parametrize("kind", check_far_field.KINDS)
def test_what_a_search_holds_is_exact_after_a_look_and_within_the_bound_without(kind: str) -> None:
    first, *later = (part for seed in range(3) for part in check_far_field.check(_drawn(kind, seed), seed)[:3])
    allowed = 0.02 if kind.startswith("beam") else 1e-9
    assert (first.error <= allowed * (first.sigma2 + first.exact)).all()
    moved = check_far_field.together(later)
    assert (moved.error <= moved.bound + check_far_field.ROUNDING * (moved.sigma2 + moved.exact)).all()
    # Or nothing would be tested.
    assert moved.error.max() > 0.0 and len(moved.held) > 200


def _drawn(kind: str, seed: int) -> Layout:
    return check_far_field.draw_layout(kind, seed, largest=100)


def test_links_that_a_bench_does_not_hold_are_refused() -> None:
    layout = _drawn("cone", 0)
    known = set(map(tuple, layout.candidates.tolist()))
    unknown = next((0, j) for j in range(1, len(layout)) if (0, j) not in known)
    with pytest.raises(SolverError, match=rf"link \(0, {unknown[1]}\) is not among the pairs"):
        Workbench(layout).put(np.array([unknown]), np.arange(len(layout)) % 2)


def test_polish_leaves_a_crowded_topology_of_a_large_fleet_alone_before_it_makes_tables() -> None:
    layout = dataclasses.replace(_drawn("beam", 1), radio=Radio(range=50.0, pattern="parabolic", beamwidth=0.5))
    n = len(layout)
    everything = Topology(np.argwhere(np.triu(np.ones((n, n)), 1)), np.arange(n) % 2)
    polished = polish(everything, layout, moves=10)
    assert polished == everything
    assert "tables" not in layout.__dict__ and "choice" not in layout.__dict__
