"""The one-way imports of CONTRIBUTING.md, and the light core."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import manetdiff

PACKAGE = Path(manetdiff.__file__).parent

# In the order of the house: each room knows the ground floor and, of the rooms above it, those named here.
KNOWS = {
    "compiled": set(),
    "fleet": set(),
    "radio": {"fleet"},
    "layout": {"fleet", "radio"},
    "topology": {"fleet", "radio", "layout"},
    "scenarios": {"fleet"},
    "engine": set(),
    "solvers": {"fleet", "radio", "layout", "topology"},
    "data": {"fleet", "radio", "layout", "topology", "scenarios", "engine", "solvers"},
    "formats": {"fleet", "radio", "layout", "topology"},
    "sampling": set(),
    "weights": set(),
    "model": {"layout"},
    "diffusion": {"radio", "layout", "sampling", "weights", "model"},
    "training": {
        *("fleet", "radio", "layout", "topology", "scenarios", "engine", "solvers", "data"),
        *("sampling", "model", "diffusion"),
    },
    "runtime": {"fleet", "radio", "layout", "topology", "engine", "solvers", "sampling", "weights"},
    "flights": {"fleet", "radio", "layout", "topology", "scenarios", "solvers", "formats", "runtime"},
    "gpu": {
        *("fleet", "radio", "layout", "topology", "solvers"),
        *("sampling", "weights", "model", "diffusion", "runtime"),
    },
    "export": {"fleet", "layout", "sampling", "model", "diffusion", "runtime"},
}
KNOWS["measure"] = set(KNOWS) - {"formats", "gpu", "export"}
KNOWS["pictures"] = {"fleet", "radio", "layout", "topology", "formats"}
KNOWS["sweeps"] = {
    *("fleet", "radio", "layout", "topology", "scenarios", "engine", "solvers", "data", "formats"),
    *("weights", "runtime", "measure"),
}
KNOWS["evaluate"] = set(KNOWS)
KNOWS["simulation"] = {"fleet", "radio", "layout", "topology", "runtime", "flights", "formats", "pictures"}
KNOWS["reproduce"] = set(KNOWS)
KNOWS["server"] = {
    *("fleet", "radio", "layout", "topology", "scenarios", "solvers"),
    *("formats", "weights", "runtime", "flights"),
}
KNOWS["client"] = {"fleet", "radio", "topology", "formats"}
KNOWS["cli"] = set(KNOWS)
GROUND = {
    *("errors", "checks", "files", "json_settings", "compiled", "cores"),
    *("hosts", "messages", "once", "user_cache", "wording", "__version__"),
}


def _imported_rooms(file: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "manetdiff":
                names = [f"manetdiff.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("manetdiff.")}
    return rooms


@pytest.mark.parametrize("room", sorted(KNOWS))
def test_each_room_knows_only_the_rooms_above_it(room: str) -> None:
    for file in (PACKAGE / room).rglob("*.py"):
        beyond = _imported_rooms(file) - KNOWS[room] - GROUND - {room}
        assert not beyond, f"{file.relative_to(PACKAGE)} imports {sorted(beyond)}"


def test_there_is_no_room_without_a_rule() -> None:
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} == set(KNOWS)


def test_the_core_loads_no_heavy_package() -> None:
    heavy = "{'torch', 'ortools', 'matplotlib', 'pandas', 'onnxruntime', 'numba'}"
    code = f"import sys, manetdiff, manetdiff.cli.app; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
