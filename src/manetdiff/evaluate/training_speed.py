"""How fast the training step is, in each way of taking it, and for how much of it the GPU computes."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from manetdiff.cores import usable_cores
from manetdiff.data import RANDOM, Settings, benchmark_dataset, generate
from manetdiff.data.settings import INVERSE
from manetdiff.errors import TrainingError
from manetdiff.radio import Radio
from manetdiff.training.corpus import Bucket, Corpus, buckets_of
from manetdiff.training.loop import Trainer
from manetdiff.training.packed import PackedCorpus, read_packed
from manetdiff.training.plan import Plan, make_plan
from manetdiff.training.run import make_fabric
from manetdiff.training.stepping import BEFORE_CAPTURE

ONE_BY_ONE, COMPILED, CAPTURED = "kernel by kernel", "compiled", "compiled and captured"
DENSE, SPARSE = "acam", "sparse"
NODES = 16
GPU_BATCH, CPU_BATCH = 1024, 64
GPU_STEPS, CPU_STEPS = 40, 3
# Of sparse networks: how good the links are that they learn does not matter here.
ANY_FLEETS = Settings(tuple(range(4, 65)), 1000, 1, size_odds=INVERSE, radio=RANDOM, moves_a_node=1, shard_size=250)


@dataclass(frozen=True)
class Speed:
    """One way of taking the step.

    - model, nodes: what is trained, on fleets of which sizes. batch: graphs in a step, on average.
    - kernels_ms: what the kernels of a step run, on a GPU.
    """

    device: str
    model: str
    nodes: str
    batch: float
    way: str
    step_ms: float
    kernels_ms: float | None
    graphs_a_second: float

    @property
    def busy(self) -> float | None:
        """Share of the time in which the GPU computes."""
        return None if self.kernels_ms is None else self.kernels_ms / self.step_ms


def training_speeds(report: Callable[[str], None] = lambda what: None) -> list[Speed]:
    """The paper-sized NetDiff by the recipe `fast`, on layouts of bench16; on a GPU the default network, too, by the
    recipe `any-fleet`."""
    if not torch.cuda.is_available():
        report(ONE_BY_ONE)
        return [_speed(_dense(compiled=False), ONE_BY_ONE)]
    speeds = []
    for way in (ONE_BY_ONE, COMPILED, CAPTURED):
        report(f"{DENSE}, {way}")
        speeds.append(_speed(_dense(compiled=way != ONE_BY_ONE), way))
    report(f"{SPARSE}, {CAPTURED}")
    return [*speeds, _speed(_sparse(), CAPTURED)]


def _dense(compiled: bool) -> Trainer:
    batch = GPU_BATCH if torch.cuda.is_available() else CPU_BATCH
    return _trainer(make_plan(DENSE, batch=batch, compiled=compiled), _corpus(batch))


def _sparse() -> Trainer:
    with tempfile.TemporaryDirectory() as folder:
        generate(ANY_FLEETS, Path(folder) / "any", workers=usable_cores())
        return _trainer(make_plan(SPARSE, "any-fleet"), read_packed([Path(folder) / "any"]))


def _trainer(plan: Plan, corpus: Corpus | PackedCorpus) -> Trainer:
    fabric = make_fabric(plan.recipe.precision, "cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        return Trainer(plan, corpus, Path(folder), fabric)


def _speed(trainer: Trainer, way: str) -> Speed:
    on_gpu = torch.cuda.is_available()
    trainer.stepper.can_capture = way == CAPTURED
    steps, batch = GPU_STEPS if on_gpu else CPU_STEPS, trainer.feed.batch
    _take(trainer, 0, BEFORE_CAPTURE + 2 if on_gpu else 1)
    start = time.perf_counter()
    _take(trainer, BEFORE_CAPTURE + 2, steps)
    seconds = (time.perf_counter() - start) / steps
    if way == CAPTURED and not trainer.stepper.can_capture:
        raise TrainingError("the training step could not be captured as a CUDA graph on this machine")
    kernels = _kernels_ms(trainer) if on_gpu else None
    device = torch.cuda.get_device_name() if on_gpu else platform.processor() or platform.machine()
    sparse = isinstance(trainer.corpus, PackedCorpus)
    of = (SPARSE, f"{ANY_FLEETS.nodes[0]} to {ANY_FLEETS.nodes[-1]}") if sparse else (DENSE, f"{NODES}")
    return Speed(device, *of, batch, way, 1e3 * seconds, kernels, batch / seconds)


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
