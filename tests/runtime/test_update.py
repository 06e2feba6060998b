"""Updating a topology after its fleet has moved, and gained and lost nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, ManetDiffError, Radio, Topology, continuity, displacement, metrics
from manetdiff.data import load_benchmark
from manetdiff.errors import FleetError, ModelError, TopologyError
from manetdiff.layout import Layout
from manetdiff.runtime.chain import Noise
from manetdiff.runtime.partial import ASSUMED, MOVES_A_NODE, Mode, chosen_mode, partial_diffusion
from manetdiff.runtime.previous import previous_links
from manetdiff.scenarios import move_by
from manetdiff.topology import out_of_range
from support.pairs import linkable
from support.strategies import drawn, topologies

MODEL = md.load()
MODES: tuple[Mode, ...] = ("quick", "minor", "standard", "guided", "anew")


def part(fleet: Fleet, order: Sequence[int] | np.ndarray) -> Fleet:
    return Fleet(fleet.positions[order], fleet.yaw[order], [fleet.ids[k] for k in order])


def moved(fleet: Fleet, by: float, seed: int = 0) -> Fleet:
    return move_by(fleet, by, np.random.default_rng(seed))


class TestCarriedOver:
    BEFORE = Fleet([[0, 0], [1, 0], [2, 0], [3, 1]], np.zeros(4), ["a", "b", "c", "d"])
    TOPOLOGY = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1])

    def test_an_example_by_hand(self) -> None:
        # b has left, x and y have joined, and the others stand in another order: only c - d is left.
        after = Fleet([[3, 1], [5, 5], [0, 0], [2, 0], [6, 5]], np.zeros(5), ["d", "x", "a", "c", "y"])
        carried = previous_links(self.TOPOLOGY, self.BEFORE, after)
        assert carried.topology == Topology([(0, 3)], [1, 0, 0, 0, 0])
        assert carried.known.tolist() == [True, False, True, True, False]
        pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 4), (2, 3)])
        assert carried.linked(pairs).tolist() == [False, False, True, False, False]
        assert carried.both_known(pairs).tolist() == [False, True, True, False, True]
        states = carried.states(pairs[2:])
        assert (states.links.tolist(), states.parity.tolist()) == ([[1, 0, 0]], [[1, 0, 0, 0, 0]])
        # Those that stayed have not moved; what the others do does not count.
        assert carried.moved == pytest.approx(0.0, abs=1e-12)

    def test_the_movement_of_fewer_than_two_nodes_is_not_known(self) -> None:
        after = Fleet([[0, 0], [1, 1]], np.zeros(2), ["a", "new"])
        assert previous_links(self.TOPOLOGY, self.BEFORE, after).moved is None

    def test_a_fleet_without_a_node_of_the_topology_is_refused(self) -> None:
        strangers = Fleet([[0, 0], [1, 1]], np.zeros(2), ["x", "y"])
        with pytest.raises(ManetDiffError, match=r"share no node: it has 'a', .*, the fleet 'x', 'y'"):
            previous_links(self.TOPOLOGY, self.BEFORE, strangers)
        with pytest.raises(ManetDiffError, match="share no node"):
            MODEL.update(self.TOPOLOGY, strangers, previous=self.BEFORE)

    def test_a_node_far_out_does_not_hide_the_movement_of_the_others(self) -> None:
        then, now = drawn(9), moved(drawn(9), 0.1)
        topology = Topology([[0, 1]], np.zeros(9))
        alone = previous_links(topology, then, now).moved

        def with_one_far_out(fleet: Fleet) -> Fleet:
            return Fleet(np.vstack([fleet.positions, [[1e9, 0]]]), np.append(fleet.yaw, 0), [*fleet.ids, "lost"])

        larger = Topology([[0, 1]], np.zeros(10))
        assert previous_links(larger, with_one_far_out(then), with_one_far_out(now)).moved == alone
        assert previous_links(topology, then, with_one_far_out(now)).moved == alone

    @given(topologies(7), st.permutations(range(9)))
    @settings(max_examples=20)
    def test_the_order_of_the_fleet_is_no_matter_nor_is_who_has_joined(
        self, topology: Topology, order: list[int]
    ) -> None:
        then, now = drawn(9), moved(drawn(9), 0.1)
        after = part(now, range(2, 9))
        whole = Fleet(
            np.concatenate([after.positions, [[1e6, 0], [0, 1e6]]]),
            np.append(after.yaw, [0, 1]),
            [*after.ids, "x", "y"],
        )
        carried = previous_links(topology, part(then, range(7)), whole)
        turned = previous_links(topology, part(then, range(7)), part(whole, order))
        assert np.array_equal(turned.topology.adjacency, carried.topology.adjacency[np.ix_(order, order)])
        assert np.array_equal(turned.topology.parity, carried.topology.parity[order])
        assert np.array_equal(turned.known, carried.known[order])
        stayed = range(2, 7)
        assert turned.moved == pytest.approx(displacement(part(then, stayed), part(now, stayed)))

    @given(topologies(6))
    @settings(max_examples=20)
    def test_the_same_fleet_carries_everything(self, topology: Topology) -> None:
        for before in (drawn(6), None):
            carried = previous_links(topology, before, drawn(6))
            assert carried.topology == topology
            assert carried.known.all()

    def test_the_noise_stays_where_a_node_is_new(self) -> None:
        after = Fleet([[0, 0], [1, 0], [9, 9]], np.zeros(3), ["a", "b", "x"])
        noise = Noise(np.full((1, 2), 0.25, dtype=np.float32), np.full((1, 3), 0.5, dtype=np.float32))
        pairs = np.array([(0, 1), (1, 2)])
        mixed = previous_links(self.TOPOLOGY, self.BEFORE, after).as_noise(noise, pairs)
        assert mixed.links[0].tolist() == [1, 0.25]
        assert mixed.parity[0].tolist() == [0, 1, 0.5]


class TestNodesThatJoinAndLeave:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(("first", "last"), [(0, 14), (3, 14), (3, 9)], ids=["more", "as many", "fewer"])
    def test_are_linked_and_forgotten(self, mode: Any, first: int, last: int) -> None:
        for seed in range(2):
            everyone = drawn(14, seed)
            before, later = part(everyone, range(11)), moved(everyone, 0.1, seed)
            after = part(later, np.random.default_rng(seed).permutation(np.arange(first, last)))
            updated = MODEL.update(MODEL.generate(before, seed=seed), after, mode=mode, seed=seed)
            scores = metrics(updated, after)
            assert len(updated) == last - first
            assert scores["parity"] == 1
            assert scores["antenna_saturation"] == 0
            assert not out_of_range(updated, Layout(after, Radio())).any()
            assert updated.on().fleet is after
            if scores["connected"]:
                assert np.isin(np.arange(last - first), updated.links).all()

    def test_in_another_order_keep_as_many_links(self) -> None:
        # Were nodes matched by their place, next to nothing would be kept.
        shares = []
        for seed in range(6):
            before = drawn(16, seed)
            previous = MODEL.generate(before, seed=seed)
            order = np.random.default_rng(seed).permutation(16)
            updated = MODEL.update(previous, part(moved(before, 0.05, seed), order), seed=seed)
            back = np.argsort(order)
            sorted_back = Topology.from_adjacency(updated.adjacency[np.ix_(back, back)], updated.parity[back])
            assert updated.report.continuity == pytest.approx(continuity(previous, sorted_back))
            shares.append(updated.report.continuity)
        assert np.mean(shares) > 0.6


class TestContinuity:
    def test_is_higher_than_that_of_topologies_made_anew(self) -> None:
        shares: dict[Mode, list[float]] = {mode: [] for mode in MODES}
        for layout in load_benchmark("bench16")[:12]:
            after = moved(layout.fleet, 0.1, layout.index)
            for mode in MODES:
                updated = MODEL.update(layout.topology, after, previous=layout.fleet, mode=mode, polish=False)
                assert updated.report.continuity == pytest.approx(continuity(layout.topology, updated))
                shares[mode].append(updated.report.continuity)
            anew = MODEL.generate(after, polish=False)
            assert continuity(layout.topology, anew) == pytest.approx(shares["anew"][-1])
        means = {mode: float(np.mean(values)) for mode, values in shares.items()}
        assert min(means["minor"], means["standard"], means["guided"]) > means["anew"] + 0.05

    def test_is_whole_where_nothing_has_moved(self) -> None:
        shares = [
            MODEL.update(layout.topology, layout.fleet, previous=layout.fleet).report.continuity
            for layout in load_benchmark("bench16")[:12]
        ]
        assert np.mean(shares) > 0.9

    def test_guiding_keeps_more_of_a_bad_topology(self) -> None:
        # A previous topology that the network would not make: only the guide speaks for it.
        shares: dict[Mode, list[float]] = {"standard": [], "guided": []}
        for seed in range(5):
            fleet = drawn(12, seed)
            rng = np.random.default_rng(seed)
            bad = Topology(np.argwhere(np.triu(linkable(fleet) & (rng.random((12, 12)) < 0.2), 1)), np.arange(12) % 2)
            after = moved(fleet, 0.6, seed)
            for mode, values in shares.items():
                raw = MODEL.update(bad, after, previous=fleet, mode=mode, correct=False, polish=False)
                values.append(raw.report.continuity)
        assert np.mean(shares["guided"]) > np.mean(shares["standard"])


class TestModes:
    @pytest.mark.parametrize("by", [0.05, 0.3])
    def test_auto_is_quick(self, by: float) -> None:
        before = drawn(12)
        previous, after = MODEL.generate(before), moved(drawn(12), by)
        updated = MODEL.update(previous, after, seed=4)
        assert updated.report.mode == "quick"
        assert updated.report.steps == 1
        assert updated.report.moved == pytest.approx(displacement(before, after))
        assert updated == MODEL.update(previous, after, mode="quick", seed=4)

    def test_a_fleet_in_a_mirror_is_no_reason_to_forget_its_links(self) -> None:
        before = drawn(12)
        after = before.replace(positions=before.positions * [-1, 1])
        updated = MODEL.update(MODEL.generate(before), after, seed=4)
        assert (updated.report.moved or 0) > 1
        assert updated.report.valid
        assert updated.report.continuity > MODEL.update(MODEL.generate(before), after, mode="anew").report.continuity

    def test_any_other_is_as_it_is(self) -> None:
        modes: tuple[Mode, ...] = ("auto", *MODES)
        assert [chosen_mode(mode) for mode in modes] == ["quick", *MODES]

    def test_more_movement_asks_for_more_steps_from_earlier_on(self) -> None:
        hows = [partial_diffusion("standard", far, None) for far in (0.0, 0.2, 0.5, 1.0, 2.0)]
        starts, steps = [how.start for how in hows], [how.steps for how in hows]
        assert starts == sorted(starts)
        assert steps == sorted(steps)
        assert 0 < starts[0] < starts[2]
        assert starts[-1] == 1
        assert steps[2] < steps[3]
        assert partial_diffusion("standard", None, None) == partial_diffusion("standard", ASSUMED, None)
        assert partial_diffusion("guided", 0.2, None).guide_weight < partial_diffusion("guided", 0.4, None).guide_weight
        assert hows[2].guide_weight == 0
        # Only a minor update takes the previous topology in place of noise.
        assert [partial_diffusion(mode, 0.1, None).own_noise for mode in ("minor", "standard", "guided")] == [1, 0, 0]

    @pytest.mark.parametrize("mode", ["quick", "minor", "standard", "guided"])
    def test_steps_may_be_asked_for(self, mode: Any) -> None:
        previous = MODEL.generate(drawn(8))
        assert MODEL.update(previous, moved(drawn(8), 0.1), mode=mode, steps=9).report.steps == 9

    @pytest.mark.parametrize("mode", ["", "Minor", None])
    def test_that_do_not_exist_are_refused(self, mode: Any) -> None:
        previous = MODEL.generate(drawn(8))
        with pytest.raises(ModelError, match="mode must be one of auto, quick, standard, minor, guided, anew"):
            MODEL.update(previous, drawn(8), mode=mode)


class TestThePreviousFleet:
    def test_is_remembered_with_the_topology(self) -> None:
        before, after = drawn(10), moved(drawn(10), 0.1)
        previous = MODEL.generate(before)
        told = MODEL.update(previous, after, previous=before)
        assert MODEL.update(previous, after) == told
        # And so is that of an update.
        again = moved(after, 0.1, seed=1)
        assert MODEL.update(told, again).report.moved == pytest.approx(displacement(after, again))

    def test_counts_before_the_one_that_is_remembered(self) -> None:
        before = drawn(10)
        other = moved(before, 0.3, seed=3)
        updated = MODEL.update(MODEL.generate(before), before, previous=other)
        assert updated.report.moved == pytest.approx(displacement(other, before))

    def test_is_not_needed_where_the_nodes_are_the_same(self) -> None:
        made = MODEL.generate(drawn(10))
        updated = MODEL.update(Topology(made.links, made.parity), drawn(10))
        assert updated.report.moved is None
        assert updated.report.mode == "quick"

    def test_is_needed_where_they_are_not(self) -> None:
        made = MODEL.generate(drawn(10))
        with pytest.raises(TopologyError, match="has 10 nodes, the fleet 11: give the fleet that it was made for"):
            MODEL.update(Topology(made.links, made.parity), drawn(11))

    def test_must_be_the_one_of_the_topology(self) -> None:
        with pytest.raises(TopologyError, match="the topology has 10 nodes, the fleet 9"):
            MODEL.update(MODEL.generate(drawn(10)), drawn(10), previous=drawn(9))


class TestTheSameSeed:
    @pytest.mark.parametrize("mode", MODES)
    def test_gives_the_same_topology(self, mode: Any) -> None:
        previous, after = MODEL.generate(drawn(12)), moved(drawn(12), 0.4)
        updated = MODEL.update(previous, after, mode=mode, seed=6)
        assert MODEL.update(previous, after, mode=mode, seed=6) == updated
        assert md.load().update(previous, after, mode=mode, seed=6) == updated

    def test_differs_from_another(self) -> None:
        previous, after = MODEL.generate(drawn(16)), moved(drawn(16), 0.5)
        asked: dict[str, Any] = {"mode": "standard", "correct": False, "polish": False}
        assert len({MODEL.update(previous, after, seed=seed, **asked) for seed in range(8)}) > 1


class TestTheReport:
    @pytest.mark.parametrize("asked", [{}, {"polish": True}, {"correct": False, "polish": False}, {"samples": 3}])
    def test_says_what_the_topology_is_worth(self, asked: dict[str, Any]) -> None:
        before, after = drawn(14), moved(drawn(14), 0.2)
        updated = MODEL.update(MODEL.generate(before), after, **asked)
        scores = metrics(updated, after)
        assert updated.report.throughput == pytest.approx(scores["throughput"])
        assert updated.report.valid == bool(scores["valid"])
        assert updated.report.samples == asked.get("samples", 1)

    @pytest.mark.parametrize(("polish", "moves"), [(None, 16 * MOVES_A_NODE), (0, 0), (False, 0), (400, 400)])
    def test_says_how_many_moves_were_made(self, polish: Any, moves: int) -> None:
        before, after = drawn(16), moved(drawn(16), 0.2)
        assert MODEL.update(MODEL.generate(before), after, polish=polish).report.polish.moves == moves


class TestRefused:
    @pytest.mark.parametrize(
        "asked", [{"steps": 0}, {"samples": -1}, {"seed": -1}, {"preset": "quick"}, {"steps": 1.5}]
    )
    @pytest.mark.parametrize("mode", ["minor", "standard", "anew"])
    def test_arguments_that_make_no_sense(self, mode: Any, asked: dict[str, Any]) -> None:
        with pytest.raises(ManetDiffError, match=next(iter(asked))):
            MODEL.update(Topology([], [0] * 6), drawn(6), mode=mode, **asked)

    def test_a_fleet_that_is_too_large_or_none(self) -> None:
        previous = MODEL.generate(drawn(6))
        crowd = Fleet(np.random.default_rng(0).normal(size=(1025, 2)), np.zeros(1025))
        with pytest.raises(FleetError, match="1,025"):
            MODEL.update(previous, crowd)
        with pytest.raises(FleetError, match="give a Fleet, not str"):
            MODEL.update(previous, "fleet")  # type: ignore[arg-type]

    def test_by_a_dense_network_a_radio_with_other_sectors(self) -> None:
        previous, other = MODEL.generate(drawn(9)), Radio(sectors=6)
        with pytest.raises(ModelError, match="4 sectors; the radio has 6"):
            md.load("netdiff-small").update(previous, drawn(9), radio=other)
        assert metrics(MODEL.update(previous, drawn(9), radio=other), radio=other)["valid"] == 1
