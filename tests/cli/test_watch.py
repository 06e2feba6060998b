"""`manetdiff watch`: what a server streams, for people, for pipes, and for others."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from manetdiff.cli.watch_table import MOST_LINKS, line_of, watched_table
from support.command_help import Run, refused
from support.fake_controller import FakeController, fake_controller, state


@pytest.fixture
def controller(controller: FakeController) -> FakeController:
    """With a network that changes once, and is deleted."""
    controller.add("n0", "Patrol")
    delta = {**state(2, [("B", "C")], 4.0, ""), "gone": ["A"], "unlinked": [["A", "B"]]}
    again = {**delta, "sequence": 3, "gone": [], "unlinked": []}
    controller.streams.append(
        [("snapshot", state(1, [("A", "B")])), ("delta", delta), ("delta", again), ("deleted", {})]
    )
    return controller


def test_in_a_pipe_each_version_is_a_line(run: Run, controller: FakeController) -> None:
    ran = run("watch", controller.url)
    first, second = ran.out.splitlines()
    assert first.startswith("version 1  time 0.0 s  nodes 3  links 1  T 12.50 Mbit/s  sustained 6.25 Mbit/s  valid yes")
    assert (second.startswith("version 2  time 4.0 s  nodes 2"), second.endswith("+1 −1")) == (True, True)
    assert (ran.code, ran.err) == (0, "manetdiff: the network Patrol was deleted\n")


def test_as_json_each_version_is_its_whole_state(run: Run, controller: FakeController) -> None:
    ran = run("watch", controller.url, "--network", "Patrol", "--json")
    first, second = map(json.loads, ran.out.splitlines())
    assert first == state(1, [("A", "B")])
    assert [node["id"] for node in second["nodes"]] == ["B", "C"]
    assert (second["links"], "gone" in second) == (state(2, [("B", "C")])["links"], False)


@pytest.mark.parametrize("version", [1, None])
def test_once_is_the_present_state(run: Run, controller: FakeController, version: int | None) -> None:
    controller.streams[0][0] = ("snapshot", state(version, []))
    ran = run("watch", controller.url, "--network", "n0", "--once", "--json")
    assert (ran.code, ran.err, json.loads(ran.out)) == (0, "", state(version, []))
    assert run("watch", controller.url, "--once").out.startswith("version 1" if version else "no topology yet: no pos")


def test_states_are_passed_on(run: Run, controller: FakeController, tmp_path: Path) -> None:
    ran = run("watch", controller.url, "--eel", "links.eel", "--webhook", f"{controller.url}/hook")
    assert ran.code == 0
    lines = (tmp_path / "links.eel").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "0.000000 nem:1 pathloss nem:2,80.000000,80.000000",
        "4.000000 nem:1 pathloss nem:2,200.000000,200.000000",
        "4.000000 nem:2 pathloss nem:3,80.000000,80.000000",
    ]
    assert [one.body["version"] for one in controller.asked if one.path == "/hook"][-1] == 2


def test_events_on_standard_output_stand_there_alone(run: Run, controller: FakeController) -> None:
    ran = run("watch", controller.url, "--eel", "-")
    assert all(" nem:" in line for line in ran.out.splitlines())
    assert ran.err.splitlines()[0].startswith("version 1")


def test_trouble_with_a_sink_is_said_and_does_not_end_it(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    from manetdiff.client.sinks import newest

    monkeypatch.setattr(newest, "FIRST_WAIT_S", 0.01)
    with fake_controller() as nobody:
        address = nobody.url
    ran = run("watch", controller.url, "--json", "--webhook", f"{address}/hook")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)
    assert f"webhook: the last state has not arrived: {address}/hook: cannot be reached" in ran.err


def test_mistakes_are_one_line(run: Run, controller: FakeController) -> None:
    assert "would both write" in refused(run("watch", controller.url, "--json", "--eel", "-"))
    assert "known: n0 ('Patrol')" in refused(run("watch", controller.url, "--network", "X"))
    assert "give a broker" in refused(run("watch", controller.url, "--mqtt", "localhost"))
    assert "is not an address" in refused(run("watch", "localhost"))
    controller.close()
    assert "cannot be reached" in refused(run("watch", controller.url))


def drawn(one: dict[str, Any], troubles: list[str], width: int = 100) -> str:
    text = io.StringIO()
    Console(file=text, force_terminal=True, color_system=None, width=width).print(watched_table(one, troubles))
    return text.getvalue()


def test_the_table_says_everything() -> None:
    one = state(7, [("A", "B"), ("B", "C")], 12.5)
    one["nodes"][2]["stale"] = True
    one["update"]["unmet"] = "A–C is out of range"
    shown = drawn(one, ["not connected: it is gone"])
    for part in ("Patrol (n0)", "12.5 s", "12.50 Mbit/s", "75.0 %", "quick, 4.5 ms", "A–B, B–C", "A–C is out of range"):
        assert part in shown
    assert "not connected: it is gone" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["added", "A–B"] in rows
    assert ["dropped", "B–C"] in rows
    assert ["stale", "C"] in rows


def test_ids_from_anywhere_are_shown_not_obeyed_and_long_lists_are_cut() -> None:
    links = [("[bold]\x1b[31m", str(i)) for i in range(MOST_LINKS + 5)]
    one = state(1, links)
    one["network"]["name"] = "\x1b]0;title\x07"
    shown = drawn(one, ["\x1b[2J"], 4000)
    assert "\x1b[31m" not in shown
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown
    assert "[bold]" in shown
    assert "and 5 more" in shown
    assert "\x1b" not in line_of(one)


def test_before_there_is_a_topology_it_is_said_what_it_waits_for() -> None:
    waiting = {**state(None, [], nodes=""), "time": None, "metrics": None, "update": None}
    assert "no positions yet" in drawn(waiting, [])
    assert line_of(waiting) == "no topology yet: no positions yet"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_ends_it_in_one_line(controller: FakeController) -> None:
    controller.streams[0] = [("snapshot", state(1, []))]  # and it connects again, and again
    command = [sys.executable, "-m", "manetdiff", "watch", controller.url, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    controller.wait_for(1, "/events", 60)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["version"] == 1
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("manetdiff: interrupted\n")  # it may have been in the middle of a warning
    assert "Traceback" not in err
