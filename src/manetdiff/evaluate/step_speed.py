"""How fast a denoising step is on one core: against eager PyTorch, against its matrix products alone, and in parts."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import find_weights
from manetdiff.layout import Layout, pad
from manetdiff.measure.spaced import drawn_layout
from manetdiff.model.arc_tensors import ArcGraphs, stacked
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Layouts
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.model import MOST
from manetdiff.runtime.samples import from_pure_noise
from manetdiff.weights import DEFAULT, PAPER

STEPS, SIZES = 50, (16, 128, 1000)
NETWORKS = (DEFAULT, PAPER)
REPEATS = 7
# Operators of ONNX Runtime: what a step does with its time.
PARTS = {
    "products": ("Gemm", "FusedGemm"),
    "sums": ("MatMul", "FusedMatMul", "ReduceSum"),
    "gathering": ("Gather",),
    "norms": ("LayerNormalization", "ReduceL2"),
}
REST = "other passes"


@dataclass(frozen=True)
class StepSpeed:
    """Milliseconds of a raw denoising step on one layout, the mean over a chain of them with its random numbers, and
    what its matrix products alone would take.

    - rate: of this core on the network's largest product, in Gflop/s. parts: shares of the time of its operators, by
      the names of PARTS, as ONNX Runtime accounts for them; sums are those over groups of arcs, and by tokens.
    """

    network: str
    nodes: int
    runtime_ms: float
    eager_ms: float
    floor_ms: float
    rate: float
    parts: dict[str, float]

    @property
    def ratio(self) -> float:
        """Times as fast as eager PyTorch."""
        return self.eager_ms / self.runtime_ms

    @property
    def over_floor(self) -> float:
        """Times its arithmetic floor."""
        return self.runtime_ms / self.floor_ms


def step_speeds(nodes: Sequence[int] = SIZES, report: Callable[[str], None] = lambda what: None) -> list[StepSpeed]:
    """Each of NETWORKS on one layout of each size that it takes; call it on one core."""
    torch.set_num_threads(1)
    made = []
    for name in NETWORKS:
        bundle = find_bundle(name)
        made += [_speed(name, bundle, n, report) for n in nodes if n <= MOST[bundle.network]]
    return made


def _speed(name: str, bundle: Bundle, n: int, report: Callable[[str], None]) -> StepSpeed:
    steps = max(2, STEPS * SIZES[0] // n)
    report(f"{name}: {steps} steps, {n:,} nodes")
    weights = find_weights(name)
    generator, layout = weights.build(), drawn_layout(n)
    sampling = dataclasses.replace(weights.sampling, steps=steps)
    eager: Callable[[], object]
    if isinstance(generator, SparseGenerator):
        rows, operations = len(layout.arcs.owner), sparse_products(generator, layout)
        eager = partial(generator.sample, [layout], [(0, 0)], sampling)
    else:
        assert isinstance(generator, DiffusionGenerator)
        rows, operations = n**2, products(weights.config, n)
        eager = partial(generator.sample, Layouts.from_numpy(pad([layout.features])), [(0, 0)], sampling)
    rate = _matrix_rate(rows, weights.config.width)
    with tempfile.TemporaryDirectory() as folder:
        chain = Chain(bundle, profile=Path(folder))
        embedded = chain.embed(layout)
        chained = partial(from_pure_noise, chain, embedded, sampling, [(0, 0)])
        chained()
        parts = _parts(chain.step_seconds())
    chain = Chain(bundle)
    chained = partial(from_pure_noise, chain, chain.embed(layout), sampling, [(0, 0)])
    return StepSpeed(
        name,
        n,
        1e3 * fastest(chained, REPEATS) / steps,
        1e3 * fastest(eager, REPEATS if n <= SIZES[1] else 1) / steps,
        1e3 * operations / rate,
        rate / 1e9,
        parts,
    )


def _parts(seconds: Mapping[str, float]) -> dict[str, float]:
    """Shares by the names of PARTS, and the REST."""
    total = sum(seconds.values())
    shares = {name: sum(seconds.get(kind, 0.0) for kind in kinds) / total for name, kinds in PARTS.items()}
    return {**shares, REST: 1 - sum(shares.values())}


def products(config: ModelConfig, n: int) -> float:
    """Floating-point operations of the matrix products of one step of a network on all pairs of n nodes."""
    d, c = config.width, config.tokens
    edges = n * n * (3 * d * d + 2 * d * d + 2 * 2 * d * d)
    nodes = n * (3 * d * d + d * d + 2 * 4 * d * d)
    tokens = c * (d * d + 4 * d * d) + n * 2 * d * d + 2 * c * n * d + 4 * d * d
    ends = n * n * (5 * d + d * d + d * d + 2 * d) + n * (config.sectors * d + 2 * d * d)
    return 2.0 * (config.blocks * (edges + nodes + tokens) + ends)


@torch.no_grad()
def sparse_products(generator: SparseGenerator, layout: Layout) -> float:
    """The same of a network on candidate links: of all its linear maps, counted as it runs."""
    denoiser, arcs = generator.denoiser, stacked([layout.arcs])
    embedded = denoiser.embed(arcs)
    empty = ArcGraphs(torch.zeros_like(arcs.real_links), torch.zeros_like(arcs.real_nodes))
    counted: list[int] = []

    def count(part: nn.Module, given: tuple[Tensor, ...]) -> None:
        assert isinstance(part, nn.Linear)
        counted.append(2 * given[0].numel() * part.out_features)

    hooks = [part.register_forward_pre_hook(count) for part in denoiser.modules() if isinstance(part, nn.Linear)]
    denoiser.predict(arcs, embedded, empty, torch.ones(1))
    for hook in hooks:
        hook.remove()
    return float(sum(counted))


def _matrix_rate(rows: int, width: int) -> float:
    """Operations a second of this core on a product of the size that the network takes most."""
    first, second = torch.rand(rows, width), torch.rand(width, 3 * width)

    def many() -> None:
        for _ in range(100):
            torch.mm(first, second)

    return 100 * 2 * rows * width * 3 * width / fastest(many, REPEATS)


def fastest(run: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of several runs, after one that warms up."""
    run()
    spent = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        spent.append(time.perf_counter() - began)
    return min(spent)
