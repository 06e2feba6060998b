"""Models as the runtime runs them, beside the same ones in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from manetdiff import Radio
from manetdiff.diffusion.generator import DenseGenerator, VariationalGenerator
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights
from manetdiff.export.functions import functions
from manetdiff.layout import Layout
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.chain import Chain, States
from manetdiff.runtime.samples import from_pure_noise
from manetdiff.sampling import SamplerConfig
from manetdiff.sampling.contract import DENSE
from support.graph_samples import dense, scattered_layout, scattered_layouts

# Nothing at its default, so that nothing can be forgotten.
PROCESS = Process(2.5, noise_redundancy=1.7, parity_pace=0.6, heading=5.0)


def layout_pair(n: int, seed: int = 0) -> tuple[Layouts, Layout]:
    """A layout for PyTorch, and the same for the runtime."""
    return scattered_layouts([n], seed), scattered_layout(n, seed)


def repeated(layouts: Layouts, count: int) -> Layouts:
    """One layout so many times."""
    return Layouts(*(part.expand(count, *part.shape[1:]) for part in layouts))


def run_chain(chain: Chain, layout: Layout, seeds: list[tuple[int, int]], sampling: SamplerConfig) -> States:
    """A whole chain of the runtime, from pure noise."""
    return from_pure_noise(chain, chain.embed(layout), sampling, seeds)


def links_of(edges: Tensor) -> npt.NDArray[np.float32]:
    """(b, c) every pair once, from (b, n, n)."""
    i, j = np.triu_indices(edges.shape[1], 1)
    return edges.numpy()[:, i, j]


def assert_same_graphs(made: States, wanted: Graphs) -> None:
    """A share within rounding of the number drawn could fall on either side; with the tests' seeds none does."""
    assert np.array_equal(made.links, links_of(wanted.edges))
    assert np.array_equal(made.parity, wanted.parity.numpy())


def unexported_chain(weights: Weights) -> Chain:
    """A chain over the functions of the contract as they are before the exporter has them: exporting takes long."""
    generator = dense(weights.build())
    chain = Chain(Bundle("unexported", Radio(), weights.sampling, {}, {}))
    made: Any = {name: _InPyTorch(name, module, generator) for name, module in functions(generator).items()}
    chain._functions = made
    return chain


class _InPyTorch:
    """In the place of an exported function."""

    def __init__(self, name: str, module: nn.Module, generator: DenseGenerator) -> None:
        self.contract, self.module = DENSE[name], module
        self.latent = generator.config.latent if isinstance(generator, VariationalGenerator) else 0

    @torch.no_grad()
    def __call__(self, known: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        taken = [array.name for array in self.contract.inputs if array.name in known]
        given = self.module(**{name: torch.from_numpy(known[name]) for name in taken})
        return {array.name: made.numpy() for array, made in zip(self.contract.outputs, given, strict=False)}

    def length(self, name: str) -> int:
        assert name == "latent"
        return self.latent
