"""How many topologies a second a GPU samples, from one at a time to thousands, and how good they are."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import torch

from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.evaluate.step_speed import fastest
from manetdiff.gpu import BatchModel, load
from manetdiff.layout import pad
from manetdiff.measure.rows import Rows
from manetdiff.measure.ways.timing import scored
from manetdiff.model.tensors import Layouts
from manetdiff.topology import unwarned_of_parts

STEPS = (50, 10, 3)
GPU_BATCHES = (1, 8, 64, 512, 1024, 4096)
CPU_BATCHES = (1, 8)
REPEATS = 5
# Of whole sets: steps, samples, and whether they are corrected.
WAYS = ((50, 1, False), (50, 1, True), (3, 8, True))


@dataclass(frozen=True)
class BatchSpeed:
    """batch graphs of so many nodes, by the chain alone, on the device. milliseconds: for all of them."""

    device: str
    network: str
    nodes: int
    steps: int
    batch: int
    milliseconds: float

    @property
    def a_second(self) -> float:
        """Topologies a second."""
        return 1e3 * self.batch / self.milliseconds


@dataclass(frozen=True)
class WholeSet:
    """`generate` on a whole benchmark set: sampled on the device, corrected on the cores beside it.

    - share: its T, as a share of the set's; a_second: topologies, with everything from positions to links.
    """

    network: str
    nodes: int
    steps: int
    samples: int
    corrected: bool
    share: float
    connected: float
    valid: float
    a_second: float


def batch_speeds(
    networks: Sequence[str], report: Callable[[str], None] = lambda what: None
) -> tuple[list[BatchSpeed], list[WholeSet]]:
    """On the GPU; on a CPU, where there is none, a few small batches. The chain alone of networks on all pairs."""
    on_gpu = torch.cuda.is_available()
    device = "cuda" if on_gpu else "cpu"
    name = torch.cuda.get_device_name() if on_gpu else platform.processor() or platform.machine()
    speeds: list[BatchSpeed] = []
    sets: list[WholeSet] = []
    alone = list(product(STEPS, GPU_BATCHES) if on_gpu else product(STEPS[1:], CPU_BATCHES))
    for network in networks:
        model = load(network, device=device)
        for nodes in (16, 32):
            solved = load_benchmark(f"bench{nodes}")
            for steps, batch in alone if model.sectors is not None else ():
                report(f"{network}, {nodes} nodes, {steps} steps, batch {batch}")
                speeds.append(
                    BatchSpeed(name, network, nodes, steps, batch, chain_milliseconds(model, solved, steps, batch))
                )
            sets += whole_sets(model, network, solved if on_gpu else solved[:8], report)
    return speeds, sets


def whole_sets(
    model: BatchModel, network: str, solved: Sequence[SolvedLayout], report: Callable[[str], None]
) -> list[WholeSet]:
    """A whole set in each way."""
    rows = []
    for steps, samples, corrected in WAYS:
        report(f"{network}, {len(solved)} layouts of {len(solved[0].fleet)} nodes, {steps} steps, {samples} samples")
        rows.append(_whole_set(model, network, solved, steps, samples, corrected))
    return rows


def chain_milliseconds(model: BatchModel, solved: Sequence[SolvedLayout], steps: int, batch: int) -> float:
    """The chain alone for so many graphs, without features and correction: the fastest of a few."""
    sampling = model.sampling_for(steps, redundant=True)
    features = [one.layout.features for one in solved[: min(batch, len(solved))]]
    layouts = Layouts.from_numpy(pad([features[k % len(features)] for k in range(batch)]), model.device)
    seeds = torch.arange(batch, device=model.device)

    def settled() -> None:
        model.chain.sample(layouts, seeds, sampling)
        if model.device.type == "cuda":
            torch.cuda.synchronize()

    return 1e3 * fastest(settled, REPEATS)


def _whole_set(
    model: BatchModel, network: str, solved: Sequence[SolvedLayout], steps: int, samples: int, corrected: bool
) -> WholeSet:
    fleets = [layout.fleet for layout in solved]
    for _ in range(2):  # the first one compiles and captures
        began = time.perf_counter()
        with unwarned_of_parts():
            made = model.generate(fleets, steps=steps, samples=samples, correct=corrected)
        seconds = time.perf_counter() - began
    rows = Rows([scored(topology, one, seconds) for topology, one in zip(made, solved, strict=True)])
    ratio, connected, valid = (rows.mean(metric) for metric in ("ratio", "connected", "valid"))
    nodes, a_second = len(fleets[0]), len(fleets) / seconds
    return WholeSet(network, nodes, steps, samples, corrected, ratio, connected, valid, a_second)
