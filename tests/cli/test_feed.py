"""`manetdiff feed`: from files and receivers to a server that records what it gets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from support.command_help import Run, refused
from support.fake_controller import FakeController

PATROL = str(Path(__file__).parents[2] / "docs" / "examples" / "patrol.movements")
LINE = "MSG,3,1,1,{},1,,,,,,10000,,,48.{},11.5,,,0,0,0,0\n"


def rows(out: str) -> dict[str, str]:
    return {line.rpartition(" ")[0].strip(): line.rpartition(" ")[2] for line in out.splitlines()}


def test_a_file_goes_to_a_network_that_is_made_for_it(run: Run, controller: FakeController, tmp_path: Path) -> None:
    (tmp_path / "radio.json").write_text('{"unit": 1000, "range": 20}')
    (tmp_path / "token").write_text("abc\n")
    common = ("feed", "replay", PATROL, "--to", controller.url, "--network", "Patrol", "--step", "20")
    ran = run(*common, "--create", "--radio", "radio.json", "--speed", "200", "--token-file", "token")
    assert (ran.code, ran.err) == (0, "")
    told = rows(ran.out)
    count = len(controller.reports)
    assert told["reports"] == told["versions"] == told["version"] == str(count)
    assert (told["nodes"], told["refused"]) == ("6", "0")
    assert count + int(told.get("moments skipped", 0)) == 4
    made = next(one for one in controller.asked if one.method == "POST")
    assert (made.body["name"], made.body["radio"]["range"]) == ("Patrol", 20)
    assert {one.headers.get("Authorization") for one in controller.asked} == {"Bearer abc"}
    again = run(*common, "--create", "--speed", "1000", "--loop", "--reports", "2")  # there is one of this name
    assert (again.code, len(controller.networks), rows(again.out)["reports"]) == (0, 1, "2")


def test_refused_reports_are_counted_and_the_last_is_said(run: Run, controller: FakeController) -> None:
    network = controller.add("n0", "Patrol")
    known: tuple[int, dict[str, str], Any] = (200, {}, {"networks": [network]})
    controller.answers.extend([known, known, (200, {}, network), *[(422, {}, {"detail": "not like this"})] * 9])
    ran = run("feed", "replay", PATROL, "--to", controller.url, "--network", "n0", "--speed", "500", "--step", "30")
    assert ran.code == 0
    assert (rows(ran.out)["reports"], int(rows(ran.out)["refused"]) > 0) == ("0", True)
    assert ran.err == f"manetdiff: warning: {controller.url}: not like this\n"  # once, when it happens


def test_mistakes_are_one_line(run: Run, controller: FakeController) -> None:
    to = ("--to", controller.url, "--network", "Patrol")
    assert "there is no network 'Patrol'; known: none" in refused(run("feed", "replay", PATROL, *to))
    assert "--radio goes with --create" in refused(run("feed", "replay", PATROL, *to, "--radio", "r.json"))
    assert "there is no such file" in refused(run("feed", "replay", "nothing.csv", *to))
    assert "speed must be" in refused(run("feed", "replay", PATROL, *to, "--create", "--speed", "0"))
    assert "the step must be" in refused(run("feed", "replay", PATROL, *to, "--step", "0"))
    assert "give a host and a port" in refused(run("feed", "sbs", "a:b:c", *to))
    elsewhere = ("--to", "http://192.0.2.1", "--network", "Patrol", "--token-file", "token")
    Path("token").write_text("abc")
    assert "https only" in refused(run("feed", "replay", PATROL, *elsewhere))
    controller.close()
    assert "cannot be reached" in refused(run("feed", "replay", PATROL, *to))


def test_aircraft_of_a_receiver(run: Run, controller: FakeController) -> None:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as station:

        def send() -> None:
            connection, _ = station.accept()
            with connection:
                connection.sendall((LINE.format("3C6444", 1) + "nonsense\n" + LINE.format("3C6445", 2)).encode())
                over.wait(20)

        threading.Thread(target=send, daemon=True).start()
        address = f"127.0.0.1:{station.getsockname()[1]}"
        options = ("--create", "--every", "0.2", "--reports", "1")
        ran = run("feed", "sbs", address, "--to", controller.url, "--network", "Airspace", *options)
        over.set()
    assert (ran.code, ran.err) == (0, "")
    assert [node["id"] for node in controller.reports[0]["nodes"]] == ["3c6444", "3c6445"]
    assert (rows(ran.out)["positions"], rows(ran.out)["malformed"]) == ("2", "1")


def test_vehicles_over_mavlink(run: Run, controller: FakeController) -> None:
    common = pytest.importorskip("pymavlink.dialects.v20.common", reason="pymavlink is not installed")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("127.0.0.1", 0))
        port = sender.getsockname()[1]
    message = common.MAVLink_global_position_int_message(0, 481_000_000, 115_000_000, 520_000, 0, 0, 0, 0, 9000)
    datagram = message.pack(common.MAVLink(None, srcSystem=7))
    done = threading.Event()

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not done.wait(0.02):
                sender.sendto(datagram, ("127.0.0.1", port))

    threading.Thread(target=send, daemon=True).start()
    options = ("--listen", f"127.0.0.1:{port}", "--prefix", "drone-", "--create", "--every", "0.05", "--reports", "2")
    ran = run("feed", "mavlink", "--to", controller.url, "--network", "Patrol", *options)
    done.set()
    assert (ran.code, rows(ran.out)["reports"]) == (0, "2")
    assert controller.reports[0]["nodes"] == [
        {"id": "drone-7", "lat": pytest.approx(48.1), "lon": pytest.approx(11.5), "alt": 520.0, "heading": 90.0}
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_ends_it_with_its_table_and_one_line(controller: FakeController) -> None:
    command = [sys.executable, "-m", "manetdiff", "feed", "replay", PATROL, "--speed", "0.001"]
    options = ["--to", controller.url, "--network", "Patrol", "--create"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    controller.wait_for(1, seconds=60)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, rows(out)["refused"], err) == (130, "0", "manetdiff: interrupted\n")
