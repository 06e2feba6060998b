"""Presets against peers in the same time: who gets how long, what is kept, and who is said to be ahead."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from manetdiff.cli.app import app
from manetdiff.cli.bench_presets import beside
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS, SPACING
from manetdiff.errors import ModelError, SolverError
from manetdiff.evaluate import other_fleets, preset_frontier
from manetdiff.evaluate.other_fleets import FIRST_SEEDS, under_radios, unlike_training
from manetdiff.evaluate.preset_frontier import PEERS, Lead, Match, layouts_of, matches, points_of, time_exponents
from manetdiff.measure import spaced, unlike
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.spaced import spaced_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.unlike import SIZES, UNLIKE, unlike_set
from manetdiff.scenarios.spacing import spacing_of
from support.measured_help import refuse, rows_of

SMALL = (6, 16)
FAST = ("instant", "fast")


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets need not be good ones here, and nobody searches for long."""
    monkeypatch.setattr(spaced, "MOVES_A_NODE", 500)
    monkeypatch.setattr(unlike, "MOVES_A_NODE", 50)
    monkeypatch.setattr(other_fleets, "LONG_SECONDS", 0.002)
    monkeypatch.setattr(other_fleets, "DEFAULT", "instant")


def match(nodes: int, ours: list[float], milliseconds: float = 1.0, **theirs: list[float]) -> Match:
    def made(ratios: list[float], took: float) -> Rows:
        return rows_of(
            throughput=ratios, target=1.0, milliseconds=took, processor_milliseconds=took, connected=1.0, valid=1.0
        )

    return Match(nodes, "fast", made(ours, milliseconds), {name: made(one, 1.0) for name, one in theirs.items()})


class TestMatches:
    def test_every_peer_with_a_budget_gets_the_mean_time_that_the_preset_took(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given: list[tuple[str, str, float]] = []

        def noted(name: str) -> Callable[[RowStore, LayoutSet, float], Rows]:
            def peer(store: RowStore, layouts: LayoutSet, seconds: float) -> Rows:
                given.append((name, layouts.of, seconds))
                return PEERS["mst-greedy"](store, layouts, seconds)

            return peer

        monkeypatch.setattr(preset_frontier, "PEERS", {name: noted(name) for name in PEERS})
        found = matches(RowStore(), SMALL[::-1], layouts=2, presets=FAST)
        assert [(one.nodes, one.preset) for one in found] == [(nodes, preset) for nodes in SMALL for preset in FAST]
        for one in found:
            assert one.rows.layouts == 2
            assert {rows.layouts for rows in one.peers.values()} == {2}
            took = np.mean([row["milliseconds"] for row in one.rows.rows]) / 1e3
            for name in PEERS:
                *told, seconds = given.pop(0)
                assert told == [name, spaced_set(one.nodes).of]
                assert seconds == pytest.approx(took)
        assert given == []

    def test_searches_are_asked_for_that_time_and_constructions_for_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (one,) = matches(RowStore(tmp_path), [6], layouts=1, presets=["instant"])
        kept = [json.loads(json.loads(path.read_text())["what"]) for path in tmp_path.glob("*.json")]
        budgets = {what.get("method") or what["prior"]: what["seconds"] for what in kept if "generate" not in what}
        took = pytest.approx(one.rows.mean("milliseconds") / 1e3)
        timed = dict.fromkeys(("reference", "annealing", "MST+greedy", "nearest in sector"), took)
        assert budgets == {**timed, "mst-greedy": None}
        # All of it is kept: rows, and the targets that took long to find.
        monkeypatch.setattr("manetdiff.measure.ways.runtime.timed", refuse)
        monkeypatch.setattr("manetdiff.measure.ways.solvers.timed", refuse)
        monkeypatch.setattr("manetdiff.measure.ways.priors.timed", refuse)
        monkeypatch.setattr(spaced, "make_layouts", refuse)
        assert matches(RowStore(tmp_path), [6], layouts=1, presets=["instant"]) == [one]

    def test_presets_must_be_known(self) -> None:
        with pytest.raises(ModelError, match="unknown preset 'hasty'; known are instant"):
            matches(RowStore(), SMALL, presets=["hasty"])

    def test_larger_fleets_have_fewer_layouts(self) -> None:
        wanted = {16: 200, 32: 200, 64: 40, 128: 40, 256: 12, 512: 4, 1000: 4}
        assert {nodes: layouts_of(nodes) for nodes in wanted} == wanted


class TestStandings:
    def test_a_lead_is_of_pairs_so_that_hard_layouts_are_no_part_of_its_doubt(self) -> None:
        hard_and_easy = [0.5, 0.9, 0.7, 0.8]
        one = match(16, [ratio + 0.01 for ratio in hard_and_easy], reference=hard_and_easy)
        lead = one.leads["reference"]
        assert (lead.mean, lead.low, lead.high) == pytest.approx((0.01, 0.01, 0.01))

    @pytest.mark.parametrize(
        ("lead", "verdict"),
        [
            (Lead(0.2, 0.1, 0.3), "ahead"),
            (Lead(0.2, -0.1, 0.5), "level"),
            (Lead(-0.2, -0.3, -0.1), "behind"),
            (Lead(0.2, 1e-16, 0.3), "level"),  # the same links on some layouts
            (Lead(-0.2, -0.3, -1e-16), "level"),
        ],
    )
    def test_a_verdict_needs_the_whole_interval(self, lead: Lead, verdict: str) -> None:
        assert lead.verdict == verdict

    def test_ahead_is_ahead_of_all(self) -> None:
        ours, less, more = [0.9, 0.9], [0.8, 0.8], [1.0, 1.0]
        assert match(16, ours, a=less, b=less).verdict == "ahead"
        assert match(16, ours, a=less, b=ours, c=ours).verdict == "level with b, c"
        assert match(16, ours, a=more, b=ours, c=less).verdict == "behind a"

    def test_times_are_fitted_from_64_nodes_on(self) -> None:
        found = [match(nodes, [1.0], 5.0 if nodes < 64 else nodes**1.5) for nodes in (16, 32, 64, 128, 256)]
        assert time_exponents(found) == {"fast": pytest.approx(1.5)}
        assert time_exponents(found[:4]) == {"fast": None}

    def test_a_construction_is_one_point_of_a_picture_and_others_one_for_each_preset(self) -> None:
        first = match(16, [1.0], 2.0, **{"mst-greedy": [0.9], "reference": [0.95]})
        later = dataclasses.replace(first, preset="best", rows=match(16, [1.0], 4.0).rows)
        later.peers["reference"].rows[0]["processor_milliseconds"] = 1.5
        counts = {name: sum(point.method == name for point in points_of([first, later])) for name in first.peers}
        assert counts["mst-greedy"] == 1
        assert [point.seconds for point in points_of([first, later]) if point.method == "netdiff"] == [0.002, 0.004]


class TestSpaced:
    def test_packaged_sets_are_taken_and_others_drawn_at_their_spacing(self) -> None:
        assert [spaced_set(nodes).of for nodes in (16, 64, 1000)] == ["bench16", "bench64", "bench1000"]
        one = spaced_set(12).layout(3)
        assert len(one.fleet) == 12
        assert spacing_of(one.fleet) == pytest.approx(SPACING, rel=1e-3)
        assert one.layout.radio == spaced_set(64).layout(0).layout.radio
        assert one.family == spaced_set(64).layout(3).family

    def test_solved_layouts_are_kept_and_read_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = spaced_set(6, tmp_path).layout(1)
        monkeypatch.setattr(spaced, "make_layouts", refuse)
        again = spaced_set(6, tmp_path).layout(1)
        assert (again.topology, again.metrics) == (first.topology, first.metrics)
        with pytest.raises(AssertionError, match="measured"):
            spaced_set(6, tmp_path).layout(2)
        # Of another search it is another target.
        monkeypatch.setattr(spaced, "MOVES_A_NODE", 501)
        with pytest.raises(AssertionError, match="measured"):
            spaced_set(6, tmp_path).layout(1)


class TestUnlike:
    @pytest.mark.parametrize("kind", UNLIKE)
    def test_layouts_are_within_their_sizes_can_be_connected_and_are_the_same_each_time(self, kind: str) -> None:
        for index in range(8):
            fleet = UNLIKE[kind](index, np.random.default_rng(index))
            assert min(SIZES) <= len(fleet) <= max(SIZES)
        one, again = unlike_set(kind, 1).layout(0), unlike_set(kind, 1).layout(0)
        assert one.layout.connectable
        assert np.array_equal(one.fleet.positions, again.fleet.positions)
        assert one.topology == again.topology

    def test_satellites_go_round_one_centre(self) -> None:
        fleet = UNLIKE["satellites in a plane"](2, np.random.default_rng(1))
        place = fleet.positions[:, 0] + 1j * fleet.positions[:, 1]
        assert np.allclose(np.exp(1j * fleet.yaw), 1j * place / np.abs(place))
        radii = np.unique(np.round(np.abs(place)))
        assert 2 <= len(radii) <= 4
        for radius in radii:
            turns = np.sort(np.angle(place[np.isclose(np.abs(place), radius, atol=1)]))
            assert np.allclose(np.diff(turns), 2 * np.pi / len(turns))

    def test_a_show_is_on_a_grid_with_all_noses_in_one_direction(self) -> None:
        for index in (0, 1):
            fleet = UNLIKE["a drone show"](index, np.random.default_rng(index))
            assert len(np.unique(fleet.yaw)) == 1
            assert spacing_of(fleet) == pytest.approx(SPACING / 2)
        assert len(UNLIKE["a drone show"](1, np.random.default_rng(0))) == 35  # NET


def test_every_radio_has_its_own_layouts_and_the_reference_its_time(tmp_path: Path) -> None:
    found = under_radios(RowStore(tmp_path), layouts=1)
    assert [one.kind for one in found] == list(BENCHMARK_RADIOS)
    for one, solved in zip(found, benchmark_set("radios"), strict=False):
        # All are measured on the same layout, of that radio: they have its target.
        assert solved.radio_name == one.kind
        assert one.long is not None
        every = one.raw, one.preset, one.reference, one.alone, one.long
        targets = {target for rows in every for target in rows.values("target").ravel()}
        assert targets == {solved.metrics["throughput"]}
        assert one.preset.seeds == one.reference.seeds == one.alone.seeds == len(FIRST_SEEDS)
    kept = [json.loads(json.loads(path.read_text())["what"]) for path in tmp_path.glob("*.json")]
    budgets = {what["seconds"] for what in kept if what.get("method") == "reference"}
    assert any(np.ptp(one.preset.values("throughput"), axis=0).any() for one in found)  # seeds that tell apart
    times = {one.preset.mean("milliseconds") / 1e3 for one in found}
    assert budgets == {0.002, *times}
    assert {what["seconds"] for what in kept if what.get("crowd") == 1} == times


def test_the_command_prints_writes_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manetdiff.cli.bench._stay_on_one_core", lambda: None)
    monkeypatch.setattr("manetdiff.cli.bench_presets.under_radios", lambda store, layouts: unlike_training(store, 1))
    page, picture = tmp_path / "presets.md", tmp_path / "presets.png"
    asked = ["bench", "--presets", "--nodes", "6,8", "--layouts", "1", "--preset", "instant", "--kept", str(tmp_path)]
    result = CliRunner().invoke(app, [*asked, "--markdown", str(page), "--plot", str(picture), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [(one["nodes"], one["preset"], one["layouts"]) for one in document["presets"]] == [
        (6, "instant", 1),
        (8, "instant", 1),
    ]
    assert document["presets"][0]["peers"].keys() == PEERS.keys()
    assert [one["kind"] for one in document["unlike"]] == list(UNLIKE)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Presets against their peers\n")
    assert "By `manetdiff bench --presets --nodes 6,8 --layouts 1 --preset instant`" in text
    assert "(presets.png)" in text
    assert picture.stat().st_size > 1000
    for head in ("| preset | 6 nodes | 8 nodes |", "| fleet | layouts | raw |"):
        assert any(line.startswith(head) for line in text.splitlines())


def test_a_page_names_a_picture_as_seen_from_where_it_is() -> None:
    assert beside("docs/results/a.png", "docs/results/b.md") == "a.png"
    assert beside("docs/images/a.png", "docs/results/b.md") == "../images/a.png"
    assert beside("a.png", None) is None


@pytest.mark.parametrize(
    ("asked", "told"), [(["--preset", "fast"], "goes with --presets"), (["--moves-a-node", "9"], "go with --scaling")]
)
def test_its_options_go_with_it(asked: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["bench", *asked], catch_exceptions=True)
    assert isinstance(result.exception, SolverError)
    assert told in str(result.exception)
