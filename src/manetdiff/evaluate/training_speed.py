"""How fast the training step is, in each way of taking it, and how much of it the kernels themselves need."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from manetdiff.data import benchmark_dataset
from manetdiff.errors import TrainingError
from manetdiff.radio import Radio
from manetdiff.training.corpus import Bucket, Corpus, buckets_of
from manetdiff.training.loop import Trainer
from manetdiff.training.plan import make_plan
from manetdiff.training.run import make_fabric
from manetdiff.training.stepping import BEFORE_CAPTURE

ONE_BY_ONE, COMPILED, CAPTURED = "kernel by kernel", "compiled", "compiled and captured"
NODES = 16
GPU_BATCH, CPU_BATCH = 1024, 64
GPU_STEPS, CPU_STEPS = 40, 3


@dataclass(frozen=True)
class Speed:
    """One way of taking the step. kernels_ms: what the kernels of a step run, on a GPU."""

    device: str
    nodes: int
    batch: int
    way: str
    step_ms: float
    kernels_ms: float | None
    graphs_a_second: float


def training_speeds(report: Callable[[str], None] = lambda what: None) -> list[Speed]:
    """The paper-sized NetDiff by the recipe `fast`, on layouts of bench16."""
    if not torch.cuda.is_available():
        report(ONE_BY_ONE)
        return [_speed(_trainer(compiled=False), ONE_BY_ONE)]
    speeds = []
    for way in (ONE_BY_ONE, COMPILED, CAPTURED):
        report(way)
        trainer = _trainer(compiled=way != ONE_BY_ONE)
        trainer.stepper.can_capture = way == CAPTURED
        speed = _speed(trainer, way)
        if way == CAPTURED and not trainer.stepper.can_capture:
            raise TrainingError("the training step could not be captured as a CUDA graph on this machine")
        speeds.append(speed)
    return speeds


def _trainer(compiled: bool) -> Trainer:
    on_gpu = torch.cuda.is_available()
    batch = GPU_BATCH if on_gpu else CPU_BATCH
    plan = make_plan(batch=batch, compiled=compiled)
    fabric = make_fabric(plan.recipe.precision, "cuda" if on_gpu else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        return Trainer(plan, _corpus(batch), Path(folder), fabric)


def _speed(trainer: Trainer, way: str) -> Speed:
    on_gpu = torch.cuda.is_available()
    steps, batch = (GPU_STEPS, GPU_BATCH) if on_gpu else (CPU_STEPS, CPU_BATCH)
    _take(trainer, 0, BEFORE_CAPTURE + 2 if on_gpu else 1)
    start = time.perf_counter()
    _take(trainer, BEFORE_CAPTURE + 2, steps)
    seconds = (time.perf_counter() - start) / steps
    kernels = _kernels_ms(trainer) if on_gpu else None
    device = torch.cuda.get_device_name() if on_gpu else platform.processor() or platform.machine()
    return Speed(device, NODES, batch, way, 1e3 * seconds, kernels, batch / seconds)


def _take(trainer: Trainer, first: int, count: int) -> None:
    for step in range(first, first + count):
        trainer.stepper.take(step)
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _kernels_ms(trainer: Trainer, steps: int = 5) -> float:
    with profile(activities=[ProfilerActivity.CUDA]) as taken:
        _take(trainer, BEFORE_CAPTURE + 2 + GPU_STEPS, steps)
    microseconds = sum(float(event.self_device_time_total) for event in taken.key_averages())
    return microseconds / steps / 1e3


def _corpus(batch: int) -> Corpus:
    """At least two batches of layouts; the step does not mind that they repeat."""
    bucket = buckets_of([benchmark_dataset(f"bench{NODES}").arrays(NODES)], Radio())[0]
    copies = -(-2 * batch // len(bucket))
    parts = (bucket.node, bucket.pair, bucket.sector, bucket.edges, bucket.parity)
    repeated = Bucket(*(tensor.repeat(copies, *(1,) * (tensor.ndim - 1)) for tensor in parts))
    return Corpus({NODES: repeated}, [], Radio(), [])
