"""Layouts, graphs and networks for the tests of the networks and of the diffusion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from manetdiff import Fleet, Radio
from manetdiff.diffusion.generator import AnyGenerator, DenseGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.layout import Layout, pad
from manetdiff.model.tensors import Graphs, Layouts

Module = TypeVar("Module", bound=nn.Module)

# Tensors as small as these only lose by being split over threads.
torch.set_num_threads(1)


def scattered_layout(size: int, seed: int = 0) -> Layout:
    """A random fleet."""
    rng = np.random.default_rng((seed, size))
    return Layout(Fleet(rng.normal(size=(size, 2)), rng.uniform(-math.pi, math.pi, size)), Radio())


def scattered_layouts(sizes: Sequence[int], seed: int = 0, n: int | None = None) -> Layouts:
    """Random fleets of these sizes, padded to n nodes. A fleet depends on its size and the seed, not on the others."""
    return Layouts.from_numpy(pad([scattered_layout(size, seed).features for size in sizes], n))


def scattered_graphs(layouts: Layouts, seed: int = 0, density: float = 0.3) -> Graphs:
    """A random graph on each layout. It depends on the layout's size and the seed, not on padding or the others."""
    edges = np.zeros(layouts.sector.shape, dtype=np.float32)
    parity = np.zeros(layouts.mask.shape, dtype=np.float32)
    for row, n in enumerate(layouts.mask.sum(1).tolist()):
        rng = np.random.default_rng((seed, n))
        above = np.triu(rng.random((n, n)) < density, 1)
        edges[row, :n, :n] = above | above.T
        parity[row, :n] = rng.integers(0, 2, n)
    return Graphs(torch.from_numpy(edges), torch.from_numpy(parity))


def mask_of(sizes: Sequence[int], n: int | None = None) -> Tensor:
    """(b, n) bool: as many nodes as each size says, then padding."""
    return torch.arange(max(sizes) if n is None else n)[None, :] < torch.tensor(sizes)[:, None]


def uniform_draws(mask: Tensor, generator: torch.Generator) -> Graphs:
    """Uniform numbers at every place, also where none should count: diagonal, below it, padding."""
    b, n = mask.shape
    return Graphs(torch.rand(b, n, n, generator=generator), torch.rand(b, n, generator=generator))


def flipped(graphs: Graphs, mask: Tensor) -> Graphs:
    """The same links with every parity the other way round."""
    return Graphs(graphs.edges, (1 - graphs.parity) * mask)


def perturbed(make: Callable[[], Module], seed: int = 0, size: float = 0.25) -> Module:
    """A module, always the same, with noise on all parameters: fresh ones hide parts of a network behind zeros."""
    torch.manual_seed(seed)
    module = make()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=size)
    return module


def dense(generator: AnyGenerator) -> DenseGenerator:
    """A generator that is known to be one on all pairs."""
    assert not isinstance(generator, SparseGenerator)
    return generator


def in_double(layouts: Layouts) -> Layouts:
    """Layouts for a network in double precision, where rounding cannot be mistaken for a leak, nor hide one."""
    return layouts._replace(node=layouts.node.double(), pair=layouts.pair.double())


def graphs_in_double(graphs: Graphs) -> Graphs:
    """The same for graphs."""
    return Graphs(graphs.edges.double(), graphs.parity.double())
