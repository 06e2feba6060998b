"""How fast the training step is, in each way of taking it, and how much of it the kernels themselves need."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from lightning.fabric import Fabric
from torch.profiler import ProfilerActivity, profile

from manetdiff.data import benchmark_dataset
from manetdiff.diffusion.weights import DEFAULT, packaged_names, packaged_weights
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.training.corpus import Bucket, Corpus, buckets_of
from manetdiff.training.loop import Trainer
from manetdiff.training.plan import Plan
from manetdiff.training.recipe import RECIPES
from manetdiff.training.stepping import BEFORE_CAPTURE

ONE_BY_ONE, COMPILED, CAPTURED = "kernel by kernel", "compiled", "compiled and captured"
# Fleet size and graphs a step.
GPU_CASES = ((16, 64), (16, 1024), (32, 512))
CPU_CASES = ((16, 64),)
GPU_STEPS, CPU_STEPS = 40, 3


@dataclass(frozen=True)
class Speed:
    """One way of taking the step. kernels_ms: what the kernels of a step run, on a GPU."""

    device: str
    model: str
    nodes: int
    batch: int
    way: str
    step_ms: float
    kernels_ms: float | None
    graphs_a_second: float


def training_speed(report: Callable[[str], None] = lambda what: None) -> list[Speed]:
    """The paper-sized model and the default one, by the recipe `fast`, on layouts of the benchmark sets."""
    on_gpu = torch.cuda.is_available()
    models = {"acam": ModelConfig()}
    if DEFAULT in packaged_names():
        models[DEFAULT] = packaged_weights().config
    speeds = []
    for name, config in models.items():
        for nodes, batch in GPU_CASES if on_gpu else CPU_CASES:
            for way in (ONE_BY_ONE, COMPILED, CAPTURED) if on_gpu else (ONE_BY_ONE,):
                report(f"{name}, {nodes} nodes, batches of {batch}, {way}")
                speeds.append(_speed(name, config, nodes, batch, way, on_gpu))
    return speeds


def _speed(name: str, config: ModelConfig, nodes: int, batch: int, way: str, on_gpu: bool) -> Speed:
    recipe = replace(RECIPES["fast"], batch=batch, compiled=way != ONE_BY_ONE, precision="bf16" if on_gpu else "32")
    fabric = Fabric(accelerator="cuda" if on_gpu else "cpu", devices=1, precision="bf16-mixed" if on_gpu else "32-true")
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Plan(config, recipe), _corpus(nodes, batch), Path(folder), fabric)
    trainer.stepper.can_capture &= way == CAPTURED
    steps = GPU_STEPS if on_gpu else CPU_STEPS
    _take(trainer, 0, BEFORE_CAPTURE + 2 if on_gpu else 1)
    start = time.perf_counter()
    _take(trainer, BEFORE_CAPTURE + 2, steps)
    seconds = (time.perf_counter() - start) / steps
    kernels = _kernels_ms(trainer) if on_gpu else None
    device = torch.cuda.get_device_name() if on_gpu else platform.processor() or platform.machine()
    return Speed(device, name, nodes, batch, way, 1e3 * seconds, kernels, batch / seconds)


def _take(trainer: Trainer, first: int, count: int) -> None:
    for step in range(first, first + count):
        trainer.stepper.take(step)
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _kernels_ms(trainer: Trainer, steps: int = 5) -> float:
    with profile(activities=[ProfilerActivity.CUDA]) as taken:
        _take(trainer, 1000, steps)
    microseconds = sum(float(event.self_device_time_total) for event in taken.key_averages())
    return microseconds / steps / 1e3


def _corpus(nodes: int, batch: int) -> Corpus:
    """At least two batches of layouts of this size; the step does not mind that they repeat."""
    arrays = benchmark_dataset(f"bench{nodes}").arrays(nodes)
    bucket = buckets_of([arrays], Radio())[0]
    copies = -(-2 * batch // len(bucket))
    parts = (bucket.node, bucket.pair, bucket.sector, bucket.edges, bucket.parity)
    repeated = Bucket(*(tensor.repeat(copies, *(1,) * (tensor.ndim - 1)) for tensor in parts))
    return Corpus({nodes: repeated}, [], Radio(), [])
