"""An update never harms, whatever the network says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import manetdiff as md
from manetdiff import Fleet, Radio, Topology, correct, kept, metrics, polish
from manetdiff.layout import Layout
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.no_harm import LOYALTY, MOVES_A_NODE, carried_over, no_worse
from manetdiff.runtime.options import Options
from manetdiff.runtime.partial import Mode
from manetdiff.runtime.previous import previous_links
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Sample
from manetdiff.runtime.task import Task
from manetdiff.scenarios import move_by
from manetdiff.topology import count_components
from support.strategies import drawn

MODEL = md.load(threads=1)
# Far from what the network was trained for, and near.
RADIOS = {
    "link budget": Radio.from_link_budget(5e9, 20e6, 2.0, 18.0, 5.0),
    "narrow": Radio.from_link_budget(2.4e9, 10e6, 5.0, 24.0, 5.0),
    "default": Radio(),
}


def solved(fleet: Fleet, radio: Radio) -> Topology:
    return md.solve(fleet, radio, moves=3_000)


class TestUnmoved:
    @pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
    @pytest.mark.parametrize("mode", ["auto", "minor", "standard", "guided"])
    def test_a_fleet_keeps_its_topology(self, radio: Radio, mode: Mode) -> None:
        before = solved(drawn(12), radio)
        after = MODEL.update(before, drawn(12), mode=mode)
        assert after == before
        assert (after.report.mode, after.report.continuity) == ("unmoved", 1.0)
        assert after.report.throughput == pytest.approx(metrics(before)["throughput"])

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


@pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
@pytest.mark.parametrize("movement", [0.05, 0.2, 1.0])
def test_no_update_has_less_throughput_and_fewer_links_than_the_old_ones_corrected_and_polished(
    radio: Radio, movement: float
) -> None:
    for seed in range(2):
        fleet = drawn(13, seed)
        before = solved(fleet, radio)
        moved = move_by(fleet, movement, np.random.default_rng(seed))
        after = MODEL.update(before, moved, seed=seed)
        corrected = correct(before, moved, radio, flip_parts=True)
        for other in (corrected, polish(corrected, moves=MOVES_A_NODE * len(fleet), seed=seed)):
            scores, others = metrics(after), metrics(other, moved, radio)
            assert scores["connected"] >= others["connected"]
            if scores["connected"] == others["connected"]:  # a network in parts is no better for its throughput
                less = scores["throughput"] < others["throughput"] - 1e-9
                assert not (less and kept(before, after) < kept(before, other) - 1e-9)
                if after.report.fallback:
                    assert worth(after, before, moved) >= worth(other, before, moved) - 1e-9


def worth(topology: Topology, before: Topology, moved: Fleet) -> float:
    """T, and what its kept links count for."""
    radio = before.on().radio
    links = kept(before, topology) * len(before.links)
    return metrics(topology, moved, radio)["throughput"] + LOYALTY * radio.bandwidth / 1e6 * links


@pytest.mark.parametrize("worse", [{"throughput": 0.9}, {"components": 2}])
def test_who_keeps_as_many_links_must_not_have_less_throughput_or_more_parts(worse: dict[str, float]) -> None:
    fleet = drawn(12)
    before = solved(fleet, Radio())
    layout = Layout(move_by(fleet, 0.05, np.random.default_rng(0)))
    previous, task = previous_links(before, fleet, layout.fleet), Task(layout, Options(), 0.0)
    corrected = best_of([carried_over(previous, None)], layout, Effort(1), 0)
    assert no_worse(corrected, previous, task) is corrected
    harmed = corrected._replace(**{name: value * getattr(corrected, name) for name, value in worse.items()})
    assert no_worse(harmed, previous, task) is not harmed


@pytest.mark.parametrize(("seed", "reach"), [(27, 0.7), (31, 0.7)])
def test_parts_are_counted_also_where_a_search_has_found_fewer(seed: int, reach: float) -> None:
    layout = Layout(drawn(12, seed), Radio(range=reach))
    nothing = Sample(np.empty((0, 2), dtype=np.int64), np.random.default_rng(seed).integers(0, 2, 12))
    best = best_of([nothing], layout, Effort(1), 0)
    assert best.report.fallback
    assert best.components == count_components(best.sample.links, 12) > 2


def test_the_report_says_how_long_it_took_to_look_at_the_old_links() -> None:
    fleet = drawn(14)
    before = solved(fleet, RADIOS["link budget"])
    told = MODEL.update(before, move_by(fleet, 0.2, np.random.default_rng(0))).report
    assert 0 < told.stages["old links"] < sum(told.stages.values()) <= told.seconds
