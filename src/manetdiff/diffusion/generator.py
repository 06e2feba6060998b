"""One interface for every model that makes topologies, so that training and evaluation treat them alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.errors import ModelError
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.losses import LossWeights, losses
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.model.vae import GraphVAE, divergence
from manetdiff.sampling import SamplerConfig, latent_draws

KL_WEIGHT = 0.05


class TrainingDraws(NamedTuple):
    """The random numbers of one training step on b graphs.

    - time: (b,) uniform over 0 … 1; uniform: of the graphs' shapes; normal: (b, n, latent).
    """

    time: Tensor
    uniform: Graphs
    normal: Tensor


class Generator(Protocol):
    """What training and evaluation ask of a model."""

    config: ModelConfig

    def loss_terms(
        self, layouts: Layouts, clean: Graphs, draws: TrainingDraws, weights: LossWeights
    ) -> dict[str, Tensor]:
        """The terms of the loss, each already weighted, on clean graphs."""
        ...

    def sample(self, layouts: Layouts, seeds: Sequence[tuple[int, ...]], sampling: SamplerConfig) -> Graphs:
        """A graph for each layout; the same seed gives the same graph whatever the batch."""
        ...


class DiffusionGenerator(nn.Module):
    """NetDiff and its ablations, and DDPM-GT: a denoiser and a noise process."""

    def __init__(self, config: ModelConfig, process: Process) -> None:
        super().__init__()
        self.config = config
        self.process = process
        self.denoiser = Denoiser(config)

    def loss_terms(
        self, layouts: Layouts, clean: Graphs, draws: TrainingDraws, weights: LossWeights
    ) -> dict[str, Tensor]:
        pace = self.process.pace(layouts, self.config.sectors)
        noisy = self.process.noised(clean, draws.time, draws.uniform, layouts.mask, pace)
        prediction = self.denoiser(layouts, noisy, draws.time)
        terms = losses(prediction, clean, layouts, self.config.sectors, weights)
        return {name: getattr(weights, name) * value for name, value in terms.items()}

    @torch.no_grad()
    def sample(self, layouts: Layouts, seeds: Sequence[tuple[int, ...]], sampling: SamplerConfig) -> Graphs:
        embedded = self.denoiser.embed_layouts(layouts)
        n, device = layouts.mask.shape[1], layouts.mask.device
        rounds = layout_draws(seeds, _sizes(layouts), sampling.steps, n, device, decide=sampling.decide)
        sampler = Sampler(self.process, sampling)
        pace = self.process.pace(layouts, self.config.sectors)
        return sampler.sample(
            lambda state, time: self.denoiser.predict(embedded, state, time), layouts.mask, rounds, pace
        )


class VariationalGenerator(nn.Module):
    """GraphVAE and GT-VAE."""

    def __init__(self, config: ModelConfig, process: Process) -> None:
        super().__init__()
        self.config = config
        self.process = process  # of no consequence: a graph is decoded in one step
        self.vae = GraphVAE(config)

    def loss_terms(
        self, layouts: Layouts, clean: Graphs, draws: TrainingDraws, weights: LossWeights
    ) -> dict[str, Tensor]:
        prediction, latents = self.vae(layouts, clean, draws.normal)
        terms = losses(prediction, clean, layouts, self.config.sectors, weights)
        weighted = {name: getattr(weights, name) * value for name, value in terms.items()}
        return {**weighted, "divergence": KL_WEIGHT * divergence(latents, layouts.mask)}

    @torch.no_grad()
    def sample(self, layouts: Layouts, seeds: Sequence[tuple[int, ...]], sampling: SamplerConfig) -> Graphs:
        """One decoding, taken as a step straight to time 0, where the prediction is what is left; always decided."""
        n, device, sizes = layouts.mask.shape[1], layouts.mask.device, _sizes(layouts)
        normal = torch.from_numpy(latent_draws(seeds, sizes, n, self.config.latent)).to(device)
        prediction = self.vae.decode(self.vae.embed_layouts(layouts), normal)
        rounds = layout_draws(seeds, sizes, 1, n, device, decide=True)
        sampler = Sampler(self.process, dataclasses.replace(sampling, steps=1))
        return sampler.sample(lambda state, time: prediction, layouts.mask, rounds)


DenseGenerator = DiffusionGenerator | VariationalGenerator
AnyGenerator = DenseGenerator | SparseGenerator


def build(config: ModelConfig, process: Process) -> AnyGenerator:
    """A model with fresh weights, drawn from PyTorch's current random state."""
    if config.kind == "sparse":
        return SparseGenerator(config, process)
    if config.kind == "diffusion":
        return DiffusionGenerator(config, process)
    if config.kind in ("graph-vae", "gt-vae"):
        return VariationalGenerator(config, process)
    raise ModelError(f"unknown kind of model {config.kind!r}")


def _sizes(layouts: Layouts) -> list[int]:
    sizes: list[int] = layouts.mask.sum(1).tolist()
    return sizes
