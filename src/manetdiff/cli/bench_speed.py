"""The speed tables of `manetdiff bench`: of a training step, of a denoising step, and of large batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table
from manetdiff.measure.measures import MEASURES

TRAINING_COLUMNS = ("nodes", "batch", "step taken", "step, ms", "of it kernels, ms", "graphs/s")
STEP_COLUMNS = ("network", "runtime", "eager", "ratio", "products alone", "over them", "with correction", "Gflop/s")
BATCH_COLUMNS = ("network", "nodes", "steps", "batch", "ms", "topologies/s")
SET_COLUMNS = ("network", "set", "steps", "samples", "corrected", "T / target", "connected", "valid", "topologies/s")

Say = Callable[[str], None]
Told = tuple[list[Table], dict[str, Any]]


def training_tables(say: Say) -> Told:
    """The training step in each way of taking it; and the same for machines."""
    with needs_torch("training"):
        from manetdiff.evaluate.training_speed import training_speeds
    speeds = training_speeds(report=say)
    rows = [
        [
            str(speed.nodes),
            str(speed.batch),
            speed.way,
            f"{speed.step_ms:.2f}",
            "" if speed.kernels_ms is None else f"{speed.kernels_ms:.2f}",
            f"{speed.graphs_a_second:,.0f}",
        ]
        for speed in speeds
    ]
    table = Table(f"The training step on {speeds[0].device}", TRAINING_COLUMNS, rows)
    return [table], {"training": [asdict(speed) for speed in speeds]}


def step_tables(say: Say) -> Told:
    """A chain of steps on one core; and the same for machines."""
    with needs_torch("the comparison with eager PyTorch"):
        from manetdiff.evaluate.step_speed import STEPS, step_speeds
    speeds = step_speeds(report=say)
    rows = [
        [
            speed.network,
            f"{speed.runtime_ms:.1f} ms",
            f"{speed.eager_ms:.1f} ms",
            f"{speed.ratio:.1f}",
            f"{speed.floor_ms:.1f} ms",
            f"{speed.over_floor:.1f}",
            f"{speed.generate_ms:.1f} ms",
            f"{speed.rate:.0f}",
        ]
        for speed in speeds
    ]
    table = Table(f"{STEPS} steps, {speeds[0].nodes} nodes, one core", STEP_COLUMNS, rows)
    return [table], {"steps": [asdict(speed) for speed in speeds]}


def batch_tables(say: Say) -> Told:
    """Large batches; and the same for machines."""
    with needs_torch("sampling in large batches"):
        from manetdiff.evaluate.batch_speed import batch_speeds
    speeds, sets = batch_speeds(("netdiff", "netdiff-small"), say)
    rows = [
        [
            speed.network,
            f"{speed.nodes}",
            f"{speed.steps}",
            f"{speed.batch:,}",
            f"{speed.milliseconds:.3g}",
            f"{speed.a_second:,.0f}",
        ]
        for speed in speeds
    ]
    whole = [
        [
            one.network,
            f"bench{one.nodes}",
            f"{one.steps}",
            f"{one.samples}",
            "yes" if one.corrected else "no",
            MEASURES["ratio"].text(one.share),
            MEASURES["connected"].text(one.connected),
            MEASURES["valid"].text(one.valid),
            f"{one.a_second:,.0f}",
        ]
        for one in sets
    ]
    tables = [
        Table(f"Sampling on {speeds[0].device}", BATCH_COLUMNS, rows),
        Table("Whole sets, from positions to links", SET_COLUMNS, whole),
    ]
    return tables, {"batches": [asdict(speed) for speed in speeds], "sets": [asdict(one) for one in sets]}
