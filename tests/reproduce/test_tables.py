"""The paper's tables: which models they ask for, on which layouts, and where the paper's figures stand."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from manetdiff import gpu
from manetdiff.data import SolvedLayout
from manetdiff.evaluate.over_time import BUDGETS_MS, PRESET, RAW, Point
from manetdiff.measure.measures import Cell
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.store import RowStore
from manetdiff.pictures.over_time import draw_over_time
from manetdiff.reproduce import frontier, generalisation, inference, pages, paper, partial, throughput
from manetdiff.reproduce.catalogue import TABLES
from manetdiff.reproduce.networks import SEEDS
from manetdiff.reproduce.tables import FULL_LAYOUTS, QUICK_LAYOUTS, Setting
from manetdiff.reproduce.weights import UnavailableError, weights_of
from manetdiff.scenarios import AIR
from manetdiff.weights import PAPER, WEIGHTS_FILE, known
from support.measured_help import PLACE, StandIn, check_grids, points_of, refuse, rows_of

QUICK, FULL = Setting(True, RowStore()), Setting(False, RowStore())
PLAIN = {"temperature": 1.0, "decide": False}
MODULATED = ("", "*", "-brief", "-plain", "-wide")


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    for nodes in FULL_LAYOUTS:
        monkeypatch.setitem(FULL_LAYOUTS, nodes, 40)
    return StandIn(monkeypatch)


def cells_of(row: Sequence[Cell | str]) -> list[Cell]:
    return [cell for cell in row if isinstance(cell, Cell)]


def test_the_catalogue_has_every_table_once_in_the_order_of_the_paper() -> None:
    of_the_paper = "properties throughput constraints losses tokens thirty-two modulation partial steps inference"
    beyond = "inference-gpu frontier families sizes radios noise flights agreement"
    assert list(TABLES) == [*of_the_paper.split(), *beyond.split()]
    assert all(name == one.name and one.title and one.claim for name, one in TABLES.items())


@pytest.mark.parametrize("name", [name for name in TABLES if name != "inference-gpu"])
def test_every_table_is_whole(name: str, ways: StandIn, tmp_path: Path) -> None:
    grids = TABLES[name].run(QUICK)
    check_grids(grids)
    page = pages.write_page(TABLES[name], grids, tmp_path, PLACE).read_text(encoding="utf-8")
    assert "nan" not in page
    document = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert [len(table["rows"]) for table in document["tables"]] == [len(grid.rows) for grid in grids]


@pytest.mark.slow
def test_a_quick_run_of_everything_is_whole_and_the_second_one_keeps_every_row(tmp_path: Path) -> None:
    told: list[str] = []
    setting = Setting(True, RowStore(tmp_path, told.append))
    here = {name: one for name, one in TABLES.items() if name != "inference-gpu"}
    first = {name: one.run(setting) for name, one in here.items()}
    for grids in first.values():
        check_grids(grids)
    assert [label for label, _ in first["sizes"][0].rows] == [f"{nodes}" for nodes in generalisation.SIZES]
    assert len(first["families"][0].rows) == len(AIR)
    assert "CP-SAT, 2 s (1 layout)" in [label for label, _ in first["throughput"][0].rows]
    # Omnidirectional, Huang-style, MST+greedy, …, the target: the order that the paper reports.
    for grid in first["throughput"]:
        means = [cells_of(row)[0].mean for _, row in grid.rows]
        assert means[0] < means[1] < means[2] < means[5]
    spent = {label: cells_of(row)[0].mean for label, row in first["inference"][0].rows}
    assert spent["correction, 16 nodes"] < spent["partial, 15 steps, 16 nodes"] < spent["full, 50 steps, 16 nodes"]
    told.clear()
    for name, one in here.items():
        assert one.run(setting) == first[name]
    assert told == []


def test_layouts_are_the_first_of_the_set_and_no_more_than_asked_for() -> None:
    assert QUICK.layouts(16).indices == tuple(range(QUICK_LAYOUTS[16]))
    assert QUICK.layouts(32).nodes == 32
    assert len(FULL.layouts(16)) == FULL_LAYOUTS[16] > QUICK_LAYOUTS[16]
    assert [len(one.layouts(16, most=5)) for one in (QUICK, FULL)] == [5, 5]
    assert [len(one.layouts(16, most=220)) for one in (QUICK, FULL)] == [QUICK_LAYOUTS[16], 220]
    # A quick run has every family.
    assert {layout.family for layout in QUICK.layouts(16)} == set(AIR)


class TestRawSamples:
    @pytest.mark.parametrize(
        ("name", "quick", "asked"),
        [
            # A quick run takes the first seed alone, and a full one pools all. With a star: sampled as in the paper.
            ("properties", True, "graph-vae gt-vae ddpm-gt-plain ddpm-gt cam acam netdiff"),
            ("constraints", False, "ddpm-gt cam acam netdiff"),
            ("losses", True, "cross-entropy acam cross-entropy* acam* cross-entropy-brief acam-brief"),
            ("tokens", True, "none one-token tokens-2 tokens-4 tokens-8 acam none-brief one-token-brief acam-brief"),
            ("thirty-two", True, "acam-mixed acam netdiff acam-mixed acam"),
            ("modulation", False, "".join(f"none{way} ddpm-gt{way} cam{way} acam{way} " for way in MODULATED)),
        ],
    )
    def test_each_table_asks_for_its_networks_which_are_there(
        self, name: str, quick: bool, asked: str, ways: StandIn
    ) -> None:
        TABLES[name].run(QUICK if quick else FULL)
        expected: list[dict[str, Any]] = []
        for one in asked.split():
            plain = PLAIN if one.endswith("*") else {}
            seeds = SEEDS[:1] if quick else SEEDS
            names = ["netdiff"] if one == "netdiff" else [f"{one.rstrip('*')}-{seed}" for seed in seeds]
            expected += [{"name": weights, **plain} for weights in names]
        assert [how for _, how, _ in ways.asked] == expected
        assert set(ways.names()) <= set(known(WEIGHTS_FILE))
        assert {len(some) for _, _, some in ways.asked if some.nodes == 16} == {11 if quick else 40}

    def test_pooled_seeds_are_on_the_same_layouts(self, ways: StandIn) -> None:
        ways.instead["sampled"] = lambda layouts, name, **how: rows_of(
            connected=[{"4": 1.0, "5": 2.0}.get(name[-1], 0.0) + k / 2 for k in range(3)],
            node_saturation=0.0,
            parity=1.0,
            valid=1.0,
        )
        (grid,) = TABLES["constraints"].run(FULL)
        # One, and half a layout more on average; an interval of one seed's layouts would end at 2.
        cell = cells_of(grid.rows[1][1])[0]
        assert cell.mean == pytest.approx(1.5)
        assert cell.high is not None
        assert cell.high > 2


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("properties", paper.PROPERTIES),
        ("constraints", paper.CONSTRAINTS),
        ("losses", paper.LOSSES),
        ("thirty-two", paper.THIRTY_TWO),
    ],
)
def test_the_papers_figures_stand_beside_what_they_are_of(
    name: str, printed: dict[str, paper.Figures], ways: StandIn
) -> None:
    first, *others = TABLES[name].run(QUICK)
    assert set(printed) <= {label for label, _ in first.rows}
    for label, row in first.rows:
        shown = {cell.measure.metric: cell.paper for cell in cells_of(row) if cell.paper is not None}
        assert shown == printed.get(label, {}), label
    assert not any(cell.paper for grid in others for _, row in grid.rows for cell in cells_of(row))


class TestThroughput:
    def test_every_method_has_the_papers_figure_and_annealing_netdiffs_time(
        self, ways: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(throughput, "find_spec", lambda name: None)
        for grid, nodes in zip(TABLES["throughput"].run(QUICK), (16, 32), strict=True):
            firsts = [cells_of(row)[0] for _, row in grid.rows]
            # Besides, annealing and two presets.
            assert [cell.paper for cell in firsts] == [*paper.THROUGHPUT[nodes].values(), None, None, None]
            own = grid.rows[4][1][-1]
            assert isinstance(own, Cell)
            budget = round(own.mean / 1e3, 2)
            assert grid.rows[6][0] == f"annealing, {1e3 * budget:.0f} ms ({QUICK_LAYOUTS[nodes]} layouts)"
            (annealing,) = [
                how for way, how, some in ways.asked if how.get("method") == "annealing" and some.nodes == nodes
            ]
            assert annealing["seconds"] == budget
            # Nothing was timed of the target.
            assert grid.rows[5][1][-1] == ""

    def test_asks_for_the_weights_of_its_size_and_for_cpsat_where_it_is_installed(
        self, ways: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(throughput, "find_spec", lambda name: object())
        grids = TABLES["throughput"].run(QUICK)
        names = [how["name"] for way, how, _ in ways.asked if way == "corrected"]
        assert names == ["ddpm-gt-plain-123", "ddpm-gt-plain-mixed-123"]
        assert [grid.rows[-1][0] for grid in grids] == ["CP-SAT, 2 s (1 layout)"] * 2
        full = {"weights": PAPER, "steps": 50, "samples": 1, "polish": False}
        assert [how for way, how, _ in ways.asked if way == "generated"][:3] == [
            full,
            {"preset": "balanced"},
            {"preset": "best"},
        ]


class TestGeneralisation:
    def test_each_family_is_sampled_on_its_own_layouts(self, ways: StandIn) -> None:
        (grid,) = TABLES["families"].run(QUICK)
        assert ways.names() == ["acam-123", "left-out-123"] * len(AIR)
        for place, family in enumerate(AIR):
            for _, _, layouts in ways.asked[2 * place : 2 * place + 2]:
                assert {one.family for one in layouts} == {family}
        left_out = [label.removesuffix(" (left out)") for label, _ in grid.rows if label.endswith("(left out)")]
        assert sorted(left_out) == sorted(generalisation.LEFT_OUT)
        card = json.dumps(weights_of("left-out-123").card)
        assert all(family in card for family in generalisation.LEFT_OUT)

    def test_each_size_and_radio_has_layouts_of_its_own(self, ways: StandIn) -> None:
        TABLES["sizes"].run(QUICK)
        assert [some.nodes for _, _, some in ways.asked] == [
            n for nodes in generalisation.SIZES for n in (nodes, nodes)
        ]
        assert {len(some) for _, _, some in ways.asked} == {2}
        ways.asked.clear()
        TABLES["radios"].run(FULL)
        radios = list(generalisation.RADIOS.values())
        assert [how["radio"] for _, how, _ in ways.asked] == radios
        # The target is the radio's own.
        assert [some.key["radio"] for _, _, some in ways.asked] == [radio.to_dict() for radio in radios]
        assert {len(some) for _, _, some in ways.asked} == {110}

    def test_noise_is_told_to_the_model_alone(self, ways: StandIn) -> None:
        (grid,) = TABLES["noise"].run(QUICK)
        told = [
            {"noise": noise, "said_noise": said, "preset": "balanced"}
            for noise in generalisation.POSITION_NOISE
            for said in (False, True)
            if noise or not said
        ]
        assert [how for _, how, _ in ways.asked] == told
        offs = ("0.01", "0.03", "0.1", "0.3")
        labels = [label for off in offs for label in (off, f"{off}, and says so")]
        assert [label for label, _ in grid.rows] == ["0", *labels]


class TestPartial:
    def test_updates_are_compared_with_generating_anew(self, ways: StandIn) -> None:
        def rows(layouts: LayoutSet, mode: str, **how: Any) -> Rows:
            share, spent = (0.2, 100.0) if mode == "anew" else (0.3, 25.0) if "steps" in how else (0.4, 10.0)
            known = dict.fromkeys((*partial.METRICS, "throughput", "target"), 1.0)
            return rows_of(**{**known, "continuity": share, "milliseconds": spent})

        ways.instead["updated"] = rows
        shown, gains = TABLES["partial"].run(QUICK)
        for (mode, (gain, faster, by_default)), told in zip(gains.rows, (0.21, 0.41), strict=True):
            assert isinstance(gain, Cell)
            assert [gain.mean, gain.low, gain.high] == pytest.approx([0.5] * 3), mode
            assert gain.paper == told
            assert (faster, by_default) == ("4.0 times", "10.0 times")
        assert [label for label, _ in shown.rows][::3] == ["standard, 0.3, 15 steps", "minor, 0.1, 10 steps"]
        # The paper's figures stand beside its own number of steps alone.
        found = [[cell.paper for cell in cells_of(row) if cell.paper] for _, row in shown.rows]
        assert [len(beside) for beside in found] == [8, 0, 0, 8, 0, 0]
        assert (found[0][0], found[3][0]) == (22.79, 22.4)
        raw = {"correct": False}
        standard, minor = (
            {"mode": mode, "weights": PAPER, "movement": movement} for mode, movement, _ in partial.CASES
        )
        anew = {"mode": "anew", "weights": PAPER, "steps": 50, "correct": False, "polish": False}
        assert [how for _, how, _ in ways.asked] == [
            {**anew, "movement": 0.3},
            {**standard, "steps": 15, **raw},
            standard,
            {**anew, "movement": 0.1},
            {**minor, "steps": 10, **raw},
            minor,
        ]

    def test_steps_are_shown_by_movement(self, ways: StandIn) -> None:
        ways.instead["updated"] = lambda layouts, movement, steps, **how: rows_of(
            throughput=100 * movement + steps, target=100.0, continuity=movement / 10 + steps / 1000
        )
        ratio, same = TABLES["steps"].run(FULL)
        for grid in (ratio, same):
            assert grid.columns == ["movement", *(f"{steps} steps" for steps in partial.STEPS)]
            assert [label for label, _ in grid.rows] == [f"{movement:g}" for movement in partial.MOVEMENTS]
        assert cells_of(dict(ratio.rows)["0.3"])[3].mean == pytest.approx(0.40)
        assert cells_of(dict(same.rows)["0.1"])[5].mean == pytest.approx(0.035)


def test_times_of_inference_are_of_each_stage(ways: StandIn) -> None:
    for way, spent in (("generated", 80.0), ("correction", 0.5)):
        ways.instead[way] = lambda layouts, spent=spent, **how: rows_of(milliseconds=[spent, 3 * spent])
    ways.instead["updated"] = lambda layouts, **how: rows_of(milliseconds=20.0 if "steps" in how else 5.0)
    (grid,) = TABLES["inference"].run(FULL)
    stages = ("full, 50 steps", "partial, 15 steps", "partial, our default, with correction", "correction")
    assert [label for label, _ in grid.rows] == [f"{stage}, {nodes} nodes" for nodes in (16, 32) for stage in stages]
    shown = [(cells_of(row)[0], row[1]) for _, row in grid.rows]
    assert [cell.mean for cell, _ in shown] == [160.0, 20.0, 5.0, 1.0] * 2
    assert [longest for _, longest in shown] == ["240.00", "20.00", "5.00", "1.50"] * 2
    # The paper's are of 16 nodes.
    assert [cell.paper for cell, _ in shown] == [2000.0, None, None, 100.0, None, None, None, None]
    full = {"weights": PAPER, "steps": 50, "correct": False, "polish": False}
    assert [how for way, how, _ in ways.asked if way == "generated"] == [full, full]
    assert {len(some) for _, _, some in ways.asked} == {33}


class TestInferenceOnAGpu:
    @pytest.fixture
    def with_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Abacus 9000")

    def test_is_not_to_be_had_without_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(inference, "load", refuse)
        with pytest.raises(UnavailableError, match="no GPU"):
            TABLES["inference-gpu"].run(QUICK)

    def test_has_every_chain_by_size_and_batch(self, with_one: None, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[int, int, int]] = []

        def spent(model: str, layouts: Sequence[SolvedLayout], steps: int, batch: int) -> float:
            assert model == "loaded netdiff"
            asked.append((len(layouts[0].fleet), steps, batch))
            return 2.0 * steps + 0.01 * batch

        monkeypatch.setattr(inference, "load", lambda name: f"loaded {name}")
        monkeypatch.setattr(inference, "chain_milliseconds", spent)
        (grid,) = TABLES["inference-gpu"].run(QUICK)
        assert "Abacus 9000" in grid.title
        assert asked == [(nodes, steps, batch) for nodes in (16, 32) for steps in (50, 15, 3) for batch in (1, 1024)]
        assert len({label for label, _ in grid.rows}) == len(grid.rows) == 12
        (first, alone), (second, together) = grid.rows[:2]
        assert (first, second) == ("full, 50 steps, 16 nodes, 1 at once", "full, 50 steps, 16 nodes, 1,024 at once")
        assert [pages.text_of(cell) for cell in alone] == ["100.01 (paper: 450.00)", "10"]
        # 1,024 of them in 110.24 ms.
        assert [pages.text_of(cell) for cell in together] == ["110.24", "9,289"]
        assert [cell.paper for _, row in grid.rows for cell in cells_of(row)] == [450.0, *[None] * 11]

    def test_is_measured_by_the_chain_itself(self, with_one: None, monkeypatch: pytest.MonkeyPatch) -> None:
        torch.set_num_threads(1)
        model = gpu.load("netdiff-small", device="cpu")
        monkeypatch.setattr(inference, "load", lambda name: model)
        monkeypatch.setattr(inference, "GPU_CHAINS", {1: "1 step"})
        monkeypatch.setattr(inference, "GPU_BATCHES", (1, 2))
        monkeypatch.setattr("manetdiff.evaluate.batch_speed.REPEATS", 1)
        (grid,) = TABLES["inference-gpu"].run(QUICK)
        for label, (cell, a_second) in grid.rows:
            assert isinstance(cell, Cell)
            assert isinstance(a_second, str)
            batch = 2 if "2 at once" in label else 1
            assert float(a_second.replace(",", "")) == pytest.approx(1e3 * batch / cell.mean, abs=0.51)


class TestFrontier:
    @pytest.fixture
    def points(self, monkeypatch: pytest.MonkeyPatch) -> list[Point]:
        points = [*points_of(16), *points_of(32)]
        monkeypatch.setattr(frontier, "time_points", lambda store, *counts: points)
        return points

    def test_is_what_bench_measures(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[RowStore, tuple[int, ...]]] = []
        monkeypatch.setattr(frontier, "time_points", lambda store, *counts: asked.append((store, counts)))
        for setting in (QUICK, FULL):
            frontier.frontier_points(setting)
        # A quick run has one layout of each size, and no CP-SAT; a full one what is usual.
        assert asked == [(QUICK.store, (1, 0)), (FULL.store, ())]

    def test_the_lead_is_that_of_the_best_preset_in_time_over_the_best_of_the_others(self, points: list[Point]) -> None:
        stands, everything = TABLES["frontier"].run(QUICK)
        shown = dict(stands.rows)
        assert list(shown) == [
            *(f"16 nodes, {ms} ms" for ms in BUDGETS_MS[1:]),
            *(f"32 nodes, {4 * ms} ms" for ms in BUDGETS_MS[1:]),
        ]
        assert shown["16 nodes, 5 ms"] == ["instant", "96.00 %", "reference", "95.10 %", "+0.90"]
        assert shown["16 nodes, 100 ms"] == ["best", "98.00 %", "reference", "97.00 %", "+1.00"]
        assert shown["32 nodes, 800 ms"] == ["best", "98.00 %", "reference", "99.00 %", "-1.00"]
        rows = dict(everything.rows)
        assert len(rows) == len(everything.rows) == len(points)
        assert rows["reference, 2 ms, 16 nodes"] == ["2", "95.04 %", "100.00 %", "100.00 %"]
        assert rows["netdiff, raw, 50, 32 nodes"] == ["80", "94.00 %", "75.00 %", "50.00 %"]
        assert rows["greedy, 16 nodes"][0] == "0.1"
        points[:] = [dataclasses.replace(one, seconds=60.0) if one.method == PRESET else one for one in points]
        stands, _ = TABLES["frontier"].run(QUICK)
        assert dict(stands.rows)["16 nodes, 5 ms"] == ["none is in time", "", "reference", "95.10 %", ""]

    def test_the_legend_has_the_methods_that_have_points_and_no_others(
        self, points: list[Point], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        draw = TABLES["frontier"].draw
        assert draw is not None
        assert draw(QUICK, tmp_path) == ["frontier.png"]
        assert (tmp_path / "frontier.png").read_bytes().startswith(b"\x89PNG")
        seen: list[Figure] = []
        monkeypatch.setattr(Figure, "savefig", lambda figure, *others, **options: seen.append(figure))
        draw(QUICK, tmp_path)
        draw_over_time([point for point in points if point.method != RAW], tmp_path / "b.png")
        shown = [[entry.get_text() for entry in figure.legends[0].get_texts()] for figure in seen]
        assert shown == [[PRESET, RAW, "reference", "greedy"], [PRESET, "reference", "greedy"]]
        for figure, legend in zip(seen, shown, strict=True):
            for axes in figure.axes:
                lines = {line.get_label(): line for line in axes.lines}
                assert list(lines) == legend
                assert all(len(np.asarray(line.get_xdata())) for line in lines.values())
