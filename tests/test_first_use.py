"""On a machine that has never seen the package: nothing leaves it, and nothing needs to be writable."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import manetdiff
from manetdiff.runtime.onnx import NO_TELEMETRY, onnx_runtime

PACKAGE = Path(manetdiff.__file__).parent
FLEET = {"nodes": [{"id": str(k), "x": 10.0 * k, "y": 7.0 * (k % 3), "yaw": 0.1 * k} for k in range(8)]}
# What numba, ONNX Runtime and we are told by the environment is the user's, not the machine's.
TOLD = ("NUMBA_", "ORT_", "MANETDIFF_", "XDG_", "MPL", "HOME", "PYTHONPATH")
NOBODY = 65534

# The command in a process that may not open a connection or look up a name. Native code does not ask Python: see
# `traced`.
GUARDED = """
import sys
def guard(event, _):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"went out: {event}")
sys.addaudithook(guard)
sys.argv = ["manetdiff", *sys.argv[1:]]
from manetdiff.cli.app import main
main()
"""


def _environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(TOLD)} | more


def _fleet(folder: Path) -> Path:
    path = folder / "fleet.json"
    path.write_text(json.dumps(FLEET))
    return path


def _traced(command: list[str], log: Path) -> list[str]:
    """The command under strace, which sees what native code does; as it is where strace is not there or not allowed."""
    strace = shutil.which("strace")
    if strace is None or subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True).returncode != 0:
        return command
    return [strace, "-f", "-e", "trace=socket,connect,sendto,sendmsg,sendmmsg", "-o", str(log), *command]


def test_in_a_clean_home_generate_writes_only_our_cache_and_talks_to_nobody(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "calls.txt"
    home.mkdir()
    arguments = ["generate", str(_fleet(tmp_path)), "--out", str(tmp_path / "topology.json")]
    done = subprocess.run(
        _traced([sys.executable, "-B", "-c", GUARDED, *arguments], log),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=_environment(HOME=str(home), PYTHONPATH=str(PACKAGE.parent)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "topology.json").exists()
    written = {path.relative_to(home) for path in home.rglob("*") if not path.is_dir()}
    assert {path for path in written if path.parts[:2] != (".cache", "manetdiff")} == set()
    if log.exists():
        assert [line for line in log.read_text().splitlines() if "AF_INET" in line] == []


@pytest.mark.parametrize(("told", "is_set"), [(None, "1"), ("0", "0")])
def test_telemetry_is_off_before_onnx_runtime_is_loaded_unless_told_otherwise(
    told: str | None, is_set: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without loading it: that would send something where it is told to."""

    class Looked:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "onnxruntime":
                raise ImportError(os.environ.get(NO_TELEMETRY))

    monkeypatch.delenv(NO_TELEMETRY, raising=False)
    if told is not None:
        monkeypatch.setenv(NO_TELEMETRY, told)
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Looked(), *sys.meta_path])
    with pytest.raises(ImportError, match=f"^{is_set}$"):
        onnx_runtime()


def test_onnx_runtime_is_imported_in_one_place() -> None:
    importing = re.compile(r"^\s*(import|from) onnxruntime", re.MULTILINE)
    found = [path.name for path in PACKAGE.rglob("*.py") if importing.search(path.read_text(encoding="utf-8"))]
    assert found == ["onnx.py"]


def test_help_version_and_mistakes_do_not_wait_for_compiled_code(tmp_path: Path) -> None:
    fleet = str(_fleet(tmp_path))
    (tmp_path / "radio.json").write_text('{"sigma2": "much"}')
    asked = [
        ["--version"],
        ["--help"],
        ["generate", "--help"],
        ["generate", "missing.json"],
        ["generate", fleet, "--preset", "nonsense"],
        ["generate", fleet, "--radio", "radio.json"],
        ["update", fleet, fleet],
        ["solve", fleet, "--method", "nonsense"],
        ["convert", "missing.json", "there.json"],
    ]
    code = """
import json, sys
from manetdiff.cli.app import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["manetdiff", *arguments]
    try:
        main()
    except SystemExit:
        assert "numba" not in sys.modules and "onnxruntime" not in sys.modules, arguments
"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(asked)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=_environment(PYTHONPATH=str(PACKAGE.parent)),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 6  # one line for each mistake


def _as_nobody(command: list[str]) -> list[str]:
    """As another user. He may read everything, as the interpreter may stand in a home of its own, and write nothing."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root becomes another user, by setpriv")
    only = "=-all,+dac_read_search"
    who = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return [setpriv, *who, *(f"--{kind}{only}" for kind in ("inh-caps", "ambient-caps", "bounding-set")), *command]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package in a folder that nobody may write to."""
    _as_nobody([])
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, site / "manetdiff", ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    for path in (*site.rglob("*"), site):
        path.chmod(path.stat().st_mode & ~0o222 | 0o444 | (0o111 if path.is_dir() else 0))
    yield site
    for path in (site, *site.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize(
    ("home", "asked", "expected"),
    [
        (None, ["--version"], b"manetdiff "),
        (None, ["doctor", "--json"], b'"compiled code, cache folder": "none'),
        ("/root", ["generate", "-"], b"valid"),
        # Matplotlib has nowhere to write to either.
        ("/nonexistent", ["generate", "-", "--plot", "-", "--json"], b"\x89PNG"),
    ],
)
def test_a_read_only_install_without_a_home_works(
    installed: Path, home: str | None, asked: list[str], expected: bytes
) -> None:
    told = {"PYTHONPATH": str(installed)} | ({} if home is None else {"HOME": home})
    done = subprocess.run(
        _as_nobody([sys.executable, "-m", "manetdiff", *asked]),
        input=json.dumps(FLEET).encode(),
        capture_output=True,
        cwd="/",
        env=_environment(**told),
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    # What is printed beside a picture on standard output goes there, and nothing else does.
    if done.stdout.startswith(b"\x89PNG"):
        assert json.loads(done.stderr)["metrics"]["valid"] == 1.0
    else:
        assert done.stderr == b""
