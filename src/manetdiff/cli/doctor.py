"""`manetdiff doctor`: what is installed, and whether it works."""

from __future__ import annotations

import platform
import shutil
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import numpy as np
import typer

from manetdiff import __version__
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.compiled import every_function, where
from manetdiff.cores import usable_cores

PACKAGES = ("numpy", "numba", "onnxruntime", "pyarrow", "matplotlib", "pillow", "typer", "rich")
OPTIONAL = {
    "torch": "training, ablations",
    "lightning": "training",
    "onnx": "export",
    "ortools": "CP-SAT",
    "networkx": "GraphML, networkx",
    "torch-geometric": "PyTorch Geometric",
}
FAILED = 1
# The fleet of the self-check, and what the reference search finds for it in a long time.
FAMILY, NODES, SEED = "wedge", 16, 0
LEAST_SHARE = 0.98


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Measure again how fast this machine is, for time budgets, and remember it."),
    ] = False,
) -> None:
    """Print versions, threads and weights, and check that generating and updating work here.

    Exit code 0 if all is well, 1 if a check fails.

    \b
    Examples:
      manetdiff doctor
      manetdiff doctor --json
    """
    if calibrate:
        from manetdiff.runtime.model import load

        load().calibrate(again=True)
    checks = _checks()
    facts = {
        "manetdiff": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(usable_cores()),
        **{name: _version(name) or "missing" for name in PACKAGES},
        **{name: _version(name) or f"not installed ({what})" for name, what in OPTIONAL.items()},
        **{f"compiled code, {what}": told for what, told in where().items()},
        "compiled code, made just now": f"{sum(one.has_been_compiled for one in every_function())} functions",
        "ffmpeg": "found" if shutil.which("ffmpeg") else "not found (MP4)",
    }
    if as_json:
        print_json({"facts": facts, "checks": {name: {"ok": ok, "told": told} for name, ok, told in checks}})
    else:
        print_table(Table("Installed", ("", ""), list(facts.items())))
        print_table(
            Table("Checks", ("", "", ""), [(name, "ok" if ok else "FAILED", told) for name, ok, told in checks])
        )
    if not all(ok for _, ok, _ in checks):
        raise typer.Exit(FAILED)


def _checks() -> list[tuple[str, bool, str]]:
    """Each by itself: what is wrong with one must not hide the others."""
    checks = []
    for name, check in (("weights", _weights), ("generate and update", _self_check), ("search", _search)):
        try:
            checks.append((name, *check()))
        except Exception as error:  # whatever it is, the doctor is there to name it
            checks.append((name, False, f"{type(error).__name__}: {error}"))
    return checks


def _weights() -> tuple[bool, str]:
    from manetdiff.runtime.bundle import find_bundle
    from manetdiff.weights import RUNTIME_FILE, known

    names = list(known(RUNTIME_FILE))
    for name in names:
        find_bundle(name)
    return bool(names), ", ".join(names)


def _self_check() -> tuple[bool, str]:
    """A formation is linked, moves, and is linked again: validly, and the same for the same seed."""
    from manetdiff.runtime.model import load
    from manetdiff.scenarios import draw, move_by
    from manetdiff.topology import metrics

    rng = np.random.default_rng(SEED)
    fleet = draw(FAMILY, NODES, rng)
    moved = move_by(fleet, 0.2, rng)
    model = load()
    model.generate(fleet)
    began = time.perf_counter()
    topology = model.generate(fleet, seed=SEED)
    generated = 1e3 * (time.perf_counter() - began)
    again = model.generate(fleet, seed=SEED)
    updated = model.update(topology, moved, seed=SEED)
    valid = metrics(topology, fleet)["valid"] == 1.0 and metrics(updated, moved)["valid"] == 1.0
    told = f"{len(topology.links)} links for {NODES} nodes in {generated:.0f} ms"
    if topology != again:
        return False, "two runs with one seed gave two topologies"
    return valid, told if valid else f"{told}, but not valid"


def _search() -> tuple[bool, str]:
    """The network's topology against the search that it learned from."""
    from manetdiff.runtime.model import load
    from manetdiff.scenarios import draw
    from manetdiff.solvers import solve
    from manetdiff.topology import metrics

    fleet = draw(FAMILY, NODES, np.random.default_rng(SEED))
    found = metrics(solve(fleet, moves=30_000, seed=SEED), fleet)["throughput"]
    made = metrics(load().generate(fleet, seed=SEED), fleet)["throughput"]
    return made >= LEAST_SHARE * found, f"T {made:.2f} of the network, {found:.2f} of the search"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
