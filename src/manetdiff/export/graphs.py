"""What is exported: four functions, and what each takes and gives, by name.

The mathematics is that of the diffusion room; here it is only cut into what is computed once for a layout, once for a
grid of times, and in every step.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.guidance import guided
from manetdiff.diffusion.process import PARITY_SHARE, Strides, noised_over, settled, stepped_over
from manetdiff.diffusion.sampler import predicted_shares
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.transitions import Stride
from manetdiff.export.dense import DenseDenoiser, time_films
from manetdiff.model.graphs import Graphs, Layouts


class LayoutGraph(nn.Module):
    """What one layout says, embedded, and the shares of pure noise on it; where noise comes sooner to some pairs, its
    pace, too."""

    def __init__(self, generator: DiffusionGenerator) -> None:
        super().__init__()
        self.embed = generator.denoiser.embed_layouts
        self.process = generator.process
        self.sectors = generator.config.sectors

    def forward(self, node: Tensor, pair: Tensor, sector: Tensor) -> tuple[Tensor, ...]:
        """node (1, n, 4), pair (1, n, n, 7), sector (1, n, n): the features of a layout."""
        mask = torch.ones_like(node[..., 0], dtype=torch.bool)
        layouts = Layouts(node, pair, sector, mask)
        embedded = self.embed(layouts)
        noise_edges = self.process.edge_share(mask).expand_as(sector) + torch.zeros_like(node[:, :, None, 0])
        noise_parity = torch.full_like(node[..., 0], PARITY_SHARE)
        pace = self.process.pace(layouts, self.sectors)
        known = embedded.nodes, embedded.edges, embedded.looks, noise_edges, noise_parity
        return known if pace is None else (*known, pace)


class TimeGraph(nn.Module):
    """What k steps between two times each have in common, whatever the graphs."""

    def __init__(self, generator: DiffusionGenerator) -> None:
        super().__init__()
        self.denoiser = generator.denoiser
        self.process = generator.process

    def forward(self, time: Tensor, earlier: Tensor) -> tuple[Tensor, Tensor]:
        """(k,) each; the FiLMs, (k, blocks, 4 d), and the strides of edges and parity, (k, 6)."""
        between = self.process.strides(time, earlier)
        return time_films(self.denoiser, time), torch.stack([*between.edges, *between.parity], dim=1)


class NoiseGraph(nn.Module):
    """Graphs at a time, noised from clean ones; at time 1, pure noise."""

    def __init__(self, generator: DiffusionGenerator) -> None:
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
        """edges, parity: (1, n, n), (1, n), clean; time: (1,); what is drawn: (b, n, n), (b, n)."""
        kept = alpha_bar(time), alpha_bar(time, self.parity_pace)
        noise, drawn = Graphs(noise_edges, noise_parity), Graphs(drawn_edges, drawn_parity)
        mask = torch.ones_like(drawn_parity, dtype=torch.bool)
        return noised_over(Graphs(edges, parity), noise, kept, drawn, mask, pace)


class StepGraph(nn.Module):
    """One denoising step of b graphs on one layout."""

    def __init__(self, generator: DiffusionGenerator) -> None:
        super().__init__()
        self.denoiser = DenseDenoiser(generator.denoiser)

    def forward(
        self,
        of_nodes: Tensor,
        of_edges: Tensor,
        looks: Tensor,
        noise_edges: Tensor,
        noise_parity: Tensor,
        films: Tensor,
        strides: Tensor,
        edges: Tensor,
        parity: Tensor,
        drawn_edges: Tensor,
        drawn_parity: Tensor,
        heat: Tensor,
        favour: Tensor,
        guide: Tensor,
        guide_weight: Tensor,
        pace: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """The graphs at the earlier time, and the clean ones as predicted: shares of edges and of parity 1.

        films (blocks, 4 d), strides (6,): of the step. heat (1,): the temperature. favour, guide, guide_weight:
        (1, n, n), added to the log-odds of edges, and what they are guided to.
        """
        predicted = self.denoiser(of_nodes, of_edges, looks, edges, parity, films)
        shares = predicted_shares(guided(predicted, guide, guide_weight), heat, favour)
        parts = [part[None] for part in strides]
        between = Strides(Stride(*parts[:3]), Stride(*parts[3:]))
        state, noise = Graphs(edges, parity), Graphs(noise_edges, noise_parity)
        stepped = stepped_over(state, shares, noise, between, pace)
        mask = torch.ones_like(parity, dtype=torch.bool)
        after = settled(stepped.edges, stepped.parity, Graphs(drawn_edges, drawn_parity), mask)
        return after.edges, after.parity, shares.edges, shares.parity
