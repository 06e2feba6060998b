"""A budget is a promise: plans follow from what was measured outside of the calls, and the clock is kept."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import ManetDiffError, Radio, metrics
from manetdiff.layout import Layout
from manetdiff.runtime import calibration as calibrating
from manetdiff.runtime import refine as refining
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.costs import ASSUMED, Calibration, Costs
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.plan import AMONG_ALL, SAMPLED, planned
from manetdiff.runtime.presets import PRESETS
from manetdiff.runtime.refine import Refined, best_of
from manetdiff.runtime.samples import constructed
from manetdiff.scenarios import draw
from manetdiff.solvers.budget import Budget, Meter
from support.pairs import linkable
from support.strategies import drawn

MODEL = md.load()
STEERED = Radio(pattern="parabolic")


def scaled(factor: float) -> Calibration:
    """The assumed costs on a machine that takes so many times as long."""

    def slower(costs: Costs) -> Costs:
        return Costs(**{name: value if name == "nodes" else factor * value for name, value in costs.to_dict().items()})

    return Calibration(tuple(map(slower, ASSUMED.cones)), tuple(map(slower, ASSUMED.steered)))


def rank(preset: str | None) -> int:
    return -1 if preset is None else list(PRESETS).index(preset)


class TestCosts:
    @given(st.integers(2, 1024), st.sampled_from([Radio(), STEERED]))
    def test_of_any_size_are_finite_and_grow_with_it(self, n: int, radio: Radio) -> None:
        here, larger = ASSUMED.at(n, radio), ASSUMED.at(n + 1, radio)
        for field in dataclasses.fields(Costs):
            assert 0 <= getattr(here, field.name) <= getattr(larger, field.name) < math.inf

    def test_are_those_measured_where_they_were_measured(self) -> None:
        for costs in ASSUMED.cones:
            made = ASSUMED.at(costs.nodes, Radio())
            for field in dataclasses.fields(Costs):
                assert getattr(made, field.name) == pytest.approx(getattr(costs, field.name), rel=1e-12)

    def test_survive_their_dictionary(self) -> None:
        assert Calibration.from_dict(json.loads(json.dumps(ASSUMED.to_dict()))) == ASSUMED

    @pytest.mark.parametrize("change", ["format", "cones", "nodes", "move", "order", "short", "list"])
    def test_that_make_no_sense_are_refused(self, change: str) -> None:
        values = json.loads(json.dumps(ASSUMED.to_dict()))
        wrong: dict[str, Any] = {
            "format": {**values, "format": 99},
            "cones": {**values, "cones": 5},
            "nodes": {**values, "cones": [{**values["cones"][0], "nodes": 0}, values["cones"][1]]},
            "move": {**values, "cones": [{**values["cones"][0], "move": "fast"}, values["cones"][1]]},
            "order": {**values, "steered": values["steered"][::-1]},
            "short": {**values, "steered": values["steered"][:1]},
            "list": [values],
        }
        with pytest.raises(ManetDiffError, match="calibration"):
            Calibration.from_dict(wrong[change])


class TestPlans:
    @given(st.integers(2, 1024), st.floats(0.1, 2_000), st.floats(1.0, 10.0), st.sampled_from([Radio(), STEERED]))
    def test_more_time_never_buys_less(self, n: int, ms: float, more: float, radio: Radio) -> None:
        little, much = (planned(budget / 1e3, ASSUMED, n, radio) for budget in (ms, more * ms))
        assert rank(little.preset) <= rank(much.preset)
        if much.preset is None and little.greedy == much.greedy:
            assert little.effort.polish <= much.effort.polish

    @given(st.integers(2, 1024), st.floats(0.1, 2_000), st.floats(1.0, 10.0))
    def test_a_slower_machine_never_plans_more(self, n: int, ms: float, slower: float) -> None:
        here, there = (planned(ms / 1e3, scaled(factor), n, Radio()) for factor in (1.0, slower))
        assert rank(there.preset) <= rank(here.preset)

    @given(st.integers(2, 64), st.floats(2, 500))
    def test_what_is_planned_fits_and_leaves_little_time(self, n: int, ms: float) -> None:
        costs = ASSUMED.at(n, Radio())
        plan = planned(ms / 1e3, ASSUMED, n, Radio())
        move = costs.move * (AMONG_ALL if plan.preset is None else 1.0)
        work = plan.effort.searched * plan.effort.polish * move
        work += costs.of_construction(greedy=plan.greedy) if plan.preset is None else costs.of_sampling(plan.effort)
        if plan.effort.polish:
            assert 0.8 * ms <= 1e3 * (work + plan.effort.searched * move) <= ms

    def test_what_no_clock_can_stop_leaves_room_for_a_slow_moment(self) -> None:
        costs = ASSUMED.at(16, Radio())
        for ms in np.geomspace(2, 500, 300):
            plan = planned(ms / 1e3, ASSUMED, 16, Radio())
            assert plan.preset is None or costs.of_sampling(plan.effort) <= SAMPLED * ms / 1e3

    def test_without_a_say_of_the_network_there_is_no_preset(self) -> None:
        plan = planned(0.05, ASSUMED, 16, STEERED, network=False)
        assert plan.preset is None
        assert plan.effort.polish > 0


class TestCalls:
    def test_a_larger_budget_buys_a_preset_with_more_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(MODEL, "_calibration", ASSUMED)
        reports = [MODEL.generate(drawn(16), budget_ms=ms).report for ms in (0.01, 1_000.0)]
        assert [report.preset for report in reports] == [None, list(PRESETS)[-1]]
        assert [report.budget_ms for report in reports] == [0.01, 1_000.0]

    def test_what_fits_instead_of_a_preset_is_said_and_valid(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Costs of a slow machine: nothing of the network fits, and yet there is all the time in the world.
        monkeypatch.setattr(MODEL, "_calibration", scaled(1e5))
        for n in (2, 9, 30):
            radio = Radio(range=10.0)
            first, second = (MODEL.generate(drawn(n), radio=radio, budget_ms=60_000, seed=3) for _ in range(2))
            assert first == second
            assert first.report.method in ("mst", "mst-greedy")
            assert first.report.weights is first.report.preset is None
            assert metrics(first, drawn(n), radio)["valid"] == 1.0

    def test_pins_are_kept_without_the_network_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(MODEL, "_calibration", scaled(1e5))
        fleet = drawn(12)
        plain = MODEL.generate(fleet, budget_ms=60_000)
        missing = [(0, j) for j in range(1, 12) if (0, j) not in map(tuple, plain.links.tolist())]
        keep = next(pair for pair in missing if linkable(fleet)[pair])
        made = MODEL.generate(fleet, budget_ms=60_000, keep=[keep], silent=[11])
        assert keep in map(tuple, made.links.tolist())
        assert 11 not in made.links

    def test_nothing_is_measured_inside_a_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise AssertionError("measured inside a call")

        monkeypatch.setattr("manetdiff.runtime.model.measured", refuse)
        monkeypatch.setattr(MODEL, "_calibration", None)
        assert MODEL.generate(drawn(16), budget_ms=10).report.budget_ms == 10

    def test_a_dense_network_has_no_say_under_another_kind_of_beam(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dense = md.load("netdiff-small")
        for model, method in ((dense, "mst-greedy"), (MODEL, "netdiff")):
            monkeypatch.setattr(model, "_calibration", ASSUMED)
            report = model.generate(drawn(12), radio=STEERED, budget_ms=1_000).report
            assert report.method == method
            assert (report.preset is None) == (model is dense)

    @pytest.mark.parametrize("name", ["preset", "steps", "samples", "polish", "correct"])
    def test_a_budget_beside_what_it_decides_is_refused(self, name: str) -> None:
        value: Any = {"preset": "fast", "correct": False}.get(name, 3)
        with pytest.raises(ManetDiffError, match=f"budget_ms says how much is done: give it or {name}"):
            MODEL.generate(drawn(5), budget_ms=10, **{name: value})


class TestTheClock:
    def test_past_its_deadline_a_call_still_has_a_corrected_topology(self) -> None:
        layout = Layout(drawn(16))
        samples = [constructed(layout), constructed(layout, greedy=False)]
        late = best_of(samples, layout, Effort(1, 2, polish=5_000), 0, deadline=time.perf_counter() - 1)
        assert late.report.valid
        assert late.report.cut_short
        assert (late.report.kept, late.report.polish.moves) == (0, 0)

    def test_with_time_to_spare_all_moves_are_made(self) -> None:
        layout = Layout(drawn(16))
        spare = best_of([constructed(layout)], layout, Effort(1, polish=777), 0, deadline=time.perf_counter() + 3600)
        assert (spare.report.polish.moves, spare.report.cut_short) == (777, False)

    def test_joining_parts_comes_before_more_throughput(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(1)
        layout = Layout([draw("mixed", 20, rng) for _ in range(7)][-1], Radio())
        tree = constructed(layout, None, greedy=True)
        assert best_of([tree], layout, Effort(1), 0).report.fallback  # correction alone leaves it in parts
        deadline = time.perf_counter() + 10

        def until_the_end(bench: object, one: Refined, *rest: object) -> Refined:
            monkeypatch.setattr(time, "perf_counter", lambda: deadline)
            return one

        monkeypatch.setattr(refining, "_searched", until_the_end)
        assert best_of([tree], layout, Effort(1, polish=5), 0, deadline).components == 1

    def test_without_the_time_to_search_anew_parts_are_searched_from(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(1)
        layout = Layout([draw("mixed", 20, rng) for _ in range(7)][-1], Radio())
        monkeypatch.setattr(refining, "UNTIL_FALLBACK", math.inf)
        tree, deadline = constructed(layout, None, greedy=True), time.perf_counter() + 3600
        assert best_of([tree], layout, Effort(1, polish=5), 0, deadline).report.polish.moves == 5

    def test_a_meter_has_no_moves_left_when_the_clock_has_run_out(self) -> None:
        late = Meter(Budget(moves=100, deadline=time.perf_counter() - 1))
        assert (late.moves_left(at_least=10), late.late, late.spent) == (0, True, 1.0)
        early = Meter(Budget(moves=100, deadline=time.perf_counter() + 3600))
        assert (early.moves_left(at_least=10), early.late, early.spent) == (10, False, 0.0)


class TestCalibrate:
    @pytest.fixture(autouse=True)
    def own_cache(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("MANETDIFF_CACHE_DIR", str(tmp_path / "cache"))

    def test_what_was_measured_is_remembered_for_the_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        counted = []
        monkeypatch.setattr(calibrating, "SIZES", (4, 6))
        monkeypatch.setattr(calibrating, "LARGE_SIZES", ())
        real = calibrating.measured

        def counting(chain: Chain, radio: Radio) -> Calibration:
            counted.append(radio)
            return real(chain, radio)

        monkeypatch.setattr("manetdiff.runtime.model.measured", counting)
        first = md.load()
        made = first.calibrate()
        assert [costs.nodes for costs in made.cones] == [4, 6]
        assert made.at(5, Radio()).move > 0
        assert first.calibrate() is made
        assert md.load().calibrate() == made
        assert len(counted) == 1
        first.calibrate(again=True)
        assert len(counted) == 2

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 100_000, b'{"format": 1, "cones": [1, 2]}'])
    def test_a_torn_file_counts_as_not_there(self, content: bytes) -> None:
        chain = MODEL._chain
        calibrating.remember(chain, ASSUMED)
        assert calibrating.remembered(chain) == ASSUMED
        path = calibrating._path(chain)
        assert path is not None
        path.write_bytes(content)
        assert calibrating.remembered(chain) is None

    def test_a_library_under_another_name_is_not_remembered_by(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def version(name: str) -> str:
            raise PackageNotFoundError(name)

        monkeypatch.setattr(calibrating, "version", version)
        calibrating.remember(MODEL._chain, ASSUMED)
        assert calibrating.remembered(MODEL._chain) is None

    def test_without_a_place_to_remember_it_all_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MANETDIFF_CACHE_DIR", "/proc/none")
        calibrating.remember(MODEL._chain, ASSUMED)
        assert calibrating.remembered(MODEL._chain) is None
