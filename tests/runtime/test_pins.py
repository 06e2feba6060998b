"""Pins: links that must be there, pairs that must not be linked, nodes that must stay silent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import PinError
from manetdiff.layout import Layout
from manetdiff.runtime.pins import Pins, check_pins
from manetdiff.scenarios import draw, move_by
from manetdiff.solvers import correct, polish
from manetdiff.topology import antenna_loads, component_labels, out_of_range, same_parity
from support.pairs import linkable
from support.strategies import drawn

MODEL = md.load()
IntArray = npt.NDArray[np.int64]
LINE = Fleet(np.array([[0, 0], [1, 0.02], [2, -0.03], [3, 0.01]]), np.zeros(4), ["a", "b", "c", "d"])
# Under this radio only neighbours along the line are within range.
NEAR = Radio(unit=1.0, range=1.5)
RAW: dict[str, Any] = {"correct": False, "polish": False, "samples": 2}


def pins_for(layout: Layout, rng: np.random.Generator, silent: int = 1) -> tuple[IntArray, IntArray, list[int]]:
    """Links to keep, pairs to avoid and silent nodes that do not contradict one another, at random."""
    n, sector = len(layout), layout.placement.every_pair.sector
    quiet = rng.permutation(n)[:silent].tolist()
    pairs = rng.permutation(np.argwhere(np.triu(linkable(layout.fleet, layout.radio), 1)))
    pairs = pairs[~np.isin(pairs, quiet).any(axis=1)]
    keep: list[tuple[int, int]] = []
    taken: set[tuple[int, int]] = set()
    side = np.arange(n)  # of which tree of kept links: a tree has no rings
    for i, j in pairs.tolist():
        antennas = {(i, int(sector[i, j])), (j, int(sector[j, i]))}
        if len(keep) < 3 and not antennas & taken and side[i] != side[j]:
            keep.append((i, j))
            taken |= antennas
            side[side == side[j]] = side[i]
    others = [pair for pair in pairs.tolist() if tuple(pair) not in keep]
    return _as_pairs(keep), _as_pairs(others[:4]), quiet


def _as_pairs(pairs: Sequence[Sequence[int]]) -> IntArray:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def assert_kept_to(made: Topology, keep: IntArray, avoid: IntArray, silent: list[int]) -> None:
    links = set(map(tuple, made.links.tolist()))
    assert set(map(tuple, keep.tolist())) <= links
    assert not set(map(tuple, avoid.tolist())) & links
    assert not np.isin(made.links, silent).any()
    assert all(made.parity[i] != made.parity[j] for i, j in keep)


def asked_for(keep: IntArray, avoid: IntArray, silent: list[int], fleet: Fleet, by_id: bool) -> dict[str, Any]:
    """The pins as a user gives them: in any order of their ends."""
    node = (lambda k: fleet.ids[k]) if by_id else int
    return {
        "keep": [(node(j), node(i)) for i, j in keep],
        "avoid": [(node(i), node(j)) for i, j in avoid],
        "silent": [node(k) for k in silent],
    }


EFFORTS: dict[str, dict[str, Any]] = {
    "raw": RAW,
    "polished only": {"correct": False, "polish": 100, "samples": 2},
    "corrected": {"polish": False, "samples": 2},
    "usual": {},
    "warm search": {"preset": "instant", "polish": 1500},
}


@pytest.mark.parametrize("effort", sorted(EFFORTS))
@settings(max_examples=15)
@given(st.integers(4, 18), st.integers(0, 999), st.booleans())
def test_what_is_generated_keeps_to_the_pins(effort: str, n: int, seed: int, by_id: bool) -> None:
    fleet = drawn(n, seed)
    pins = pins_for(Layout(fleet), np.random.default_rng(seed))
    asked = asked_for(*pins, fleet, by_id)
    made = MODEL.generate(fleet, seed=seed, **asked, **EFFORTS[effort])
    assert_kept_to(made, *pins)


@pytest.mark.parametrize("mode", ["minor", "standard", "guided", "anew"])
@pytest.mark.parametrize("effort", ["raw", "corrected", "usual", "warm search"])
def test_what_is_updated_keeps_to_the_pins(effort: str, mode: Any) -> None:
    for seed in range(3):
        before = drawn(12, seed)
        after = move_by(before, 0.2, np.random.default_rng(seed))
        # Made without the pins: what is to be avoided may be linked already, and what is to be kept may not be.
        previous = MODEL.generate(before, seed=seed, polish=False)
        pins = pins_for(Layout(after), np.random.default_rng(seed))
        asked = asked_for(*pins, after, by_id=seed == 1)
        made = MODEL.update(previous, after, mode=mode, seed=seed, **asked, **EFFORTS[effort])
        assert_kept_to(made, *pins)


def test_links_that_were_there_go_when_they_are_to_be_avoided() -> None:
    for seed in range(5):
        fleet = drawn(12, seed)
        free = MODEL.generate(fleet, seed=seed)
        made = MODEL.generate(fleet, seed=seed, avoid=free.links.tolist())
        assert len(made.links) > 0
        assert not (made.adjacency & free.adjacency).any()


def test_everyone_silent_leaves_nothing() -> None:
    for effort in EFFORTS.values():
        assert len(MODEL.generate(drawn(6, 0), silent=range(6), **effort).links) == 0


def test_a_silent_node_leaves_the_others_connected_where_they_can_be() -> None:
    connected = 0
    for seed in range(10):
        fleet = drawn(12, seed)
        made = MODEL.generate(fleet, seed=seed, silent=[seed])
        assert not made.report.connected
        others = made.links - (made.links > seed)
        connected += bool((component_labels(others, 11) == 0).all())
    assert connected >= 9


def test_pins_that_are_kept_anyway_cost_nothing() -> None:
    for seed in range(5):
        fleet = drawn(10, seed)
        free = MODEL.generate(fleet, seed=seed)
        pinned = MODEL.generate(fleet, seed=seed, keep=free.links.tolist())
        assert (pinned.adjacency & free.adjacency).sum() == free.adjacency.sum()
        assert pinned.report.valid == free.report.valid
        assert pinned.report.throughput >= free.report.throughput - 1e-9


def test_a_pair_may_be_given_twice_and_either_way_round() -> None:
    fleet = drawn(8, 1)
    keep, _, _ = pins_for(Layout(fleet), np.random.default_rng(1))
    i, j = keep[0].tolist()
    once = MODEL.generate(fleet, keep=[(i, j)])
    assert MODEL.generate(fleet, keep=[(j, i), (i, j), (f"n{i}", f"n{j}")]) == once
    assert MODEL.generate(fleet, keep=np.array([[j, i]])) == once  # type: ignore[call-overload]


def test_an_id_counts_as_an_id_and_a_number_as_an_index() -> None:
    # Ids that are the indices of other nodes: text is an id, a number an index.
    turned = Fleet(LINE.positions, LINE.yaw, ["3", "2", "1", "0"])
    by_id = MODEL.generate(turned, radio=NEAR, silent=["0"])
    by_index = MODEL.generate(turned, radio=NEAR, silent=[0])
    assert by_id.links.tolist() == [[0, 1], [1, 2]]
    assert by_index.links.tolist() == [[1, 2], [2, 3]]


class TestContradictions:
    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"keep": [(0, 1)], "avoid": [("b", "a")]}, "a-b is also to be avoided"),
            ({"keep": [("a", "b")], "silent": [1]}, "a-b is also to be avoided, or one of its ends is to be silent"),
            ({"keep": [(0, 2)]}, "a-c is out of range"),
            ({"keep": [("a", "e")]}, "keep: no node 'e'"),
            ({"avoid": [("a", "")]}, "avoid: no node ''"),
            ({"silent": ["x"]}, "silent: no node 'x'"),
            ({"keep": [(0, 4)]}, "keep: 4 is neither"),
            ({"avoid": [(-1, 0)]}, "avoid: -1 is neither"),
            ({"silent": [4]}, "silent: 4 is neither the id of a node nor an index from 0 to 3"),
            ({"silent": [True]}, "silent: True is neither"),
            ({"silent": [1.0]}, "silent: 1.0 is neither"),
            ({"silent": [None]}, "silent: None is neither"),
            ({"keep": [(1, "b")]}, "b cannot be linked with itself"),
            ({"avoid": [(2, 2)]}, "c cannot be linked with itself"),
            ({"keep": [(0, 1, 2)]}, "keep: give pairs of nodes"),
            ({"keep": [(0,)]}, "keep: give pairs of nodes"),
            ({"avoid": [3]}, "avoid: give pairs of nodes, not 3"),
            ({"avoid": [None]}, "avoid: give pairs of nodes"),
            # One pair instead of a list of pairs.
            ({"keep": (0, 1)}, "keep: give pairs of nodes, not 0"),
        ],
    )
    def test_are_refused_by_name(self, asked: dict[str, Any], message: str) -> None:
        with pytest.raises(PinError, match=message) as caught:
            MODEL.generate(LINE, radio=NEAR, **asked)
        assert "\n" not in str(caught.value)
        previous = Topology([(0, 1)], [0, 1, 0, 1])
        with pytest.raises(PinError, match=message):
            MODEL.update(previous, LINE, radio=NEAR, **asked)

    def test_two_links_on_one_antenna(self) -> None:
        # All head east, so that b and c are in front of a.
        far = Radio(unit=1.0, range=10.0)
        with pytest.raises(PinError, match="a-c and a-b would share an antenna of a"):
            MODEL.generate(LINE, radio=far, keep=[("a", "b"), ("a", "c")])
        with pytest.raises(PinError, match="b-d and d-a would share an antenna of d"):
            MODEL.generate(LINE, radio=far, keep=[("a", "d"), ("b", "d")])

    @pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
    def test_rings_of_an_odd_number_of_links_only(self, n: int) -> None:
        # Two antennas meet where a node looks at the middle: one looks at the next node, the other at the last one.
        angle = 2 * np.pi * np.arange(n) / n
        ring = Fleet(np.column_stack([np.cos(angle), np.sin(angle)]), angle + 0.75 * np.pi)
        keep = [(k, (k + 1) % n) for k in range(n)]
        if n % 2:
            with pytest.raises(PinError, match="closes a ring of an odd number of links"):
                MODEL.generate(ring, keep=keep, radio=Radio(unit=1.0))
        else:
            made = MODEL.generate(ring, keep=keep, radio=Radio(unit=1.0))
            assert all(made.adjacency[i, j] and made.parity[i] != made.parity[j] for i, j in keep)

    @pytest.mark.parametrize("pins", [5, None])
    def test_of_a_kind_that_is_no_list(self, pins: Any) -> None:
        with pytest.raises(PinError):
            MODEL.generate(LINE, keep=pins)


@pytest.mark.parametrize(
    ("keep", "parity", "aligned"),
    [
        # Already right, either way round.
        ([(0, 1), (1, 2)], [0, 1, 0, 1], [0, 1, 0, 1]),
        ([(0, 1), (1, 2)], [1, 0, 1, 1], [1, 0, 1, 1]),
        # One of the three is wrong: it alone turns.
        ([(0, 1), (1, 2)], [0, 0, 0, 0], [0, 1, 0, 0]),
        ([(0, 1), (1, 2)], [0, 0, 1, 1], [1, 0, 1, 1]),
        # Group by group.
        ([(0, 1), (2, 3)], [0, 1, 1, 0], [0, 1, 1, 0]),
        ([], [1, 1, 0, 1], [1, 1, 0, 1]),
    ],
)
def test_the_parity_of_kept_links_changes_as_little_as_it_can(
    keep: list[tuple[int, int]], parity: list[int], aligned: list[int]
) -> None:
    pins = check_pins(Pins(keep=keep), Layout(LINE, NEAR))
    assert pins.aligned(np.array(parity)).tolist() == aligned


class TestSolversUnderPins:
    @settings(max_examples=30)
    @given(st.integers(4, 20), st.integers(0, 9999), st.floats(0.05, 0.9), st.sampled_from([0.3, np.inf]))
    def test_correction_and_polish_keep_to_them(self, n: int, seed: int, density: float, tau: float) -> None:
        pins, pinned, raw = self._pinned_garbage(n, np.random.default_rng(seed), density)
        assert_kept_to(polish(raw, pinned, moves=200, seed=seed), *pins)
        for flip in (False, True):
            fixed = correct(raw, pinned, tau_interference=tau, slack=2.0, flip_parts=flip)
            for made in (fixed, polish(fixed, pinned, moves=200, seed=seed)):
                assert_kept_to(made, *pins)
                self._assert_sound(made, pinned)

    def test_polish_still_improves_what_is_not_pinned(self) -> None:
        improved = 0
        for seed in range(10):
            _, pinned, raw = self._pinned_garbage(12, np.random.default_rng(seed), 0.2)
            start = correct(raw, pinned, flip_parts=True)
            improved += polish(start, pinned, moves=500, seed=seed) != start
        assert improved >= 8

    @staticmethod
    def _pinned_garbage(
        n: int, rng: np.random.Generator, density: float
    ) -> tuple[tuple[IntArray, IntArray, list[int]], Layout, Topology]:
        """Pins, a layout with them, and garbage that holds the kept links between two parities and little else."""
        fleet = draw("mixed", n, rng)
        layout = Layout(fleet)
        pins = keep, pairs, silent = pins_for(layout, rng)
        avoid = np.zeros((n, n), dtype=np.bool_)
        avoid[pairs[:, 0], pairs[:, 1]] = avoid[pairs[:, 1], pairs[:, 0]] = True
        avoid[silent], avoid[:, silent] = True, True
        checked = check_pins(Pins(keep=keep.tolist()), layout)
        garbage = np.triu(rng.random((n, n)) < density, 1) & ~avoid
        garbage[keep[:, 0], keep[:, 1]] = True
        raw = Topology(np.argwhere(garbage), checked.aligned(rng.integers(0, 2, n)))
        return pins, layout.pinned(keep, avoid), raw

    @staticmethod
    def _assert_sound(made: Topology, layout: Layout) -> None:
        assert not same_parity(made).any()
        assert not out_of_range(made, layout).any()
        assert antenna_loads(made, layout).max(initial=0) <= 1
