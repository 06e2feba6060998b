"""The package as a user installs it: a fresh environment without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_a_fresh_environment_without_torch_runs_demo_generate_and_update(tmp_path: Path) -> None:
    def run(*command: str | Path) -> str:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=tmp_path, timeout=900)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "venv", "env")
    tools = tmp_path / "env" / "bin"
    run(tools / "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", ROOT)
    found = run(tools / "python", "-c", "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('onnx'))")
    assert found.split() == ["None", "None"]
    run(tools / "manetdiff", "demo", "--out", "demo")
    run(tools / "manetdiff", "generate", "demo/fleet.json", "--out", "new.json", "--plot", "new.png")
    said = run(tools / "manetdiff", "update", "new.json", "demo/moved.json", "--out", "later.json", "--json")
    assert '"mode"' in said
    assert (tmp_path / "new.png").stat().st_size > 10_000
    assert (tmp_path / "later.json").exists()
