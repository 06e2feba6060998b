"""A fleet through time: the loop, what it writes, the report, and the command."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import manetdiff as md
from manetdiff.errors import DisconnectedWarning, FormatError
from manetdiff.fleet import Fleet
from manetdiff.flights.delivery import link_names
from manetdiff.formats import read_fleet, read_topology, read_tracks
from manetdiff.pictures.animation import check_animation_path, gif_bytes, write_animation
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model
from manetdiff.scenarios import draw, move
from manetdiff.simulation import Moment, simulate
from manetdiff.simulation.frames import COLOURS, moment_pictures
from manetdiff.simulation.tables import metrics_csv, summary, write_topologies
from manetdiff.topology import METRICS, Topology, metrics
from support.command_help import Run, refused

NODES = 8


@pytest.fixture(scope="module")
def model() -> Model:
    return md.load()


@pytest.fixture(scope="module")
def flight() -> list[tuple[float, Fleet]]:
    rng = np.random.default_rng(3)
    path = move(draw("wedge", NODES, rng), "gauss-markov", rng, duration=40.0, step=8.0)
    return [(8.0 * place, fleet) for place, fleet in enumerate(path)]


@pytest.fixture(scope="module")
def moments(model: Model, flight: list[tuple[float, Fleet]]) -> list[Moment]:
    return list(simulate(flight, model, seed=1, compare=True))


class TestSimulate:
    def test_has_a_valid_topology_at_every_moment_scored_where_the_fleet_is(
        self, moments: list[Moment], flight: list[tuple[float, Fleet]]
    ) -> None:
        assert [(one.time, one.fleet) for one in moments] == flight
        assert all(one.metrics == metrics(one.topology, one.fleet) for one in moments)
        assert all(one.metrics["valid"] == 1.0 for one in moments)
        assert all(one.milliseconds > 0 for one in moments)

    def test_counts_what_changed_since_the_moment_before(self, moments: list[Moment]) -> None:
        first, *later = moments
        assert (first.continuity, first.mode, first.dropped) == (None, "generated", 0)
        assert first.added == len(first.topology.links)
        for before, after in zip(moments, later, strict=False):
            old, new = set(link_names(before.topology)), set(link_names(after.topology))
            assert (after.added, after.dropped) == (len(new - old), len(old - new))
            assert after.continuity == pytest.approx(len(old & new) / len(old | new))
        assert sum(one.added + one.dropped for one in later) > 0

    def test_holds_the_first_topology_beside_the_updated_one(self, moments: list[Moment]) -> None:
        first = moments[0]
        for one in moments:
            assert one.held == pytest.approx(metrics(first.topology, one.fleet)["throughput"])
        assert first.held == first.metrics["throughput"]

    def test_compares_with_topologies_made_anew_only_where_asked(
        self, moments: list[Moment], model: Model, flight: list[tuple[float, Fleet]]
    ) -> None:
        for one in moments:
            anew = model.generate(one.fleet, seed=1)
            assert one.anew == pytest.approx(metrics(anew, one.fleet)["throughput"])
        assert all(one.anew is None for one in simulate(flight[:2], model))

    def test_the_same_seed_gives_the_same_flight(
        self, moments: list[Moment], model: Model, flight: list[tuple[float, Fleet]]
    ) -> None:
        assert [one.topology for one in simulate(flight, model, seed=1)] == [one.topology for one in moments]

    def test_makes_a_topology_anew_when_it_is_due(self, model: Model, flight: list[tuple[float, Fleet]]) -> None:
        modes = [one.mode for one in simulate(flight, model, refresh=16.0)]
        assert [mode == "anew" for mode in modes] == [False, False, True, False, True, False]
        assert modes[0] == "generated"
        assert all(one.mode == "anew" for one in list(simulate(flight[:3], model, mode="anew"))[1:])

    def test_nodes_may_join_and_leave(self, model: Model, flight: list[tuple[float, Fleet]]) -> None:
        def without(fleet: Fleet, gone: str) -> Fleet:
            stay = [place for place, name in enumerate(fleet.ids) if name != gone]
            return Fleet(fleet.positions[stay], fleet.yaw[stay], [fleet.ids[place] for place in stay])

        some = [flight[0], (8.0, without(flight[1][1], "3")), flight[2]]
        first, fewer, again = simulate(some, model)
        assert [len(one.fleet) for one in (first, fewer, again)] == [NODES, NODES - 1, NODES]
        gone = [pair for pair in link_names(first.topology) if "3" in pair]
        stay = [pair for pair in link_names(first.topology) if "3" not in pair]
        places = {name: place for place, name in enumerate(fewer.fleet.ids)}
        parity = [first.topology.parity[first.fleet.ids.index(name)] for name in fewer.fleet.ids]
        left = Topology([sorted((places[a], places[b])) for a, b in stay], parity)
        assert fewer.held == pytest.approx(metrics(left, fewer.fleet)["throughput"])
        assert again.held == pytest.approx(metrics(first.topology, again.fleet)["throughput"])
        assert fewer.dropped >= len(gone) > 0
        assert all(one.metrics["valid"] == 1.0 for one in (first, fewer, again))


class TestTables:
    def test_metrics_are_a_row_a_moment_with_empty_cells_for_nothing(self, moments: list[Moment]) -> None:
        rows = list(csv.DictReader(io.StringIO(metrics_csv(moments))))
        assert len(rows) == len(moments)
        for row, one in zip(rows, moments, strict=True):
            assert float(row["time"]) == one.time
            assert int(row["nodes"]) == NODES
            assert {name: float(row[name]) for name in (*METRICS, "sustained")} == one.metrics
            assert row["mode"] == one.mode
        assert rows[0]["continuity"] == ""
        assert float(rows[1]["continuity"]) == moments[1].continuity

    def test_every_line_of_topologies_is_netjson_with_its_time(self, moments: list[Moment], tmp_path: Path) -> None:
        write_topologies(moments, tmp_path / "all.jsonl")
        lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["properties"]["time"] for line in lines] == [one.time for one in moments]
        (tmp_path / "third.json").write_text(lines[2], encoding="utf-8")
        fleet, topology = read_topology(tmp_path / "third.json")
        assert topology == moments[2].topology
        assert np.array_equal(fleet.positions, moments[2].fleet.positions)

    def test_the_summary_is_of_all_moments_and_continuity_of_updates_alone(self, moments: list[Moment]) -> None:
        told = summary(moments)
        assert told["moments"] == len(moments)
        assert told["duration"] == 40.0
        assert told["throughput"] == pytest.approx(np.mean([one.metrics["throughput"] for one in moments]))
        assert told["continuity"] == pytest.approx(np.mean([one.continuity for one in moments[1:]]))
        assert told["slowest_update_ms"] == max(one.milliseconds for one in moments[1:])
        anew = sum(one.anew for one in moments if one.anew is not None)
        assert told["throughput_over_anew"] == pytest.approx(sum(one.metrics["throughput"] for one in moments) / anew)

    def test_the_summary_of_one_moment_has_no_updates(self, moments: list[Moment]) -> None:
        told = summary(moments[:1])
        assert (told["continuity"], told["update_ms"], told["slowest_update_ms"]) == (None, None, None)


class TestAnimation:
    def test_frames_have_one_size_and_new_links_their_colour(self, moments: list[Moment]) -> None:
        drawn = list(moment_pictures(moments))
        assert len({frame.size for frame in drawn}) == 1
        made = Image.open(io.BytesIO(gif_bytes(drawn, [100] * len(drawn), COLOURS)))
        assert made.n_frames == len(drawn)  # type: ignore[attr-defined]
        for place, one in enumerate(moments[1:], start=1):
            made.seek(place)
            colours = {colour for _, colour in made.convert("RGB").getcolors(1 << 24) or []}
            green = tuple(int(COLOURS[3][start : start + 2], 16) for start in (1, 3, 5))
            assert green in colours, one.time  # in the legend at least

    def test_mp4_without_ffmpeg_is_refused_in_one_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name: None)
        with pytest.raises(FormatError, match="needs the program ffmpeg"):
            check_animation_path(tmp_path / "flight.mp4")
        check_animation_path(tmp_path / "flight.gif")
        with pytest.raises(FormatError, match=r"\.gif or \.mp4"):
            check_animation_path(tmp_path / "flight.avi")

    def test_mp4_goes_through_ffmpeg_frame_by_frame(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program = tmp_path / "ffmpeg"
        counting = "open(sys.argv[-1], 'wb').write(str(len(sys.stdin.buffer.read())).encode())"
        program.write_text(f"#!{sys.executable}\nimport sys\n{counting}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        pictures = [Image.new("RGB", (11, 6), colour) for colour in ("red", "blue")]
        write_animation(pictures, tmp_path / "a.mp4", [100, 300])
        # Sizes are made even; the second picture stays for three of the tenths of a second.
        assert (tmp_path / "a.mp4").read_bytes() == str(10 * 6 * 3 * (1 + 3)).encode()


class TestSimulateCommand:
    def test_flies_a_scenario_and_writes_everything(self, run: Run, tmp_path: Path) -> None:
        ran = run("simulate", "--nodes", "6", "--duration", "6", "--step", "2", "--out", "a/b", "--json")
        assert (ran.code, ran.err) == (0, "")
        told = json.loads(ran.out)
        assert told["moments"] == 4
        names = ["animation.gif", "metrics.csv", "report.html", "topologies.jsonl", "tracks.csv"]
        assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == names
        assert sorted(Path(file).name for file in told["files"]) == names
        assert len(read_tracks(tmp_path / "a" / "b" / "tracks.csv").tracks) == 6

    def test_a_flight_written_as_a_table_flies_again_the_same(self, run: Run, tmp_path: Path) -> None:
        options = ("--step", "2", "--animation", "none")
        assert run("simulate", "--nodes", "6", "--duration", "6", *options, "--out", "first").code == 0
        assert run("simulate", "first/tracks.csv", *options, "--out", "second").code == 0
        assert (tmp_path / "first" / "tracks.csv").read_text() == (tmp_path / "second" / "tracks.csv").read_text()
        first, second = ((tmp_path / name / "topologies.jsonl").read_text() for name in ("first", "second"))
        assert first == second

    def test_reads_ns2_and_bonnmotion_for_as_long_as_asked(self, run: Run, tmp_path: Path) -> None:
        lines = [f"0 {100 * k} {50 * (k % 3)} 30 {100 * k + 90} {40 * k}" for k in range(5)]
        (tmp_path / "s.movements").write_text("\n".join(lines) + "\n")
        ran = run("simulate", "s.movements", "--duration", "10", "--step", "5", "--animation", "none", "--json")
        assert json.loads(ran.out)["moments"] == 3
        ran = run("simulate", "s.movements", "--start", "20", "--step", "5", "--animation", "none", "--json")
        assert json.loads(ran.out)["moments"] == 3

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["none.tcl"], "none.tcl: there is no such file"),
            (["--family", "swarm"], "swarm"),
            (["--step", "0"], "step"),
            (["--duration", "-1"], "--duration"),
            (["--animation", "avi"], "--animation"),
            (["--kind", "ns2"], "--kind"),
            (["--motion", "warp"], "warp"),
            (["--mode", "sideways", "--duration", "2", "--nodes", "4"], "sideways"),
            (["--preset", "magic", "--duration", "2", "--nodes", "4"], "magic"),
        ],
    )
    def test_what_is_wrong_is_one_line_and_exit_code_2(self, run: Run, arguments: list[str], words: str) -> None:
        assert words in refused(run("simulate", *arguments, "--out", "o"))

    def test_says_at_which_time_nodes_meet(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "meet.movements").write_text("0 0 0 10 10 0\n0 10 0 10 0 0\n")
        assert "at 5 s" in refused(run("simulate", "meet.movements", "--step", "5", "--animation", "none"))


class TestDoctor:
    def test_names_versions_and_passes_its_checks(self, run: Run) -> None:
        ran = run("doctor", "--json")
        assert (ran.code, ran.err) == (0, "")
        told = json.loads(ran.out)
        assert told["facts"]["manetdiff"] == md.__version__
        assert told["facts"]["numpy"] == np.__version__
        assert all(check["ok"] for check in told["checks"].values())
        assert "netdiff" in told["checks"]["weights"]["told"]

    def test_a_failing_check_is_named_and_ends_with_1(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(name: str) -> None:
            raise OSError("the disk is gone")

        monkeypatch.setattr("manetdiff.runtime.bundle.find_bundle", broken)
        ran = run("doctor")
        assert ran.code == 1
        assert "FAILED" in ran.out
        assert "the disk is gone" in ran.out

    def test_a_topology_that_is_not_valid_is_a_failure(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        real = Model.generate

        def few_links(self: Model, fleet: Fleet, **asked: object) -> md.Topology:
            made = real(self, fleet, **asked)  # type: ignore[call-overload]
            return md.Topology(made.links[:5], made.parity, made.report)

        monkeypatch.setattr(Model, "generate", few_links)
        told = json.loads(run("doctor", "--json").out)
        assert not told["checks"]["generate and update"]["ok"]
        assert not told["checks"]["search"]["ok"]


class TestConvertCommand:
    def test_says_as_json_what_was_written(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text("id,x,y,yaw\na,0,0,0\nb,10,0,0\n")
        told = json.loads(run("convert", "f.csv", "f.json", "--json").out)
        assert told == {"in": "f.csv", "out": "f.json", "format": "fleet", "left_out": []}
        assert len(read_fleet(tmp_path / "f.json")) == 2

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["f.csv", "f.unknown"], "--to"),
            (["f.csv", "f.json", "--from", "word"], "--from"),
            (["f.csv", "f.json", "--to", "word"], "--to"),
            (["f.csv", "e.eel"], "latitude"),
            (["f.csv", "f.json", "--time", "3"], "--time"),
            (["f.csv", "-", "--json", "--to", "fleet"], "not both"),
        ],
    )
    def test_what_cannot_be_converted_is_one_line_and_nothing_is_written(
        self, run: Run, tmp_path: Path, arguments: list[str], words: str
    ) -> None:
        (tmp_path / "f.csv").write_text("id,x,y,yaw\na,0,0,0\nb,10,0,0\n")
        assert words in refused(run("convert", *arguments))
        assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_generate_and_update_say_that_a_network_is_in_parts(run: Run, tmp_path: Path) -> None:
    far = "id,x,y,yaw\na,0,0,0\nb,1,0,0\nc,1000000,0,0\nd,1000001,0,0\n"
    (tmp_path / "far.csv").write_text(far)
    (tmp_path / "radio.json").write_text('{"unit": 1, "range": 10}')
    ran = run("generate", "far.csv", "--radio", "radio.json", "--out", "t.json")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    said = "manetdiff: warning: the network is in 2 parts: 'c', 'd' are out of range: that is 10 m, and 1,000,000 m"
    assert ran.err.startswith(said)
    ran = run("update", "t.json", "far.csv", "--radio", "radio.json")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(said)
    (tmp_path / "near.csv").write_text("id,x,y,yaw\na,0,0,0\nb,1,0,0\nc,2,1,0\n")
    assert run("generate", "near.csv").err == ""


def test_a_flight_in_parts_is_said_once_and_goes_on_when_all_nodes_are_others(model: Model) -> None:
    radio = Radio(unit=1.0, range=10.0)

    def fleet(ids: str, far: float) -> Fleet:
        return Fleet([(0, 0), (1, 0), (far, 2), (far + 1, 2.5)], np.zeros(4), ids)

    flight = [(0.0, fleet("abcd", 2)), (1.0, fleet("abcd", 90)), (2.0, fleet("abcd", 95)), (3.0, fleet("wxyz", 2))]
    with pytest.warns(DisconnectedWarning) as caught:
        made = list(simulate(flight, model, radio=radio))
    assert [str(one.message) for one in caught] == [
        "at 1 s the network is in 2 parts: 'c', 'd' are out of range: that is 10 m, and 89.1 m would join all nodes"
    ]
    assert [one.topology.report.components for one in made] == [1, 2, 2, 1]
    assert (made[3].mode, made[3].continuity) == ("generated", 0.0)
    assert made[3].dropped == len(made[2].topology.links)


def test_update_draws_before_and_after_whoever_joined_or_left_and_refuses_strangers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("id,x,y,yaw\na,0,0,0\nb,1,0,0\nc,2,1,0\n")
    (tmp_path / "two.csv").write_text("id,x,y,yaw\na,0,0,0\nb,1,0.2,0\nc,2,0.5,0\n")
    (tmp_path / "other.csv").write_text("id,x,y,yaw\nd,2,0.5,0\nb,1,0.2,0\na,0,0,0\n")
    (tmp_path / "strangers.csv").write_text("id,x,y,yaw\nx,0,0,0\ny,1,0.2,0\n")
    assert run("generate", "one.csv", "--out", "t.json", "--plot", "t.png", "--dark").code == 0
    assert run("update", "t.json", "two.csv", "--change", "change.png").code == 0
    with Image.open(tmp_path / "t.png") as picture:
        assert sum(picture.convert("RGB").getpixel((1, 1))) < 120  # type: ignore[arg-type]
    with Image.open(tmp_path / "change.png") as picture:
        assert picture.width > 1.5 * picture.height
    assert run("update", "t.json", "other.csv", "--change", "other.png").code == 0
    assert (tmp_path / "other.png").exists()
    said = refused(run("update", "t.json", "strangers.csv", "--change", "no.png"))
    assert "share no node: it has 'a', 'b', 'c', the fleet 'x', 'y'" in said
    assert not (tmp_path / "no.png").exists()
    assert run("update", "t.json", "two.csv", "--change", "change.bmp").code == 2
