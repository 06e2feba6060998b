"""An update never harms, whatever the network says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, Radio, Topology, continuity, correct, metrics, polish
from manetdiff.layout import Layout
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.no_harm import carried_over
from manetdiff.runtime.objective import USUAL_SHARE, Before, Objective, usual_link
from manetdiff.runtime.partial import MOVES_A_NODE, Mode
from manetdiff.runtime.previous import PreviousLinks, previous_links
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Sample
from manetdiff.scenarios import draw, move_by
from manetdiff.topology import count_components
from support.strategies import drawn, fleets, radios

MODEL = md.load()
LOYAL: tuple[Mode, ...] = ("auto", "quick", "minor", "standard", "guided")
RADIOS = {
    "link budget": Radio.from_link_budget(5e9, 20e6, 2.0, 18.0, 5.0),
    "narrow": Radio.from_link_budget(2.4e9, 10e6, 5.0, 24.0, 5.0),
    "default": Radio(),
}


def solved(fleet: Fleet, radio: Radio) -> Topology:
    return md.solve(fleet, radio, moves=3_000)


def assert_unchanged(before: Topology, after: Topology) -> None:
    assert after == before
    assert (after.report.mode, after.report.continuity) == ("unmoved", 1.0)
    assert after.report.throughput == pytest.approx(metrics(before)["throughput"])


class TestUnmoved:
    @pytest.mark.filterwarnings("ignore::manetdiff.DisconnectedWarning")
    @given(fleets(2, 14, axes=3, blocked=True) | fleets(2, 14), radios(options=True), st.sampled_from(LOYAL))
    @settings(max_examples=25, deadline=None)
    def test_a_fleet_keeps_its_topology(self, fleet: Fleet, radio: Radio, mode: Mode) -> None:
        before = md.solve(fleet, radio, moves=200)
        assert_unchanged(before, MODEL.update(before, fleet, mode=mode))

    @pytest.mark.filterwarnings("ignore::manetdiff.DisconnectedWarning")
    @pytest.mark.parametrize("axes", [2, 3])
    def test_so_does_a_large_one(self, axes: int) -> None:
        rng = np.random.default_rng(axes)
        flat = draw("mixed", 130, rng)
        arcs = [[(0.3, 1.1)] if k % 5 == 0 else [] for k in range(130)]
        places = np.column_stack([flat.positions, rng.uniform(0, 2_000, 130)])[:, :axes]
        fleet = Fleet(places, flat.yaw, blocked=arcs)
        radio = Radio.draw(rng, "budget", spacing=2 * flat.spread / math.sqrt(130))
        before = md.solve(fleet, radio, method="mst-greedy")
        assert_unchanged(before, MODEL.update(before, fleet))

    def test_also_flown_on_turned_and_in_another_order(self) -> None:
        fleet = drawn(12)
        before = solved(fleet, RADIOS["link budget"])
        turn = np.array([[0.6, -0.8], [0.8, 0.6]])
        order = np.random.default_rng(0).permutation(12)
        later = Fleet(
            (fleet.positions @ turn.T + [4_000, -9_000])[order],
            (fleet.yaw + math.atan2(0.8, 0.6))[order],
            [fleet.ids[k] for k in order],
        )
        after = MODEL.update(before, later)
        names = [{frozenset((where.ids[i], where.ids[j])) for i, j in one.links} for one, where in
                 ((before, fleet), (after, later))]  # fmt: skip
        assert names[0] == names[1]
        assert [after.parity[list(later.ids).index(name)] for name in fleet.ids] == before.parity.tolist()

    @pytest.mark.parametrize("change", ["move", "turn", "join", "leave", "radio", "anew"])
    def test_whoever_has_moved_turned_joined_or_left_is_looked_at(self, change: str) -> None:
        fleet = drawn(12)
        before = solved(fleet, Radio())
        changed = {
            "move": move_by(fleet, 0.01, np.random.default_rng(0)),
            "turn": fleet.replace(yaw=fleet.yaw + np.where(np.arange(12) == 3, 0.5, 0.0)),
            "join": Fleet([*fleet.positions, fleet.positions.mean(axis=0) + 7], [*fleet.yaw, 0], [*fleet.ids, "new"]),
            "leave": Fleet(fleet.positions[1:], fleet.yaw[1:], fleet.ids[1:]),
        }
        after = MODEL.update(
            before,
            changed.get(change, fleet),
            radio=Radio(sigma2=0.3) if change == "radio" else None,
            mode="anew" if change == "anew" else "auto",
        )
        assert after.report.mode != "unmoved"

    def test_a_pin_that_is_not_there_yet_is_honoured(self) -> None:
        fleet = drawn(12)
        before = solved(fleet, Radio())
        i, j = before.links[0].tolist()
        assert MODEL.update(before, fleet, keep=[(i, j)]) == before
        after = MODEL.update(before, fleet, avoid=[(i, j)])
        assert [i, j] not in after.links.tolist()


class TestMoved:
    @pytest.mark.filterwarnings("ignore::manetdiff.DisconnectedWarning")
    @given(st.integers(3, 20), st.integers(0, 10_000), st.sampled_from([0.02, 0.2, 0.6, 1.5]), st.sampled_from(LOYAL))
    @settings(max_examples=25, deadline=None)
    def test_an_update_is_worth_no_less_than_the_old_links_corrected(
        self, n: int, seed: int, movement: float, mode: Mode
    ) -> None:
        rng = np.random.default_rng(seed)
        fleet = drawn(n, seed)
        radio = Radio.draw(rng, spacing=fleet.spread / math.sqrt(n))
        before = md.solve(fleet, radio, moves=100 * n)
        later = Fleet(fleet.positions + rng.normal(0, movement * fleet.spread, (n, 2)), fleet.yaw, fleet.ids)
        after = MODEL.update(before, later, mode=mode, seed=seed)
        assert_no_worse(after, before, correct(before, later, radio, flip_parts=True))

    def test_nor_in_a_large_fleet_that_some_join_and_leave(self) -> None:
        fleet = drawn(120)
        before = MODEL.generate(Fleet(fleet.positions[:110], fleet.yaw[:110], fleet.ids[:110]), preset="instant")
        later = move_by(fleet, 0.02, np.random.default_rng(0))
        later = Fleet(later.positions[5:], later.yaw[5:], later.ids[5:])
        after = MODEL.update(before, later)
        assert metrics(after)["valid"] == 1
        there = previous_links(before, before.on().fleet, later)
        assert_no_worse(
            after, there.topology, correct(there.topology, later, before.on().radio, flip_parts=True), there
        )

    @pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
    def test_no_more_throughput_is_had_at_that_continuity_by_correcting_and_polishing_the_old_links(
        self, radio: Radio
    ) -> None:
        updates, others = [], []
        for seed in range(6):
            fleet = drawn(13, seed)
            before, later = solved(fleet, radio), move_by(fleet, 0.2, np.random.default_rng(seed))
            corrected = correct(before, later, radio, flip_parts=True)
            polished = polish(corrected, moves=2 * MOVES_A_NODE * len(fleet), seed=seed)
            best = md.solve(later, radio, moves=10_000)
            updates.append(scored(MODEL.update(before, later, seed=seed), before, best))
            others.append([scored(one, before, best) for one in (corrected, polished)])
        t, same = np.mean(updates, axis=0)
        (most_kept, least), (fewest_kept, most) = (np.mean(others, axis=0)[k][::-1] for k in (0, 1))
        # On the way from the one to the other, a polish has as much continuity somewhere.
        assert t > np.interp(same, [fewest_kept, most_kept], [most, least])

    @pytest.mark.filterwarnings("ignore::manetdiff.DisconnectedWarning")
    def test_pins_are_kept_by_the_old_links_too(self) -> None:
        fleet = drawn(14)
        before, later = solved(fleet, RADIOS["narrow"]), move_by(fleet, 0.1, np.random.default_rng(3))
        gone = before.links[0].tolist()
        after = MODEL.update(before, later, avoid=[tuple(gone)], silent=["n5"])
        assert gone not in after.links.tolist()
        assert 5 not in after.links


class TestBestOf:
    LAYOUT = Layout(drawn(12))

    WORTH = 1.0

    def before(self, layout: Layout) -> Objective:
        previous = previous_links(solved(layout.fleet, layout.radio), layout.fleet, layout.fleet)
        return Objective(before=Before(carried_over(previous, None), previous, self.WORTH))

    def test_the_old_links_come_out_where_no_sample_is_worth_more(self) -> None:
        objective = self.before(self.LAYOUT)
        nothing = Sample(np.empty((0, 2), dtype=np.int64), np.zeros(12, dtype=np.int64))
        best = best_of([nothing], self.LAYOUT, Effort(1), 0, objective=objective)
        assert objective.before is not None
        assert np.array_equal(best.sample.links, objective.before.sample.links)
        assert best.report.kept == -1

    def test_changes_have_a_price(self) -> None:
        objective = self.before(self.LAYOUT)
        assert objective.before is not None
        other = md.solve(self.LAYOUT, method="huang")
        best = best_of([Sample(other.links, other.parity)], self.LAYOUT, Effort(1), 0, objective=objective)
        alone = best_of([Sample(other.links, other.parity)], self.LAYOUT, Effort(1), 0)
        assert alone.worth == alone.throughput
        old = objective.before.previous

        def paid(links: np.ndarray) -> float:
            kept = int(old.linked(links).sum())
            return self.WORTH * (kept - (len(links) - kept)) / 2

        assert best.worth == pytest.approx(best.throughput + paid(best.sample.links))
        assert best.worth >= alone.throughput + paid(alone.sample.links) - 1e-9

    def test_what_lies_ahead_counts_as_much_as_now(self) -> None:
        later = Layout(move_by(self.LAYOUT.fleet, 0.3, np.random.default_rng(1)))
        one = md.solve(self.LAYOUT, moves=2_000)
        best = best_of([Sample(one.links, one.parity)], self.LAYOUT, Effort(1), 0, objective=Objective((later,)))
        made = Topology(*best.sample)
        both = [metrics(made, layout)["throughput"] for layout in (self.LAYOUT, later)]
        assert best.throughput == pytest.approx(both[0])
        assert best.worth == pytest.approx(np.mean(both))

    def test_the_search_chooses_from_what_is_plausible_and_what_was_there(self) -> None:
        objective, poor = self.before(self.LAYOUT), md.solve(self.LAYOUT, method="huang")
        samples, effort = [Sample(poor.links, poor.parity)], Effort(1, polish=20_000)
        nothing = np.empty((0, 2), dtype=np.int64)
        assert best_of(samples, self.LAYOUT, effort, 0, plausible=nothing).throughput < self.free(samples, effort)
        old = best_of(samples, self.LAYOUT, effort, 0, objective=objective, plausible=nothing)
        assert objective.before is not None
        least = metrics(objective.before.previous.topology, self.LAYOUT)["throughput"]
        assert old.throughput >= least - 1e-9
        assert best_of(samples, self.LAYOUT, effort, 0, plausible=self.LAYOUT.candidates).throughput == pytest.approx(
            self.free(samples, effort)
        )

    def free(self, samples: list[Sample], effort: Effort) -> float:
        return best_of(samples, self.LAYOUT, effort, 0).throughput


@pytest.mark.parametrize(("seed", "reach"), [(27, 0.7), (31, 0.7)])
def test_parts_are_counted_also_where_a_search_has_found_fewer(seed: int, reach: float) -> None:
    layout = Layout(drawn(12, seed), Radio(range=reach))
    nothing = Sample(np.empty((0, 2), dtype=np.int64), np.random.default_rng(seed).integers(0, 2, 12))
    best = best_of([nothing], layout, Effort(1), 0)
    assert best.report.fallback
    assert best.components == count_components(best.sample.links, 12) > 2


def assert_no_worse(
    after: Topology, before: Topology, corrected: Topology, previous: PreviousLinks | None = None
) -> None:
    """In no more parts; and of as many worth no less: T and what kept links are worth."""
    layout = after.on()
    parts = [count_components(one.links, len(layout)) for one in (after, corrected)]
    assert parts[0] <= parts[1]
    if parts[0] == parts[1]:
        there = previous or previous_links(before, before.on().fleet, layout.fleet)
        scores = [metrics(one, layout)["throughput"] for one in (after, corrected)]
        megahertz = layout.radio.bandwidth / 1e6
        worth = USUAL_SHARE * usual_link(there, layout) * megahertz
        paid = [
            worth * (int(there.linked(one.links).sum()) - int(there.new(one.links).sum())) / 2
            for one in (after, corrected)
        ]
        # What is heard from afar in large fleets is known to a search only to some digits.
        nothing = (1e-3 if len(layout) > 64 else 1e-9) * scores[1]
        assert scores[0] + paid[0] >= scores[1] + paid[1] - nothing


def scored(topology: Topology, before: Topology, best: Topology) -> tuple[float, float]:
    """T as a share of the best, and continuity."""
    share = metrics(topology, best.on())["throughput"] / metrics(best)["throughput"]
    return share, continuity(before, topology)
