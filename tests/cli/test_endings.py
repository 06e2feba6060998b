"""How commands end when the world is against them: pipes, full and closed streams, full disks, odd names, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from manetdiff.cli import app
from manetdiff.weights import DEFAULT, RUNTIME_FILE, find
from support.command_help import Ran, Run, refused

FLEET = "id,x,y,yaw\na,0,0,0\nb,900,100,0\nc,2000,900,0\nd,2500,-700,0\n"
SOLVE = ("solve", "f.csv", "--method", "greedy")
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and /dev are POSIX's")


@pytest.fixture(autouse=True)
def fleet_of_four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.csv").write_text(FLEET)
    monkeypatch.chdir(tmp_path)


def started(*arguments: str, before: str = "", **options: int) -> subprocess.Popen[str]:
    """The command in a process of its own. before: Python that it runs first, such as to close a stream."""
    code = f"import os, sys, time\n{before}\nimport sys; sys.argv = {['manetdiff', *arguments]!r}\n"
    code += "from manetdiff.cli.entry import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=options.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Its exit code and the lines on standard error."""
    _, err = process.communicate(timeout=60)
    return process.returncode, err.splitlines()


class TestInputsThatCanBeReadOnce:
    @posix
    def test_are_read_once(self, run: Run, tmp_path: Path) -> None:
        run(*SOLVE, "--out", "t.json")
        bundle = find(DEFAULT, RUNTIME_FILE)

        def pipe(name: str, content: bytes) -> str:
            os.mkfifo(tmp_path / name)
            threading.Thread(target=(tmp_path / name).write_bytes, args=(content,), daemon=True).start()
            return name

        topology, fleet = (tmp_path / "t.json").read_bytes(), FLEET.encode()
        radio = pipe("radio", b"{}")
        assert run("solve", pipe("fleet", fleet), "--method", "greedy", "--radio", radio).code == 0
        assert run("convert", pipe("topology", topology), "back.json").code == 0
        assert (tmp_path / "back.json").read_bytes() == topology
        ran = run("update", pipe("old", topology), pipe("new", fleet), "--weights", pipe("w", bundle.read_bytes()))
        assert ran.code == 0, ran


class TestStreams:
    @pytest.mark.parametrize(
        "arguments", [("--version",), ("--help",), SOLVE, (*SOLVE, "--json"), (*SOLVE, "--out", "-"), ("weights",)]
    )
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_a_full_standard_output_is_one_line(
        self, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with open("/dev/full", "w") as full:  # noqa: PTH123
            monkeypatch.setattr(sys, "stdout", full)
            monkeypatch.setattr(sys, "argv", ["manetdiff", *arguments])
            with pytest.raises(SystemExit) as caught:
                app.main()
        said = capsys.readouterr().err
        assert caught.value.code == 2
        assert said == "manetdiff: standard output: cannot be written: No space left on device\n"

    @posix
    def test_a_closed_standard_output_is_refused_before_any_work(self, tmp_path: Path) -> None:
        process = started(*SOLVE, "--out", "t.json", before="os.close(1); sys.stdout = None")
        assert ended(process) == (2, ["manetdiff: standard output is closed"])
        assert not (tmp_path / "t.json").exists()

    def test_a_closed_standard_input_is_said(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        monkeypatch.setattr(sys, "argv", ["manetdiff", "solve", "-"])
        with pytest.raises(SystemExit) as caught:
            app.main()
        assert (caught.value.code, capsys.readouterr().err) == (2, "manetdiff: standard input: is closed\n")

    def test_errors_do_not_go_to_standard_output_where_standard_error_is_closed(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        monkeypatch.setattr(sys, "argv", ["manetdiff", "solve", "nothing.csv"])
        with pytest.raises(SystemExit) as caught:
            app.main()
        assert (caught.value.code, capsys.readouterr().out) == (2, "")


class TestAFullDisk:
    @pytest.mark.parametrize(
        "arguments",
        [
            (*SOLVE, "--out", "t.json", "--plot", "t.png"),
            ("simulate", "--nodes", "4", "--duration", "4", "--out", "s", "--polish", "0"),
        ],
    )
    def test_leaves_none_of_the_outputs_whichever_of_them_it_stops(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
    ) -> None:
        write, written = os.fsync, 0

        def full_after(files: int) -> Callable[[int], None]:
            def fsync(descriptor: int) -> None:
                nonlocal written
                written += 1
                if written > files:
                    raise OSError(28, "No space left on device")
                write(descriptor)

            return fsync

        for files in range(2):
            written = 0
            monkeypatch.setattr(os, "fsync", full_after(files))
            assert "cannot be written: No space left on device" in refused(run(*arguments))
            assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "f.csv"]


class TestNames:
    def test_that_are_no_text_work_wherever_they_stand(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        odd = os.fsdecode(b"\xff\xfe")
        tracks = "time,id,x,y\n" + "".join(f"{t},{k},{900 * k + t},{k * k}\n" for t in range(3) for k in range(4))
        try:
            Path(f"{odd}.csv").write_text(tracks)
        except OSError:
            pytest.skip("the file system takes no such names")
        monkeypatch.setenv("PYTHONIOENCODING", "utf-8:strict")
        ran = run("simulate", f"{odd}.csv", "--out", odd, "--step", "1", "--animation", "none")
        assert ran.code == 0, ran
        assert "\\udcff\\udcfe" in ran.out
        assert len(list(Path(odd).iterdir())) == 4
        assert run("solve", "f.csv", "--method", "greedy", "--out", f"{odd}.json").code == 0

    def test_cannot_speak_to_the_terminal(self, run: Run, tmp_path: Path) -> None:
        loud = "\x1b]0;owned\x07\n\x1b[31m"
        fleet = {"nodes": [{"id": loud, "x": 0, "y": 0, "yaw": 0}, {"id": loud, "x": 1, "y": 0, "yaw": 0}]}
        (tmp_path / "loud.json").write_text(json.dumps(fleet))
        for arguments in (
            ("loud.json",),
            (f"{loud}.json",),
            ("f.csv", "--radio", f"{loud}"),
            ("f.csv", "--out", f"{loud}/x"),
        ):
            said = refused(run("solve", *arguments, "--method", "greedy"))
            assert said.rstrip("\n").isprintable()
            assert "\\x1b" in said

    def test_of_a_megabyte_are_shortened(self, run: Run, tmp_path: Path) -> None:
        node = {"id": "long" * 250_000, "x": 0, "y": 0, "yaw": "left"}
        (tmp_path / "long.json").write_text(json.dumps({"nodes": [node, {**node, "yaw": 0}]}))
        for arguments in (("solve", "long.json"), ("solve", "f.csv", "--method", "m" * 10**6)):
            assert len(refused(run(*arguments))) < 1100


class TestCtrlC:
    def test_says_that_it_stopped(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def pressed(*_: object, **__: object) -> Ran:
            raise KeyboardInterrupt

        monkeypatch.setattr("manetdiff.cli.solve.solve", pressed)
        before = signal.getsignal(signal.SIGINT)
        try:
            assert run(*SOLVE) == Ran(130, "", "manetdiff: interrupted\n")
        finally:
            signal.signal(signal.SIGINT, before)

    @posix
    def test_is_answered_while_the_command_loads(self) -> None:
        # As if it was pressed while a room was being loaded.
        before = "import builtins, signal\nload = builtins.__import__\ndef pressed(name, *rest):\n"
        before += "    if name == 'typer':\n        os.kill(os.getpid(), signal.SIGINT)\n    return load(name, *rest)\n"
        assert ended(started("--version", before=before + "builtins.__import__ = pressed")) == (
            130,
            ["manetdiff: interrupted"],
        )

    @posix
    def test_ends_workers_without_a_word(self, tmp_path: Path) -> None:
        arguments = ("data", "--count", "9999", "--nodes", "16", "--workers", "2", "--out", str(tmp_path / "d"))
        process = started(*arguments, before="os.setpgrp()")
        deadline = time.monotonic() + 60
        while not (tmp_path / "d" / "dataset.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)  # the workers are starting
        os.killpg(process.pid, signal.SIGINT)
        assert ended(process) == (130, ["manetdiff: interrupted"])
