"""The table of throughput at 16 and 32 nodes, with the peers that the paper leaves out."""

from __future__ import annotations

from importlib.util import find_spec

from manetdiff.measure.measures import Cell, labels
from manetdiff.measure.rows import Rows, targets
from manetdiff.measure.ways.corrected_samples import corrected
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import solved
from manetdiff.reproduce import paper
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.reproduce.weights import weights_of
from manetdiff.weights import PAPER

METRICS = ("throughput", "ratio", "connected", "valid", "milliseconds")
# Trained for the size that it is tested on, as in the paper.
DDPM_GT = {16: "ddpm-gt-plain-123", 32: "ddpm-gt-plain-mixed-123"}
LABELS = {
    "omni": "omnidirectional",
    "Huang": "Huang-style",
    "DDPM-GT": "DDPM-GT, corrected",
    "NetDiff": "NetDiff (50 steps), corrected",
}
# CP-SAT is given a hundred times as long as NetDiff takes, on a few layouts.
CPSAT_SECONDS, CPSAT_LAYOUTS = 2.0, 22


def throughput(setting: Setting) -> list[Grid]:
    """At both sizes."""
    return [_of_size(setting, nodes) for nodes in (16, 32)]


def throughput_rows(setting: Setting, nodes: int) -> dict[str, Rows]:
    """The methods of the paper's table by its names, on the same layouts."""
    store, layouts = setting.store, setting.layouts(nodes)
    ddpm_gt = DDPM_GT[nodes]
    return {
        "omni": solved(store, "omni", layouts),
        "Huang": solved(store, "huang", layouts),
        "MST+greedy": solved(store, "mst-greedy", layouts),
        "DDPM-GT": corrected(store, weights_of(ddpm_gt), layouts, name=ddpm_gt),
        "NetDiff": generated(store, layouts, weights=PAPER, steps=50, samples=1, polish=False),
        "target": targets(layouts),
    }


def _of_size(setting: Setting, nodes: int) -> Grid:
    by_name = throughput_rows(setting, nodes)
    figures = paper.THROUGHPUT[nodes]
    rows: list[tuple[str, Rows, float | None]]
    rows = [(LABELS.get(name, name), made, figures[name]) for name, made in by_name.items()]
    rows += [(label, made, None) for label, made in _peers(setting, nodes, by_name["NetDiff"]).items()]
    table = [
        (f"{label} ({made.layouts} layout{'' if made.layouts == 1 else 's'})", _row(made, figure))
        for label, made, figure in rows
    ]
    note = (
        "The paper's T is of its own closed physics, so only the order and the shares of the target compare. At 32 "
        "nodes DDPM-GT is one that was trained on 60 % of 16 and 40 % of 32 nodes; what the paper's was is not said."
    )
    return Grid(f"Throughput, {nodes} nodes", ["method", *labels(METRICS)], table, note)


def _peers(setting: Setting, nodes: int, full: Rows) -> dict[str, Rows]:
    """What the paper leaves out. full: NetDiff with all its steps, whose time annealing is given."""
    store, some = setting.store, setting.layouts(nodes, most=100)
    # Rounded, so that a second run finds the rows of the first.
    budget = round(full.mean("milliseconds") / 1e3, 2)
    peers = {f"annealing, {1e3 * budget:.0f} ms": solved(store, "annealing", some, seconds=budget)}
    for preset in ("balanced", "best"):
        peers[f"the default network, preset {preset}"] = generated(store, some, preset=preset)
    if find_spec("ortools") is not None:
        few = setting.layouts(nodes, most=1 if setting.quick else CPSAT_LAYOUTS)
        peers[f"CP-SAT, {CPSAT_SECONDS:g} s"] = solved(store, "cpsat", few, seconds=CPSAT_SECONDS)
    return peers


def _row(made: Rows, figure: float | None) -> list[Cell | str]:
    known = {"throughput": figure} if figure is not None else {}
    timed = made.has("milliseconds")
    row: list[Cell | str] = [*made.cells(METRICS if timed else METRICS[:-1], known)]
    return row if timed else [*row, ""]
