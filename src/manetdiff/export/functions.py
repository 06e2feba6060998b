"""What is exported: the functions of the contract in manetdiff.sampling.contract, over PyTorch's own mathematics.

Each takes its inputs by their names in the contract. The mathematics is that of the diffusion room; here it is only cut
into what is computed once for a layout, once for a grid of times, once for a chain, and in every step.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.diffusion.generator import AnyGenerator, DiffusionGenerator, VariationalGenerator
from manetdiff.diffusion.process import PARITY_SHARE, Strides, noised_over
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.step import denoising_step
from manetdiff.diffusion.transitions import Stride
from manetdiff.export.dense import DenseDenoiser, has_dense_form
from manetdiff.export.plain import PlainDecoder, PlainDenoiser
from manetdiff.export.sparse_functions import sparse_functions
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import StepSettings

Generator = DiffusionGenerator | VariationalGenerator


def functions(generator: AnyGenerator) -> dict[str, nn.Module]:
    """The functions of a model, by their names in the contract."""
    if isinstance(generator, SparseGenerator):
        return sparse_functions(generator)
    network = arranged(generator)
    return {
        "layout": LayoutFunction(generator),
        "times": TimesFunction(generator, network),
        "noise": NoiseFunction(generator),
        "step": StepFunction(network),
    }


def arranged(generator: Generator) -> DenseDenoiser | PlainDenoiser | PlainDecoder:
    """The network as it is exported: arranged for speed where that form of it exists, else as it is."""
    if isinstance(generator, VariationalGenerator):
        return PlainDecoder(generator.vae)
    if has_dense_form(generator.config):
        return DenseDenoiser(generator.denoiser)
    return PlainDenoiser(generator.denoiser)


class LayoutFunction(nn.Module):
    """What one layout says, embedded, and the shares of pure noise on it; where noise comes sooner to some pairs, its
    pace, too."""

    def __init__(self, generator: Generator) -> None:
        super().__init__()
        network = generator.vae if isinstance(generator, VariationalGenerator) else generator.denoiser
        self.embed = network.embed_layouts
        self.process = generator.process
        self.sectors = generator.config.sectors

    def forward(self, node: Tensor, pair: Tensor, sector: Tensor) -> tuple[Tensor, ...]:
        """The features of a layout."""
        mask = torch.ones_like(node[..., 0], dtype=torch.bool)
        layouts = Layouts(node, pair, sector, mask)
        embedded = self.embed(layouts)
        noise_edges = self.process.edge_share(mask).expand_as(sector) + torch.zeros_like(node[:, :, None, 0])
        noise_parity = torch.full_like(node[..., 0], PARITY_SHARE)
        pace = self.process.pace(layouts, self.sectors)
        known = embedded.nodes, embedded.edges, embedded.antenna_onehot, noise_edges, noise_parity
        return known if pace is None else (*known, pace)


class TimesFunction(nn.Module):
    """What k steps between two times each have in common, whatever the graphs."""

    def __init__(self, generator: Generator, network: DenseDenoiser | PlainDenoiser | PlainDecoder) -> None:
        super().__init__()
        self.process = generator.process
        self.network = network

    def forward(self, time: Tensor, earlier: Tensor) -> tuple[Tensor, Tensor]:
        """What the network makes of the times, (k, …), and the strides of edges and parity, (k, 6)."""
        strides = self.process.strides(time, earlier)
        return self.network.time_condition(time), torch.stack([*strides.edges, *strides.parity], dim=1)


class NoiseFunction(nn.Module):
    """Graphs at a time, noised from clean ones; at time 1, pure noise."""

    def __init__(self, generator: Generator) -> None:
        super().__init__()
        self.parity_pace = generator.process.parity_pace

    def forward(
        self,
        edges: Tensor,
        parity: Tensor,
        noise_edges: Tensor,
        noise_parity: Tensor,
        time: Tensor,
        drawn_edges: Tensor,
        drawn_parity: Tensor,
        pace: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        kept = alpha_bar(time), alpha_bar(time, self.parity_pace)
        noise, drawn = Graphs(noise_edges, noise_parity), Graphs(drawn_edges, drawn_parity)
        mask = torch.ones_like(drawn_parity, dtype=torch.bool)
        return noised_over(Graphs(edges, parity), noise, kept, drawn, mask, pace)


class StepFunction(nn.Module):
    """One denoising step of b graphs on one layout."""

    def __init__(self, network: DenseDenoiser | PlainDenoiser | PlainDecoder) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        node_embedding: Tensor,
        edge_embedding: Tensor,
        antenna_onehot: Tensor,
        noise_edges: Tensor,
        noise_parity: Tensor,
        time_condition: Tensor,
        strides: Tensor,
        edges: Tensor,
        parity: Tensor,
        drawn_edges: Tensor,
        drawn_parity: Tensor,
        temperature: Tensor,
        edge_bias: Tensor,
        guide: Tensor,
        guide_weight: Tensor,
        pace: Tensor | None = None,
        latent: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        embedded = node_embedding, edge_embedding, antenna_onehot
        what_varies = (edges, parity, time_condition) if latent is None else (latent,)
        prediction = self.network(*embedded, *what_varies)
        parts = [part[None] for part in strides]
        mask = torch.ones_like(parity, dtype=torch.bool)
        after, shares = denoising_step(
            prediction,
            Graphs(edges, parity),
            Graphs(noise_edges, noise_parity),
            Strides(Stride(*parts[:3]), Stride(*parts[3:])),
            Graphs(drawn_edges, drawn_parity),
            mask,
            StepSettings(temperature, edge_bias, guide, guide_weight),
            pace,
        )
        return *after, *shares
