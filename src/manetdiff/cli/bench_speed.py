"""The speed tables of `manetdiff bench`: of a training step, of a denoising step, and of large batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Columns, Table, measured
from manetdiff.data.sizes import sizes_of
from manetdiff.measure.measures import MEASURES
from manetdiff.weights import DEFAULT, PAPER

if TYPE_CHECKING:
    from manetdiff.evaluate.batch_speed import BatchSpeed, WholeSet
    from manetdiff.evaluate.step_speed import StepSpeed
    from manetdiff.evaluate.training_speed import Speed

TRAINING: Columns[Speed] = (
    ("model", lambda speed: speed.model),
    ("nodes", lambda speed: speed.nodes),
    ("batch", lambda speed: f"{speed.batch:,.0f}"),
    ("step taken", lambda speed: speed.way),
    ("step, ms", lambda speed: f"{speed.step_ms:.2f}"),
    ("of it kernels, ms", lambda speed: "" if speed.kernels_ms is None else f"{speed.kernels_ms:.2f}"),
    ("GPU at work", lambda speed: "" if speed.busy is None else f"{100 * speed.busy:.0f} %"),
    ("graphs/s", lambda speed: f"{speed.graphs_a_second:,.0f}"),
)
STEP: Columns[StepSpeed] = (
    ("network", lambda speed: speed.network),
    ("nodes", lambda speed: f"{speed.nodes:,}"),
    ("runtime", lambda speed: f"{speed.runtime_ms:.2f} ms"),
    ("eager", lambda speed: f"{speed.eager_ms:.2f} ms"),
    ("ratio", lambda speed: f"{speed.ratio:.1f}"),
    ("products alone", lambda speed: f"{speed.floor_ms:.2f} ms"),
    ("over them", lambda speed: f"{speed.over_floor:.1f}"),
    ("Gflop/s", lambda speed: f"{speed.rate:.0f}"),
    ("in parts", lambda speed: ", ".join(f"{name} {100 * share:.0f} %" for name, share in speed.parts.items())),
)
BATCH: Columns[BatchSpeed] = (
    ("network", lambda speed: speed.network),
    ("nodes", lambda speed: f"{speed.nodes}"),
    ("steps", lambda speed: f"{speed.steps}"),
    ("batch", lambda speed: f"{speed.batch:,}"),
    ("ms", lambda speed: f"{speed.milliseconds:.3g}"),
    ("topologies/s", lambda speed: f"{speed.a_second:,.0f}"),
)
WHOLE_SET: Columns[WholeSet] = (
    ("network", lambda one: one.network),
    ("set", lambda one: f"bench{one.nodes}"),
    ("steps", lambda one: f"{one.steps}"),
    ("samples", lambda one: f"{one.samples}"),
    ("corrected", lambda one: "yes" if one.corrected else "no"),
    ("T / target", lambda one: MEASURES["ratio"].text(one.share)),
    *measured("connected", "valid"),
    ("topologies/s", lambda one: f"{one.a_second:,.0f}"),
)

Say = Callable[[str], None]
Told = tuple[list[Table], dict[str, Any]]


def training_tables(say: Say) -> Told:
    """The training step in each way of taking it; and the same for machines."""
    with needs_torch("training"):
        from manetdiff.evaluate.training_speed import training_speeds
    speeds = training_speeds(report=say)
    table = Table.of(f"The training step on {speeds[0].device}", TRAINING, speeds)
    return [table], {"training": [asdict(speed) for speed in speeds]}


def step_tables(say: Say, nodes: str | None) -> Told:
    """Denoising steps on one core; and the same for machines. nodes: sizes as text."""
    with needs_torch("the comparison with eager PyTorch"):
        from manetdiff.evaluate.step_speed import SIZES, step_speeds
    speeds = step_speeds(sizes_of(nodes.split(",")) if nodes else SIZES, report=say)
    table = Table.of("A denoising step on one core", STEP, speeds)
    return [table], {"steps": [asdict(speed) for speed in speeds]}


def batch_tables(say: Say) -> Told:
    """Large batches; and the same for machines."""
    with needs_torch("sampling in large batches"):
        from manetdiff.evaluate.batch_speed import batch_speeds
    speeds, sets = batch_speeds((PAPER, DEFAULT), say)
    tables = [
        Table.of(f"Sampling on {speeds[0].device}", BATCH, speeds),
        Table.of("Whole sets, from positions to links", WHOLE_SET, sets),
    ]
    return tables, {"batches": [asdict(speed) for speed in speeds], "sets": [asdict(one) for one in sets]}
