"""What needs no training runs without PyTorch, and what does says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from manetdiff.weights import RUNTIME_FILE, find

# A process in which the packages of the extra `train` cannot be found. It runs one command after the other and says how
# each has ended: to start a process for each would take most of the time.
WITHOUT = """
import contextlib, io, json, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "lightning", "safetensors", "tensorboard", "ortools"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from manetdiff.cli.app import main
ended = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["manetdiff", *arguments]
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            ended.append([end.code or 0, said.getvalue()])
print(json.dumps(ended))
"""

PACKAGED = find("netdiff-small", RUNTIME_FILE)
TOPOLOGY = {
    "type": "NetworkGraph",
    "protocol": "manetdiff",
    "version": "1",
    "metric": "1/(Mbit/s)",
    "nodes": [
        {"id": name, "properties": {"x": x, "y": y, "yaw": 0.0, "parity": parity}}
        for name, x, y, parity in (("a", 0.0, 0.0, 0), ("b", 8.0, 0.0, 1), ("d", 3.0, 3.0, 0))
    ],
    "links": [{"source": "a", "target": "b", "cost": 1.0}, {"source": "b", "target": "d", "cost": 1.0}],
}


def endings(commands: Sequence[Sequence[str]], cwd: Path) -> list[tuple[int, str]]:
    """Exit code and standard error of each command."""
    command = [sys.executable, "-c", WITHOUT, json.dumps(commands)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240)
    assert done.returncode == 0, done.stderr
    return [(code, said) for code, said in json.loads(done.stdout)]


def test_commands_that_need_no_training_run_without_torch(tmp_path: Path) -> None:
    (tmp_path / "fleet.json").write_text(
        '{"nodes": [{"id": "a", "x": 0, "y": 0, "yaw": 0}, {"id": "b", "x": 9, "y": 1, "yaw": 0},'
        ' {"id": "c", "x": 4, "y": 8, "yaw": 1}]}'
    )
    (tmp_path / "before.json").write_text(json.dumps(TOPOLOGY))
    commands = [
        ("--version",),
        ("generate", "fleet.json", "--out", "topology.json", "--plot", "topology.png"),
        ("generate", "fleet.json", "--steps", "50", "--no-correct", "--polish", "0", "--json"),
        ("update", "before.json", "fleet.json", "--out", "new.json"),
        ("demo", "--nodes", "6"),
        ("solve", "fleet.json", "--moves", "200", "--out", "topology.json", "--plot", "topology.png"),
        ("data", "--out", "layouts", "--nodes", "6", "--count", "4", "--search-moves", "100", "--workers", "1"),
        ("evaluate", "bench16", "--method", "mst-greedy", "--layouts", "3"),
        ("evaluate", "bench16", "--weights", str(PACKAGED), "--layouts", "2", "--steps", "3"),
        ("train", "--help"),
        ("weights",),
        ("weights", "netdiff"),
    ]
    ended = endings(commands, tmp_path)
    assert {" ".join(command): end for command, end in zip(commands, ended, strict=True) if end[0]} == {}


def test_commands_that_need_torch_say_what_to_install(tmp_path: Path) -> None:
    commands = [
        ("train", ".", "--out", "run"),
        ("weights", "mine", "--pack", "x"),
        ("evaluate", "--weights", "netdiff"),
        ("export", "netdiff"),
    ]
    for code, said in endings(commands, tmp_path):
        assert code == 2
        assert "pip install 'manetdiff[train]'" in said
        assert "Traceback" not in said
