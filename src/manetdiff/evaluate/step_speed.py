"""How fast a denoising step is on one core: against eager PyTorch, and against its matrix products alone."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from manetdiff.data import load_benchmark
from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import find_weights
from manetdiff.layout import Layout, pad
from manetdiff.model.arc_tensors import ArcGraphs, stacked
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Layouts
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.model import Model
from manetdiff.weights import DEFAULT, PAPER

STEPS = 50
NETWORKS = (DEFAULT, PAPER)
REPEATS = 7


@dataclass(frozen=True)
class StepSpeed:
    """Milliseconds of a chain of STEPS raw steps on one layout, and what its matrix products alone would take.

    - rate: of this core on the network's largest product, in Gflop/s. generate_ms: the chain with correction.
    """

    network: str
    nodes: int
    runtime_ms: float
    eager_ms: float
    floor_ms: float
    generate_ms: float
    rate: float

    @property
    def ratio(self) -> float:
        """Times as fast as eager PyTorch."""
        return self.eager_ms / self.runtime_ms

    @property
    def over_floor(self) -> float:
        """Times its arithmetic floor."""
        return self.runtime_ms / self.floor_ms


def step_speeds(nodes: int = 16, report: Callable[[str], None] = lambda what: None) -> list[StepSpeed]:
    """Each of NETWORKS on one layout of a benchmark set; call it on one core."""
    torch.set_num_threads(1)
    return [_speed(name, nodes, report) for name in NETWORKS]


def _speed(name: str, nodes: int, report: Callable[[str], None]) -> StepSpeed:
    report(f"{name}: {STEPS} steps")
    fleet = load_benchmark(f"bench{nodes}")[0].fleet
    weights = find_weights(name)
    generator, layout = weights.build(), Layout(fleet)
    sampling = dataclasses.replace(weights.sampling, steps=STEPS)
    model = Model(find_bundle(name), threads=1)
    eager: Callable[[], object]
    if isinstance(generator, SparseGenerator):
        rows, operations = len(layout.arcs.owner), sparse_products(generator, layout)
        eager = partial(generator.sample, [layout], [(0, 0)], sampling)
    else:
        assert isinstance(generator, DiffusionGenerator)
        rows, operations = nodes**2, products(weights.config, nodes)
        eager = partial(generator.sample, Layouts.from_numpy(pad([layout.features])), [(0, 0)], sampling)
    rate = _matrix_rate(rows, weights.config.width)
    return StepSpeed(
        name,
        nodes,
        1e3 * fastest(lambda: model.generate(fleet, steps=STEPS, correct=False, polish=False), REPEATS),
        1e3 * fastest(eager, REPEATS),
        1e3 * STEPS * operations / rate,
        1e3 * fastest(lambda: model.generate(fleet, steps=STEPS, samples=1, polish=False), REPEATS),
        rate / 1e9,
    )


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
