"""Sets of many sizes and radios, of fleets with heights and blocked antennas: stored whole, and the same every time."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from manetdiff.data import (
    BENCHMARKS,
    RANDOM,
    FieldedRadio,
    Settings,
    SolvedLayout,
    generate,
    make_layouts,
    read_dataset,
    read_shard,
)
from manetdiff.data.benchmark import make_joined
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS, IN_METRES, SPACING
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.settings import INVERSE
from manetdiff.data.shards import write_shard
from manetdiff.data.sizes import in_few_words, sizes_of
from manetdiff.errors import DataError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, draw
from manetdiff.topology import METRICS, Report, Topology, metrics
from support.command_help import Run, refused

EVERYTHING = Settings(
    nodes=tuple(range(4, 25)),
    count=12,
    seed=3,
    radio=RANDOM,
    moves_a_node=20,
    shard_size=5,
    displacement=(0.05, 0.2),
    size_odds=INVERSE,
    heights=(0.0, 2000.0),
    blocked=0.3,
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "everything"
    generate(EVERYTHING, folder)
    return folder


def spacing_of(fleet: Fleet) -> float:
    offsets = fleet.horizontal[:, None] - fleet.horizontal
    distances = np.hypot(*offsets.transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return float(np.median(distances.min(axis=1)))


class TestSizes:
    @pytest.mark.parametrize(
        ("words", "sizes"),
        [
            ([16, 32], [16, 32]),
            ([4, 5, 6, 7, 8], [4, 5, 6, 7, 8]),
            (["4-128"], list(range(4, 129))),
            ([64, "8-32", 2], [64, *range(8, 33), 2]),
        ],
    )
    def test_are_stored_in_few_words(self, words: list[int | str], sizes: list[int]) -> None:
        assert in_few_words(sizes) == words
        assert list(sizes_of(words)) == sizes

    def test_are_lists_and_ranges_on_the_command_line(self) -> None:
        assert sizes_of(["8-10", "64"]) == (8, 9, 10, 64)

    def test_of_a_range_take_the_search_the_same_time(self) -> None:
        settings = Settings(nodes=(4, 8, 16), count=1, seed=1, moves_a_node=10, size_odds=INVERSE)
        drawn = Counter(len(draw_layouts(settings, index)[0].fleet) for index in range(700))
        for n in (4, 8, 16):
            expected = 700 * (1 / n) / (1 / 4 + 1 / 8 + 1 / 16)
            assert abs(drawn[n] - expected) < 4 * expected**0.5
        assert [settings.moves_for(n) for n in (4, 16)] == [40, 160]

    def test_do_not_depend_on_the_budget(self) -> None:
        other = dataclasses.replace(EVERYTHING, moves_a_node=None, search_moves=100)
        for index in range(3):
            one, two = (draw_layouts(settings, index)[0].fleet for settings in (EVERYTHING, other))
            assert np.array_equal(one.positions, two.positions)


class TestEverything:
    def test_same_bytes_by_any_number_of_workers_and_after_damage(self, everything: Path, tmp_path: Path) -> None:
        again = tmp_path / "again"
        generate(EVERYTHING, again, workers=2)
        (again / "shard-00001.parquet").write_bytes(b"torn")
        assert generate(EVERYTHING, again) == 1
        assert {path.name: path.read_bytes() for path in again.iterdir()} == {
            path.name: path.read_bytes() for path in everything.iterdir()
        }

    def test_what_is_read_is_what_was_solved(self, everything: Path) -> None:
        stored = list(read_dataset(everything))
        made = [layout for index in range(EVERYTHING.count) for layout in make_layouts(EVERYTHING, index)]
        assert len(stored) == len(made) == 24
        for one, other in zip(stored, made, strict=True):
            assert np.array_equal(one.fleet.positions, other.fleet.positions)
            assert one.fleet.blocked == other.fleet.blocked
            assert one.layout.radio == other.layout.radio
            assert one.topology == other.topology
            scores = metrics(one.topology)
            assert one.metrics == {name: scores[name] for name in METRICS}
            assert one.metrics["connected"] == 1.0
            assert one.topology.report.moves == 20 * len(one.fleet)

    def test_it_has_all_that_was_asked_for(self, everything: Path) -> None:
        layouts = list(read_dataset(everything))
        assert len({layout.layout.radio for layout in layouts}) == EVERYTHING.count
        assert len({len(layout.fleet) for layout in layouts}) > 4
        heights = np.concatenate([layout.fleet.heights for layout in layouts])
        assert 0 <= heights.min() < heights.max() <= 2000
        with_blocked = [sum(map(bool, layout.fleet.blocked or ())) for layout in layouts]
        assert 0.15 < sum(with_blocked) / len(heights) < 0.45
        for before, after in zip(layouts[::2], layouts[1::2], strict=True):
            assert (before.layout.radio, before.fleet.blocked) == (after.layout.radio, after.fleet.blocked)

    def test_arrays_have_the_heights(self, everything: Path) -> None:
        dataset = read_dataset(everything)
        for n in dataset.nodes:
            arrays = dataset.arrays(n)
            layouts = [layout for layout in dataset if len(layout.fleet) == n]
            assert np.array_equal(arrays.positions, np.stack([layout.fleet.positions for layout in layouts]))

    def test_plain_parquet(self, everything: Path) -> None:
        table = pq.read_table(everything / "shard-00000.parquet")
        row = table.to_pylist()[0]
        assert json.loads(row["radio"])["sectors"] >= 1
        assert len(row["z"]) == row["nodes"]
        assert len(row["blocked_node"]) == len(row["blocked_start"]) == len(row["blocked_stop"])
        assert table.schema.metadata[b"manetdiff.format"] == b"manetdiff-layouts 2"
        assert json.loads(table.schema.metadata[b"manetdiff.settings"])["nodes"] == ["4-24"]


def test_the_command_says_it_all(run: Run) -> None:
    words = "--nodes 4-12 --radios random --moves-a-node 5 --heights 10 20 --blocked 0.5 --count 2 --workers 1 --out s"
    assert run("data", *words.split()).code == 0
    settings = read_dataset("s").settings
    assert settings.nodes == tuple(range(4, 13))
    assert (settings.radio, settings.size_odds, settings.moves_a_node) == (RANDOM, INVERSE, 5)
    assert (settings.heights, settings.blocked) == ((10.0, 20.0), 0.5)
    assert "moves_a_node = 5, not 6" in refused(run("data", *words.replace("node 5", "node 6").split()))
    assert 'radio = "random"' in refused(run("data", *words.replace("--radios random", "").split()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--nodes 12-4", "smallest"),
        ("--nodes 4-2000", "1024"),
        ("--nodes 4-8,6", "twice"),
        ("--radios some", "random"),
        ("--radios random --radio radio.json", "one of the two"),
        ("--search-moves 5 --moves-a-node 5", "one of the two"),
        ("--moves-a-node 0", "moves_a_node"),
        ("--spacing 0", "spacing"),
        ("--heights 20 10", "heights"),
        ("--blocked 1.5", "blocked"),
        ("--benchmark radios --radios random", "fixed"),
    ],
)
def test_nonsense_leaves_no_folder(run: Run, arguments: str, said: str) -> None:
    count = [] if "--benchmark" in arguments else ["--count", "3"]
    assert said in refused(run("data", *count, *arguments.split(), "--out", "new"))
    assert not Path("new").exists()


class TestFormats:
    def test_the_first_holds_all_that_it_can(self) -> None:
        plain = Settings(nodes=(16, 256), count=1, seed=1)
        assert plain.format == 1
        assert "size_odds" not in plain.to_dict()
        for later in (
            {"nodes": (16, 257)},
            {"nodes": tuple(range(4, 20))},
            {"size_odds": INVERSE},
            {"moves_a_node": 5, "search_moves": None},
            {"spacing": 100.0},
            {"heights": (0.0, 1.0)},
            {"blocked": 0.1},
            {"radio": RANDOM},
        ):
            changed = dataclasses.replace(plain, **later)
            assert changed.format == 2
            assert Settings.from_dict(json.loads(json.dumps(changed.to_dict()))) == changed

    def test_sizes_spelt_out_are_the_same_set(self, everything: Path, tmp_path: Path) -> None:
        copy = Path(shutil.copytree(everything, tmp_path / "copy"))
        description = json.loads((copy / "dataset.json").read_text())
        description["settings"]["nodes"] = list(EVERYTHING.nodes)
        (copy / "dataset.json").write_text(json.dumps(description))
        assert generate(EVERYTHING, copy) == 0
        assert len(read_dataset(copy)) == 24

    def test_nodes_beyond_a_byte(self, tmp_path: Path) -> None:
        settings = Settings(nodes=(6, 1000), count=1, seed=1)
        fleet = draw("box", 1000, np.random.default_rng(1), spacing=1000.0)
        # A chain of all nodes: nothing is searched for here.
        chain = np.stack([np.arange(999), np.arange(1, 1000)], axis=1)
        report = Report(method="reference", seed=0, moves=1, restarts=0, fallback=False)
        topology = Topology(chain, np.arange(1000) % 2, report, Layout(fleet))
        made = SolvedLayout(0, 0, 0.0, None, "box", fleet, topology, dict.fromkeys(METRICS, 0.0))
        write_shard(tmp_path / "large.parquet", [made], settings)
        dataset = read_shard(tmp_path / "large.parquet")
        assert [layout.topology for layout in dataset] == [topology]
        assert np.array_equal(dataset.arrays(1000).adjacency[0], topology.adjacency)


class TestBenchmarkSets:
    @pytest.mark.parametrize("name", ["bench64", "bench256", pytest.param("bench1000", marks=pytest.mark.slow)])
    def test_large_fleets_are_as_dense_as_small_ones(self, name: str) -> None:
        settings = BENCHMARKS[name].settings()
        assert settings.radio == IN_METRES
        for index in (0, len(AIR) - 1):
            drawn = draw_layouts(settings, index)[0]
            assert len(drawn.fleet) in settings.nodes
            assert spacing_of(drawn.fleet) == pytest.approx(SPACING, rel=0.01)

    def test_twelve_radios_take_turns_and_are_known_by_name(self, tmp_path: Path) -> None:
        settings = dataclasses.replace(BENCHMARKS["radios"].settings(20), nodes=(6, 7), count=24)
        layouts = list(make_joined(settings, tmp_path / "radios.parquet"))
        assert [layout.radio_name for layout in layouts] == [*BENCHMARK_RADIOS, *BENCHMARK_RADIOS]
        again = read_shard(tmp_path / "radios.parquet")
        for layout, stored in zip(layouts, again, strict=True):
            assert layout.radio_name is not None
            known = BENCHMARK_RADIOS[layout.radio_name]
            assert layout.layout.radio == stored.layout.radio == known.radio
            assert stored.radio_name == layout.radio_name
            assert spacing_of(layout.fleet) == pytest.approx(known.spacing, rel=0.01)

    def test_every_radio_meets_every_family(self) -> None:
        count, radios = BENCHMARKS["radios"].count, len(BENCHMARK_RADIOS)
        assert (radios, count) == (12, 12 * 40)
        assert len({(index % radios, index % len(AIR)) for index in range(count)}) == radios * len(AIR)

    def test_the_radios_differ_in_what_matters(self) -> None:
        radios = [one.radio for one in BENCHMARK_RADIOS.values()]
        assert {3, 4, 6, 8} <= {radio.sectors for radio in radios}
        assert {radio.reception for radio in radios} == {"sectored", "omni"}
        assert {radio.pattern for radio in radios} == {"cone", "parabolic"}
        assert any(radio.boresight for radio in radios)
        assert any(radio.ceiling is not None for radio in radios)

    def test_a_radio_that_the_settings_do_not_name(self, tmp_path: Path) -> None:
        one = {"one": FieldedRadio(IN_METRES, SPACING)}
        settings = Settings(nodes=(6,), count=1, seed=1, radio=one, search_moves=5)
        layouts = make_layouts(settings, 0)
        other = dataclasses.replace(settings, radio={"one": one["one"], "two": one["one"]})
        write_shard(tmp_path / "set.parquet", [dataclasses.replace(layouts[0], radio_name="two")], other)
        table = pq.read_table(tmp_path / "set.parquet")
        said = json.dumps(settings.to_dict()).encode()
        pq.write_table(
            table.replace_schema_metadata({**table.schema.metadata, b"manetdiff.settings": said}),
            tmp_path / "other.parquet",
        )
        with pytest.raises(DataError, match="no radio 'two'"):
            read_shard(tmp_path / "other.parquet")


def test_named_radios_bring_their_own_spacing() -> None:
    with pytest.raises(DataError, match="spacing"):
        Settings(nodes=(6,), count=1, seed=1, radio={"one": FieldedRadio(Radio(), 10.0)}, spacing=5.0)
