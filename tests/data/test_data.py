"""Solved layouts: the same bytes whatever happens on the way, and nothing is read that was not written whole."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from manetdiff.data import (
    BENCHMARK,
    BENCHMARKS,
    Settings,
    SolvedLayout,
    generate,
    load_benchmark,
    make_layouts,
    read_dataset,
    read_shard,
)
from manetdiff.data.benchmark import make_joined
from manetdiff.data.folder import read_settings, tasks_of
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.shards import checksum_line, checksum_name, is_done, to_bytes, write_shard
from manetdiff.errors import DataError, FormatError, ManetDiffError
from manetdiff.files import locked
from manetdiff.fleet import displacement
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, FAMILIES, MOTIONS
from manetdiff.solvers import solve
from manetdiff.topology import METRICS, metrics
from support.command_help import Run, refused
from support.odd_values import odd_documents

SETTINGS = Settings(nodes=(6, 8), count=22, seed=5, search_moves=300, shard_size=6)
PACKAGED = [name for name in BENCHMARKS if (resources.files("manetdiff.data") / "sets" / f"{name}.parquet").is_file()]
PAIRS = dataclasses.replace(SETTINGS, count=8, shard_size=5, displacement=(0.05, 0.4))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "whole"
    assert generate(SETTINGS, folder) == 4
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "pairs"
    generate(PAIRS, folder)
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def flags(settings: Settings) -> list[str]:
    """What to give to `manetdiff data` for these settings."""
    return [
        *(f"--nodes={n}" for n in settings.nodes),
        f"--count={settings.count}",
        f"--seed={settings.seed}",
        f"--search-moves={settings.search_moves}",
        f"--shard-size={settings.shard_size}",
    ]


def reseal(shard: Path, data: bytes) -> None:
    """Write other bytes with a checksum that fits."""
    shard.write_bytes(data)
    checksum_name(shard).write_bytes(checksum_line(shard, data))


def flip(shard: Path) -> None:
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)


def leave_temporary_files(shard: Path) -> None:
    shard.with_name(".shard-00003.parquet.tmp").write_bytes(b"PAR1")
    shard.with_name(".dataset.json.tmp").write_bytes(b"{")


# What may happen to a shard on the way.
DAMAGE: dict[str, Callable[[Path], object]] = {
    "flip": flip,
    "truncate": lambda shard: shard.write_bytes(shard.read_bytes()[:-7]),
    "empty": lambda shard: shard.write_bytes(b""),
    "delete": lambda shard: shard.unlink(),
    "no checksum": lambda shard: checksum_name(shard).unlink(),
    "other checksum": lambda shard: checksum_name(shard).write_text("0" * 64 + "  shard-00001.parquet\n"),
    "misplaced": lambda shard: reseal(shard, shard.with_name("shard-00002.parquet").read_bytes()),
    "temporary files": leave_temporary_files,
}


class TestSameBytes:
    def test_with_any_number_of_workers(self, whole: Path, pairs: Path, tmp_path: Path) -> None:
        generate(SETTINGS, tmp_path / "two", workers=2)
        assert content(tmp_path / "two") == content(whole)

    @pytest.mark.parametrize(("moves", "at_once"), [(300, 8), (300_000, 3), (5_000_000, 1)])
    def test_work_is_handed_out_in_parts_that_take_no_worker_long(self, moves: int, at_once: int) -> None:
        settings = dataclasses.replace(SETTINGS, search_moves=moves)
        parts = tasks_of(settings, range(3, 30))
        assert [index for part in parts for index in part] == list(range(3, 30))
        assert max(map(len, parts)) == at_once

    def test_files_and_their_checksums_and_nothing_else(self, whole: Path) -> None:
        shards = [f"shard-{k:05d}.parquet" for k in range(4)]
        assert sorted(content(whole)) == sorted(["dataset.json", *shards, *(f"{name}.sha256" for name in shards)])
        if shutil.which("sha256sum"):
            for name in shards:
                subprocess.run(["sha256sum", "-c", "--quiet", f"{name}.sha256"], cwd=whole, check=True)

    def test_a_finished_set_is_left_alone(self, copy: Path) -> None:
        before = {path: path.stat().st_mtime_ns for path in copy.iterdir()}
        assert generate(SETTINGS, copy) == 0
        assert {path: path.stat().st_mtime_ns for path in copy.iterdir()} == before

    @pytest.mark.parametrize("change", DAMAGE)
    def test_damage_is_made_good(self, copy: Path, whole: Path, change: str) -> None:
        DAMAGE[change](copy / "shard-00001.parquet")
        assert generate(SETTINGS, copy) == (change != "temporary files")
        assert content(copy) == content(whole)

    def test_a_whole_shard_of_another_set_is_replaced(self, copy: Path, whole: Path) -> None:
        other = dataclasses.replace(SETTINGS, seed=6)
        layouts = [layout for index in other.shard_indices(1) for layout in make_layouts(other, index)]
        write_shard(copy / "shard-00001.parquet", layouts, other)
        with pytest.raises(DataError, match="belongs to another set"):
            read_dataset(copy)
        assert generate(SETTINGS, copy) == 1
        assert content(copy) == content(whole)

    @pytest.mark.parametrize(
        "waits", [(1,), pytest.param((0, 1, 1, 2, 3), marks=pytest.mark.slow)], ids=["once", "often"]
    )
    def test_after_being_killed_at_any_moment(self, waits: tuple[int, ...], tmp_path: Path) -> None:
        settings = dataclasses.replace(SETTINGS, nodes=(8,), count=24, search_moves=moves_for(0.06), shard_size=4)
        generate(settings, tmp_path / "undisturbed")
        folder = tmp_path / "killed"
        command = [sys.executable, "-m", "manetdiff", "data", *flags(settings), "--workers=2", f"--out={folder}"]
        chance = random.Random(1)
        in_time = 0
        # More files than before to wait for; then some time more, which is about what a shard takes.
        for wait_for in waits:
            before = len(list(folder.glob("*")))
            process = subprocess.Popen(
                command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while process.poll() is None and len(list(folder.glob("*"))) < before + wait_for:
                time.sleep(0.002)
            time.sleep(chance.uniform(0, 0.2))
            process.kill()
            process.wait()
            assert not left_of_session(process.pid)
            in_time += len(list(folder.glob("*.sha256"))) < settings.shards
        assert in_time >= 1
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        assert content(folder) == content(tmp_path / "undisturbed")


def moves_for(seconds: float) -> int:
    """Search moves that take about so long on a layout of 8 nodes here."""
    settings = dataclasses.replace(SETTINGS, nodes=(8,), search_moves=20_000)
    make_layouts(settings, 0)  # compiles
    start = time.perf_counter()
    make_layouts(settings, 0)
    return int(20_000 * seconds / (time.perf_counter() - start))


def left_of_session(session: int, patience_s: float = 15.0) -> list[int]:
    """Processes of a session that are still there once that should have ended."""
    deadline = time.monotonic() + patience_s
    while True:
        left = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                left.append(int(stat.parent.name))
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


class TestRefused:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ("--seed 6", "seed = 5, not 6"),
            ("--nodes 8", "nodes = [6, 8], not [8]"),
            ("--count 23", "count = 22, not 23"),
            ("--search-moves 301", "search_moves = 300, not 301"),
            ("--family orbit", "families = "),
            ("--moves", "moves = false, not true"),
            ("--shard-size 7", "shard_size = 6, not 7"),
            ("--radio radio.json", "radio.range = 2.5, not 3"),
        ],
    )
    def test_other_settings_change_nothing(self, copy: Path, run: Run, arguments: str, said: str) -> None:
        (copy / ".shard-00003.parquet.tmp").write_bytes(b"of another run")
        before = content(copy)
        Path("radio.json").write_text('{"range": 3}')
        same = [flag for flag in flags(SETTINGS) if not arguments.startswith(flag.partition("=")[0])]
        assert said in refused(run("data", *same, *arguments.split(), "--workers=1", "--out", str(copy)))
        assert content(copy) == before

    def test_the_command_that_made_it_continues(self, copy: Path, whole: Path, run: Run) -> None:
        (copy / "shard-00002.parquet").unlink()
        assert "1 made now" in run("data", *flags(SETTINGS), "--workers=1", "--out", str(copy)).out
        assert content(copy) == content(whole)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ("--nodes 1", "nodes"),
            ("--nodes ten", "ten"),
            ("--nodes 2", "range"),  # two nodes are always 2.83 spreads apart
            ("--count 0", "count"),
            ("--seed -1", "seed"),
            ("--family spiral", "spiral"),
            ("--family orbit,orbit", "twice"),
            ("--shard-size 0", "shard_size"),
            ("--search-moves 0", "search_moves"),
            ("--moves --displacement 0.4 0.1", "displacement"),
            ("--workers 0", "workers"),
            ("--radio missing.json", "missing.json"),
            ("--benchmark bench17", "known are bench16, bench32, bench64"),
            ("--benchmark bench32 --nodes 8", "fixed"),
        ],
    )
    def test_nonsense_leaves_no_folder(self, run: Run, arguments: str, said: str) -> None:
        count = [] if "--count" in arguments or "--benchmark" in arguments else ["--count", "3"]
        assert said in refused(run("data", *count, *arguments.split(), "--out", "new"))
        assert not Path("new").exists()

    def test_a_folder_of_other_things(self, tmp_path: Path) -> None:
        (tmp_path / "holiday.jpg").write_bytes(b"")
        with pytest.raises(DataError, match=r"holiday\.jpg"):
            generate(SETTINGS, tmp_path)
        assert list(content(tmp_path)) == ["holiday.jpg"]

    def test_a_second_run_in_the_same_folder(self, copy: Path) -> None:
        with locked(copy), pytest.raises(FormatError, match="another run"):
            generate(SETTINGS, copy)

    def test_a_broken_description(self, copy: Path) -> None:
        deep = "[" * 900 + "]" * 900
        for text in ("{", "[]", '{"format": "other"}', '{"format": "manetdiff-layouts"}', deep, "[" * 10**5):
            (copy / "dataset.json").write_text(text)
            for action in (lambda: generate(SETTINGS, copy), lambda: read_dataset(copy)):
                with pytest.raises(DataError, match=r"dataset\.json"):
                    action()

    def test_odd_values_in_a_description_are_one_line(self, copy: Path) -> None:
        description = json.loads((copy / "dataset.json").read_text())
        for changed in odd_documents(description):
            if changed != description:
                (copy / "dataset.json").write_text(json.dumps(changed))
                with contextlib.suppress(ManetDiffError):
                    read_settings(copy).to_dict()


class TestReading:
    def test_stored_metrics_are_those_of_the_stored_layout(self, whole: Path, pairs: Path) -> None:
        for layout in [*read_dataset(whole), *read_dataset(pairs)]:
            scores = metrics(layout.topology, layout.fleet)
            assert layout.metrics == {name: scores[name] for name in METRICS}
            assert layout.metrics["connected"] == layout.metrics["parity"] == 1.0

    def test_a_stored_layout_can_be_solved_again(self, whole: Path) -> None:
        for layout in read_dataset(whole):
            report = layout.topology.report
            assert (report.method, report.seed) == ("reference", 2 * layout.index + layout.step)
            again = solve(layout.fleet, seed=2 * layout.index + layout.step, moves=report.moves)
            assert again == layout.topology
            assert again.report.restarts == report.restarts

    def test_shards_make_up_the_set(self, whole: Path) -> None:
        dataset = read_dataset(whole)
        parts = [layout for k in range(4) for layout in read_shard(whole / f"shard-{k:05d}.parquet")]
        assert [layout.index for layout in dataset] == [layout.index for layout in parts] == list(range(22))
        assert [layout.topology for layout in dataset] == [layout.topology for layout in parts]
        assert dataset.settings == SETTINGS
        assert dataset.nodes == (6, 8)
        assert len({layout.family for layout in dataset}) > 3

    def test_arrays_hold_the_same_as_the_layouts(self, whole: Path, pairs: Path) -> None:
        for folder in (whole, pairs):
            dataset = read_dataset(folder)
            assert sum(len(dataset.arrays(n)) for n in dataset.nodes) == len(dataset)
            for n in dataset.nodes:
                arrays = dataset.arrays(n)
                layouts = [layout for layout in dataset if len(layout.fleet) == n]
                for k, layout in enumerate(layouts):
                    assert np.array_equal(arrays.positions[k], layout.fleet.positions)
                    assert np.array_equal(arrays.yaw[k], layout.fleet.yaw)
                    assert np.array_equal(arrays.adjacency[k], layout.topology.adjacency)
                    assert np.array_equal(arrays.parity[k], layout.topology.parity)
                    assert (arrays.index[k], arrays.step[k], arrays.family[k]) == (
                        layout.index,
                        layout.step,
                        layout.family,
                    )
                    assert {name: arrays.metrics[name][k] for name in METRICS} == layout.metrics
        with pytest.raises(DataError, match="no layouts of 7 nodes"):
            dataset.arrays(7)

    def test_moved_fleets_are_as_far_as_they_say(self, pairs: Path) -> None:
        layouts = list(read_dataset(pairs))
        assert [(layout.index, layout.step) for layout in layouts] == [(k, s) for k in range(8) for s in (0, 1)]
        for before, after in zip(layouts[::2], layouts[1::2], strict=True):
            assert after.displacement == displacement(before.fleet, after.fleet)
            assert 0.05 * 0.999 <= after.displacement <= 0.4 * 1.11
            assert after.motion in MOTIONS
            assert (before.displacement, before.motion) == (0.0, None)
            assert before.family == after.family

    def test_plain_parquet(self, whole: Path) -> None:
        table = pq.read_table(whole / "shard-00000.parquet")
        assert table.num_rows == 6
        row = table.to_pylist()[2]
        assert row["index"] == 2
        assert len(row["x"]) == len(row["y"]) == len(row["yaw"]) == len(row["parity"]) == row["nodes"]
        assert row["family"] in FAMILIES
        assert row["metric_links"] == len(row["link_source"]) == len(row["link_target"])
        assert json.loads(table.schema.metadata[b"manetdiff.settings"])["radio"] == Radio().to_dict()

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda shard: shard.unlink(), "not finished: shard-00001.parquet is missing"),
            (lambda shard: checksum_name(shard).unlink(), "checksum shard-00001.parquet.sha256 is missing"),
            (lambda shard: shard.write_bytes(shard.read_bytes()[:-9]), "altered or torn"),
            (lambda shard: reseal(shard, shard.read_bytes()[:-9]), "not a whole Parquet file"),
            (lambda shard: reseal(shard, b""), "not a whole Parquet file"),
            (lambda shard: reseal(shard, foreign_parquet()), "not one of solved layouts"),
            (lambda shard: reseal(shard, shard.with_name("shard-00002.parquet").read_bytes()), "layouts 6 … 11"),
            (lambda shard: reseal(shard, with_format(shard, b"manetdiff-layouts 99")), "format 99"),
            (lambda shard: (shard.parent / "dataset.json").unlink(), "has no dataset.json"),
        ],
    )
    def test_what_is_not_a_whole_set_is_refused(self, copy: Path, change: Callable[[Path], object], said: str) -> None:
        change(copy / "shard-00001.parquet")
        with pytest.raises(DataError, match=said):
            read_dataset(copy)

    def test_damage_shows_without_a_checksum_too(self, copy: Path, tmp_path: Path) -> None:
        data = (copy / "shard-00000.parquet").read_bytes()
        chance = random.Random(2)
        for _ in range(40):
            at = chance.randrange(4, len(data) // 2)  # within the pages; their own checksums guard them
            (tmp_path / "lone.parquet").write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            try:
                found = read_shard(tmp_path / "lone.parquet")
            except DataError:
                continue
            # A flip in a page header may touch nothing that is read.
            assert found.table.equals(read_shard(copy / "shard-00000.parquet").table)

    def test_missing_things_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="nowhere"):
            read_dataset(tmp_path / "nowhere")
        with pytest.raises(DataError, match=r"no dataset\.json"):
            read_dataset(tmp_path)
        with pytest.raises(DataError, match="no such file"):
            read_shard(tmp_path / "nothing.parquet")


def foreign_parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"index": [1, 2], "x": [0.5, 0.7]}), sink)
    return bytes(sink.getvalue().to_pybytes())


def with_format(shard: Path, said: bytes) -> bytes:
    table = pq.read_table(shard)
    return to_bytes(table.replace_schema_metadata({**table.schema.metadata, b"manetdiff.format": said}))


class TestStreams:
    def test_every_layout_depends_on_seed_and_index_only(self) -> None:
        longer = dataclasses.replace(SETTINGS, count=500, shard_size=100)
        other = dataclasses.replace(SETTINGS, seed=6)
        for index in range(8):
            # The fleet that is to be moved is the one without moves, too.
            here, there, start = (draw_layouts(settings, index)[0].fleet for settings in (SETTINGS, longer, PAIRS))
            assert np.array_equal(here.positions, there.positions)
            assert np.array_equal(here.positions, start.positions)
            assert not np.array_equal(here.positions[0], draw_layouts(other, index)[0].fleet.positions[0])

    def test_training_never_meets_a_benchmark(self) -> None:
        for seed in (0, *(benchmark.seed for benchmark in BENCHMARKS.values())):
            common = {"nodes": (16,), "count": 60, "seed": seed}
            training, benchmark = Settings(**common), Settings(**common, domain=BENCHMARK)  # type: ignore[arg-type]
            places = [
                {tuple(draw_layouts(settings, index)[0].fleet.positions[0]) for index in range(60)}
                for settings in (training, benchmark)
            ]
            assert not places[0] & places[1]

    def test_node_order_carries_nothing(self) -> None:
        # A wedge's leader comes first when drawn; here the foremost node is anywhere.
        wedges = Settings(nodes=(7,), count=200, seed=1, families=("wedge",))
        foremost = []
        for index in range(200):
            fleet = draw_layouts(wedges, index)[0].fleet.normalised()
            foremost.append(int(np.argmax(fleet.positions[:, 0])))
        assert np.bincount(foremost, minlength=7).min() > 10

    def test_a_radio_in_metres_gets_fleets_that_it_can_connect(self) -> None:
        settings = Settings(nodes=(6,), count=5, seed=1, radio=Radio(unit=1000.0, range=12.0), search_moves=100)
        for index in range(5):
            layout = draw_layouts(settings, index)[0].layout
            assert layout.radio == settings.radio
            assert solve(layout, moves=100).report.components == 1


class TestBenchmarks:
    def test_families_take_turns_and_the_file_can_be_continued(self, tmp_path: Path) -> None:
        settings = dataclasses.replace(BENCHMARKS["bench16"].settings(50), nodes=(6,), count=22, shard_size=8)
        made = make_joined(settings, tmp_path / "once.parquet")
        assert [layout.family for layout in made] == [*AIR, *AIR]
        # As left by a run that was stopped after its first part.
        generate(settings, tmp_path / "again.parquet.parts")
        (tmp_path / "again.parquet.parts" / "shard-00001.parquet").unlink()
        make_joined(settings, tmp_path / "again.parquet", workers=1)
        assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "once.parquet").read_bytes()
        assert sorted(content(tmp_path)) == ["again.parquet", "once.parquet"]
        assert not is_done(tmp_path / "again.parquet", settings, range(22))  # a benchmark is no shard

    def test_a_finished_file_is_left_alone(self, tmp_path: Path) -> None:
        settings = dataclasses.replace(BENCHMARKS["bench16"].settings(50), nodes=(6,), count=4)
        out = tmp_path / "set.parquet"
        make_joined(settings, out)
        before = out.stat().st_mtime_ns
        # As left by a run that was killed while it cleared up.
        (tmp_path / "set.parquet.parts").mkdir()
        (tmp_path / "set.parquet.parts" / "shard-00000.parquet").write_bytes(b"")
        make_joined(settings, out)
        assert list(content(tmp_path)) == ["set.parquet"]
        assert out.stat().st_mtime_ns == before
        with pytest.raises(DataError, match="search_moves = 50, not 60"):
            make_joined(dataclasses.replace(settings, search_moves=60), out)

    @pytest.mark.parametrize("name", PACKAGED)
    def test_packaged_sets(self, name: str) -> None:
        layouts = load_benchmark(name)
        known = BENCHMARKS[name]
        assert len(layouts) == known.count
        assert [layout.family for layout in layouts[:22]] == [*AIR, *AIR][: known.count]
        drawn = known.settings()
        for layout in layouts[::97]:
            assert isinstance(layout, SolvedLayout)
            assert len(layout.fleet) in known.nodes
            assert np.array_equal(layout.fleet.positions, draw_layouts(drawn, layout.index)[0].fleet.positions)
            recomputed = metrics(layout.topology, layout.fleet)
            assert {name: recomputed[name] for name in METRICS} == pytest.approx(layout.metrics, rel=1e-12, abs=1e-12)
            assert layout.metrics["connected"] == 1.0
