"""Ways of making topologies: what is made of each layout, how it is scored and timed, and what makes another row."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.measure import drawn
from manetdiff.measure.drawn import drawn_set
from manetdiff.measure.moved import Moved, followed
from manetdiff.measure.rows import Row, Rows, targets
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways import runtime, solvers, updates
from manetdiff.measure.ways.corrected_samples import corrected
from manetdiff.measure.ways.priors import PRIORS, searched
from manetdiff.measure.ways.repairs import WAYS, repaired
from manetdiff.measure.ways.runtime import blurred, correction, generated, model_of, with_generated
from manetdiff.measure.ways.samples import sampled
from manetdiff.measure.ways.solvers import solved, solved_by_size
from manetdiff.measure.ways.timing import timed
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.reproduce.weights import UnavailableError, weights_of
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.sampling import SamplerConfig
from manetdiff.scenarios import AIR, move_by
from manetdiff.solvers import correct, polish, solve
from manetdiff.topology import METRICS, Topology, continuity, metrics
from manetdiff.weights import DEFAULT, PAPER, WEIGHTS_FILE, known
from support.measured_help import hand_made, refuse

WIDE = Radio(theta_max=np.pi / 4)


@pytest.fixture(scope="module")
def few() -> LayoutSet:
    return benchmark_set("bench16").first(2)


@pytest.fixture
def made() -> list[str]:
    """What the store had to measure, in order."""
    return []


@pytest.fixture
def store(tmp_path: Path, made: list[str]) -> RowStore:
    return RowStore(tmp_path, made.append)


@pytest.fixture(scope="module")
def weights() -> Weights:
    torch.set_num_threads(1)
    torch.manual_seed(3)
    config, process = ModelConfig(width=8, blocks=1), Process(2.6)
    return Weights(
        config,
        process,
        Radio(),
        dict(build(config, process).state_dict()),
        SamplerConfig(2, temperature=1.0, decide=False),
    )


def without_times(rows: Rows) -> list[Row]:
    return [{key: value for key, value in row.items() if not key.endswith("milliseconds")} for row in rows.rows]


def expected(layouts: LayoutSet, topologies: list[Topology]) -> list[Row]:
    pairs = zip(layouts, topologies, strict=True)
    return [{**metrics(topology, one.fleet), "target": one.metrics["throughput"]} for one, topology in pairs]


class TestTimed:
    def test_each_layout_has_its_own_time_and_what_comes_before_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = 0.0
        called: list[int] = []

        def ready(one: SolvedLayout) -> Callable[[], Topology]:
            nonlocal now
            now += 1000.0  # outside the clock

            def make() -> Topology:
                nonlocal now
                now += 1.0 + one.index + 10 * (called == [])
                called.append(one.index)
                return one.topology

            return make

        monkeypatch.setattr(time, "perf_counter", lambda: now)
        monkeypatch.setattr(time, "process_time", lambda: now / 2)
        rows = list(timed(hand_made(3), ready))
        # The first call is made twice, and the second time is taken.
        assert called == [0, 0, 1, 2]
        assert [row["milliseconds"] for row in rows] == [1e3 * seconds for seconds in (1, 2, 3)]
        assert [row["processor_milliseconds"] for row in rows] == [5e2 * seconds for seconds in (1, 2, 3)]
        assert without_times(Rows(rows)) == expected(hand_made(3), [one.topology for one in hand_made(3)])

    def test_is_scored_without_a_word_at_the_true_place_by_the_radio_that_it_was_made_for(self) -> None:
        (one,) = hand_made(1)

        def in_parts_elsewhere() -> Topology:
            warnings.warn("in parts", DisconnectedWarning, stacklevel=2)
            where = Layout(one.fleet.replace(yaw=one.fleet.yaw + 1), WIDE)
            return Topology(one.topology.links[:2], one.topology.parity, layout=where)

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            (row,) = timed([one], lambda one: in_parts_elsewhere)
        assert told == []
        left = Topology(one.topology.links[:2], one.topology.parity)
        assert {name: row[name] for name in (*METRICS, "sustained")} == metrics(left, one.fleet, WIDE)
        assert row["connected"] == 0.0


class TestSets:
    def test_a_benchmark_is_read_by_index_and_named_by_its_file(self) -> None:
        everything = benchmark_set("bench16")
        few = everything.first(3)
        assert (len(everything), everything.nodes, len(everything.first(None))) == (1000, 16, 1000)
        assert [one.index for one in few] == [0, 1, 2]
        assert few.name == "3 layouts of bench16"
        assert few.first(1).name == "1 layout of bench16"
        assert few.key == everything.key != benchmark_set("bench32").key
        family = everything.layout(2).family
        assert {one.family for one in everything.of_family(family).first(4)} == {family}

    def test_targets_have_all_of_their_own_throughput_and_no_time(self, few: LayoutSet) -> None:
        rows = targets(few)
        ratio = rows.cell("ratio")
        assert (ratio.mean, ratio.low, ratio.high) == (1.0, 1.0, 1.0)
        assert rows.mean("throughput") == pytest.approx(np.mean([one.metrics["throughput"] for one in few]))
        assert not rows.has("milliseconds")

    def test_drawn_layouts_are_the_same_each_time_with_the_families_in_turn(self) -> None:
        first, again = list(drawn_set(6, 3)), list(drawn_set(6, 2))
        assert [(one.index, one.family, len(one.fleet)) for one in first] == [(k, AIR[k], 6) for k in range(3)]
        for one, other in zip(first, again, strict=False):
            assert np.array_equal(one.fleet.positions, other.fleet.positions)
            assert (one.topology, one.metrics) == (other.topology, other.metrics)
        # The second time that a family's turn comes, it is another layout of it.
        turn = drawn_set(6, len(AIR) + 1).layout(len(AIR))
        assert turn.family == first[0].family
        assert not np.allclose(turn.fleet.positions, first[0].fleet.positions)

    def test_drawn_layouts_are_solved_and_scored_for_their_radio(self) -> None:
        one = drawn_set(10, 1, WIDE).layout(0)
        assert one.metrics == metrics(one.topology, one.fleet, WIDE)
        assert one.topology == solve(one.fleet, WIDE, moves=15_000)
        assert drawn_set(10, 1).key != drawn_set(10, 1, WIDE).key != drawn_set(11, 1, WIDE).key

    def test_drawn_layouts_are_not_solved_where_their_rows_are_kept(
        self, store: RowStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = solved(store, "greedy", drawn_set(6, 2))
        monkeypatch.setattr(drawn, "solve", refuse)
        assert solved(store, "greedy", drawn_set(6, 2)) == first
        with pytest.raises(AssertionError, match="measured"):
            solved(store, "greedy", drawn_set(6, 3))


class TestSolved:
    def test_rows_are_the_metrics_of_the_solver_with_a_seed_for_each_layout(self, few: LayoutSet) -> None:
        rows = solved(RowStore(), "annealing", few, moves=200)
        made = [solve(one.fleet, method="annealing", moves=200, seed=k) for k, one in enumerate(few)]
        assert without_times(rows) == expected(few, made)

    def test_budgets_grow_with_the_fleet_where_they_are_a_node(self, few: LayoutSet) -> None:
        searched = solved_by_size(RowStore(), "reference", few, moves_a_node=20)
        assert without_times(searched) == without_times(solved(RowStore(), "reference", few, moves=20 * few.nodes))
        polished = solved_by_size(RowStore(), "mst-greedy", few, polish_a_node=10)
        made = [solve(one.fleet, method="mst-greedy") for one in few]
        made = [polish(one, moves=10 * few.nodes, seed=k) for k, one in enumerate(made)]
        assert without_times(polished) == expected(few, made)

    def test_tables_of_a_layout_are_computed_while_the_clock_runs(
        self, few: LayoutSet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However often its layouts were looked at before, a set is solved from positions."""
        given: list[object] = []

        def note(fleet: Fleet, *others: object, **options: object) -> Topology:
            given.append(fleet)
            return few.layout(0).topology

        monkeypatch.setattr(solvers, "solve", note)
        solved(RowStore(), "greedy", few)
        assert given == [few.layout(0).fleet, *(one.fleet for one in few)]

    def test_the_omnidirectional_protocol_is_scored_by_its_own_physics(self, few: LayoutSet) -> None:
        rows = solved(RowStore(), "omni", few)
        own = [metrics(solve(one.fleet, method="omni"), one.fleet, Radio().omnidirectional()) for one in few]
        assert rows.values("throughput")[0].tolist() == [one["throughput"] for one in own]

    def test_every_part_of_the_question_makes_another_row(self, store: RowStore, made: list[str]) -> None:
        some = hand_made(1)
        solved(store, "annealing", some, moves=20)
        solved(store, "annealing", some, moves=21)
        solved(store, "annealing", some, seconds=0.001)
        solved(store, "annealing", some, seconds=0.002)
        solved(store, "reference", some, moves=20)
        assert len(made) == 5
        assert made[1:3] == [f"annealing, {budget}, 1 layout of rows of four" for budget in ("21 moves", "1 ms")]


class TestPriors:
    def test_a_prior_is_corrected_and_no_search_from_it_makes_it_worse(self, few: LayoutSet) -> None:
        methods = {"nearest in sector": "huang", "MST+greedy": "mst-greedy"}
        assert list(PRIORS) == list(methods)
        for prior, method in methods.items():
            plain = searched(RowStore(), prior, few)
            made = [correct(solve(one.fleet, method=method), flip_parts=True) for one in few]
            assert without_times(plain) == expected(few, made)
            short, long, timed_out = (
                searched(RowStore(), prior, few, **budget)
                for budget in ({"moves_a_node": 20}, {"moves_a_node": 200}, {"seconds": 1e-9})
            )
            t_plain, t_short, t_long = (rows.mean("throughput") for rows in (plain, short, long))
            assert t_plain <= t_short
            assert t_plain < t_long
            assert long.mean("valid") == 1.0
            assert without_times(timed_out) == without_times(plain)

    def test_every_part_of_the_question_makes_another_row(self, store: RowStore, made: list[str]) -> None:
        some = hand_made(1)
        searched(store, "MST+greedy", some)
        searched(store, "nearest in sector", some)
        searched(store, "MST+greedy", some, moves_a_node=2)
        searched(store, "MST+greedy", some, seconds=0.001)
        searched(store, "MST+greedy", some, seconds=0.001)
        assert made[2:] == [
            f"MST+greedy + search, {budget}, 1 layout of rows of four" for budget in ("2 moves a node", "1 ms")
        ]


class TestGenerated:
    def test_rows_are_what_the_model_makes_with_a_seed_for_each_layout(
        self, few: LayoutSet, store: RowStore, made: list[str]
    ) -> None:
        model = model_of(DEFAULT)
        for first in (0, 4):
            rows = generated(store, few, preset="instant", first_seed=first)
            topologies = [model.generate(one.fleet, preset="instant", seed=first + k) for k, one in enumerate(few)]
            assert without_times(rows) == expected(few, topologies)
        generated(store, few, steps=1, correct=False, polish=False)
        assert made[0] == f"{DEFAULT}, preset instant, 2 layouts of bench16"
        assert len(made) == 3

    def test_what_is_told_of_blurred_positions_is_scored_at_the_true_ones(
        self, few: LayoutSet, store: RowStore, made: list[str]
    ) -> None:
        rows = generated(store, few, noise=0.3, preset="instant")
        told = [blurred(one.fleet, 0.3, k) for k, one in enumerate(few)]
        topologies = [model_of(DEFAULT).generate(fleet, preset="instant", seed=k) for k, fleet in enumerate(told)]
        assert without_times(rows) == expected(few, topologies)
        assert rows.mean("ratio") < generated(store, few, preset="instant").mean("ratio") - 0.05
        assert len(made) == 2

    def test_noise_is_in_units_of_the_fleets_spread_and_the_same_for_a_seed(self) -> None:
        fleet = Fleet(np.random.default_rng(2).normal(scale=(300.0, 20.0), size=(400, 2)), np.linspace(0.0, 3.0, 400))
        off = blurred(fleet, 0.1, 3).positions - fleet.positions
        assert float(np.sqrt(np.mean(off**2))) == pytest.approx(0.1 * fleet.spread, rel=0.1)
        # In all directions.
        assert np.abs(off.mean(0)).max() < 0.02 * fleet.spread
        same, other = blurred(fleet, 0.1, 3), blurred(fleet, 0.1, 4)
        assert np.array_equal(same.positions, fleet.positions + off)
        assert not np.allclose(other.positions, same.positions)
        assert np.array_equal(same.yaw, fleet.yaw)

    def test_the_correction_is_timed_by_itself(self, few: LayoutSet, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Topology] = []

        def note(raw: Topology, layout: Layout) -> Topology:
            # Nothing is computed for it yet.
            assert "tables" not in vars(layout)
            asked.append(raw)
            return correct(raw, layout)

        monkeypatch.setattr(runtime, "correct", note)
        rows = correction(RowStore(), few, steps=1)
        raw = [
            model_of(DEFAULT).generate(one.fleet, steps=1, correct=False, polish=False, seed=one.index) for one in few
        ]
        assert asked == [raw[0], *raw]
        assert without_times(rows) == expected(few, [correct(one) for one in raw])
        asked.clear()
        correction(RowStore(), few.first(1), weights=PAPER, steps=1)
        assert asked[0] == model_of(PAPER).generate(few.layout(0).fleet, steps=1, correct=False, polish=False)

    def test_another_runtime_file_makes_other_rows(
        self, few: LayoutSet, store: RowStore, made: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        generated(store, few.first(1), steps=1)

        def exported_again(name: str) -> Bundle:
            bundle = find_bundle(name)
            return dataclasses.replace(bundle, graphs={**bundle.graphs, "step": b"another"})

        monkeypatch.setattr(runtime, "find_bundle", exported_again)
        runtime.runtime_files.cache_clear()
        generated(store, few.first(1), steps=1)
        runtime.runtime_files.cache_clear()
        assert len(made) == 2


class TestAfterAMovement:
    def test_rows_are_scored_where_the_fleet_is_now_against_a_search_there(
        self, few: LayoutSet, store: RowStore, made: list[str]
    ) -> None:
        given: list[tuple[Topology, int]] = []

        def fewer_links(old: Topology, fleet: Fleet, index: int) -> Topology:
            given.append((old, index))
            return Topology(old.links[:5], old.parity)

        def rows(way: str, movement: float) -> Rows:
            return followed(
                store, way, {"way": way}, Moved(few, movement, 500), fewer_links, code="manetdiff.measure.moved"
            )

        found = rows("fewer", 0.3)
        first, second = few
        assert given == [(first.topology, 0), (first.topology, 0), (second.topology, 1)]
        for index, (row, one) in enumerate(zip(found.rows, few, strict=True)):
            fleet = move_by(one.fleet, 0.3, np.random.default_rng(index))
            left = Topology(one.topology.links[:5], one.topology.parity)
            assert {name: row[name] for name in (*METRICS, "sustained")} == metrics(left, fleet)
            assert row["continuity"] == continuity(one.topology, left) < 0.5
            assert row["target"] == metrics(solve(fleet, method="reference", moves=500))["throughput"]
        for way, movement in (("fewer", 0.3), ("fewer", 0.1), ("other", 0.3)):
            rows(way, movement)
        assert made == [
            "fewer, 2 layouts of bench16 moved by 0.3",
            "fewer, 2 layouts of bench16 moved by 0.1",
            "other, 2 layouts of bench16 moved by 0.3",
        ]

    def test_the_model_updates_the_old_topology_or_makes_one_anew(self, few: LayoutSet) -> None:
        change = Moved(few, 0.1, 200)
        before, after = few.layout(1), change.after.layout(1)
        model = model_of(DEFAULT)
        rows = updates.updated(RowStore(), change, "standard", steps=2, correct=False)
        made = model.update(before.topology, after.fleet, mode="standard", steps=2, correct=False, seed=1)
        assert rows.rows[1]["throughput"] == metrics(made)["throughput"]
        assert rows.rows[1]["continuity"] == continuity(before.topology, made)
        anew = updates.updated(RowStore(), change, "anew", steps=1, correct=False, polish=False)
        made = model.generate(after.fleet, steps=1, correct=False, polish=False, seed=1)
        assert anew.rows[1]["throughput"] == metrics(made)["throughput"]

    def test_the_topologies_before_may_be_a_presets(self, few: LayoutSet) -> None:
        other = with_generated(few, "instant")
        assert other.layout(1).topology == model_of(DEFAULT).generate(few.layout(1).fleet, preset="instant", seed=1)
        assert other.layout(1).metrics == metrics(other.layout(1).topology)
        assert other.key != few.key
        assert runtime.__name__ in other.code
        assert with_generated(few, "instant", weights=PAPER).key != other.key

    @pytest.mark.parametrize("way", WAYS)
    def test_solvers_repair_the_old_links(self, few: LayoutSet, way: str) -> None:
        rows = repaired(RowStore(), Moved(few, 0.1, 200), way)
        assert [row["valid"] for row in rows.rows] == [1.0, 1.0]
        assert rows.mean("continuity") > 0.3


class TestSampled:
    def test_rows_are_the_metrics_of_samples_by_index(self, few: LayoutSet, weights: Weights, store: RowStore) -> None:
        rows = sampled(store, weights, few.first(1))
        both = sampled(store, weights, few)
        # The second layout's sample does not depend on whether the first is beside it.
        assert both.rows[0] == rows.rows[0]
        assert without_times(sampled(RowStore(), weights, few)) == without_times(both)
        assert all(row["milliseconds"] > 0 for row in both.rows)
        assert both.rows[0]["target"] == few.layout(0).metrics["throughput"]
        # The same layout under two indices is sampled from two streams.
        twice = dataclasses.replace(few, layout=lambda index: dataclasses.replace(few.layout(0), index=index))
        first, second = without_times(sampled(RowStore(), weights, twice))
        assert first == without_times(both)[0] != second

    def test_corrected_rows_are_valid_and_kept_apart_from_raw_ones(
        self, few: LayoutSet, weights: Weights, store: RowStore, made: list[str]
    ) -> None:
        # An untrained network, so that the raw ones cannot be valid by luck.
        assert [row["valid"] for row in sampled(store, weights, few).rows] == [0.0, 0.0]
        assert [row["valid"] for row in corrected(store, weights, few, name="mine").rows] == [1.0, 1.0]
        assert made == ["weights, 2 layouts of bench16", "mine, corrected, 2 layouts of bench16"]

    def test_weights_are_sampled_as_they_say_unless_something_else_is_asked_for(
        self, few: LayoutSet, weights: Weights
    ) -> None:
        many = dataclasses.replace(weights, sampling=SamplerConfig(steps=2, redundancy=1e6))
        own, scarce = sampled(RowStore(), many, few), sampled(RowStore(), many, few, redundancy=1e-6)
        assert own.mean("links") > 60 > scarce.mean("links")

    def test_another_network_sampling_seed_or_radio_is_another_row_and_another_card_is_not(
        self, few: LayoutSet, weights: Weights, store: RowStore, made: list[str]
    ) -> None:
        one = few.first(1)
        first = sampled(store, weights, one)
        name, tensor = max(weights.tensors.items(), key=lambda item: item[1].numel())
        retrained = dataclasses.replace(weights, tensors={**weights.tensors, name: tensor * 1.001})
        sampled(store, retrained, one)
        sampled(store, weights, one, steps=3)
        other = sampled(store, weights, one, seed=5)
        wide = sampled(store, weights, one, radio=WIDE)
        assert len(made) == 5
        assert other.rows[0]["links"] != first.rows[0]["links"]
        assert wide.rows[0]["throughput"] != first.rows[0]["throughput"]
        sampled(store, dataclasses.replace(weights, card={"note": "scored again"}), one, name="renamed")
        assert len(made) == 5


def test_weights_that_come_with_the_sources_only_are_said_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    at_hand = known(WEIGHTS_FILE)["acam-wide-123"]
    monkeypatch.setattr("manetdiff.weights.finder.STUDIES", tmp_path)
    with pytest.raises(UnavailableError, match="acam-wide-123 come with the sources"):
        weights_of.__wrapped__("acam-wide-123")
    (tmp_path / at_hand.name).write_bytes(at_hand.read_bytes())
    assert weights_of.__wrapped__("acam-wide-123").tensors


def test_the_packaged_targets_are_what_is_said_of_them() -> None:
    for name, nodes, count in (("bench16", 16, 1000), ("bench32", 32, 500)):
        layouts = load_benchmark(name)
        assert len(layouts) == count
        assert {len(one.fleet) for one in layouts} == {nodes}
        # A few are scored again; all of them say what they were scored.
        for one in layouts[::25]:
            again = metrics(one.topology, one.fleet, Radio())
            assert one.metrics == pytest.approx({name: again[name] for name in METRICS})
        mean = Rows([dict(one.metrics) for one in layouts]).means(METRICS)
        assert (mean["connected"], mean["parity"]) == (1.0, 1.0)
        if name == "bench16":
            assert 20 <= mean["links"] <= 23
            assert 0.78 <= mean["mean_length"] <= 0.92
            assert 3.4 <= mean["link_throughput"] <= 3.9
