"""The functions of the contract for sparse networks, over PyTorch's own mathematics."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.diffusion.process import MOST_LINKED, PARITY_SHARE
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.transitions import Stride, mixed, posterior
from manetdiff.errors import ModelError
from manetdiff.export.sparse import Indices, SparseForm, has_sparse_form


def sparse_functions(generator: SparseGenerator) -> dict[str, nn.Module]:
    """By their names in the contract."""
    if not has_sparse_form(generator.config):
        raise ModelError("only sparse networks with ACAM tokens and cosine similarity can be exported")
    network = SparseForm(generator.denoiser)
    return {
        "layout": SparseLayoutFunction(generator, network),
        "times": SparseTimesFunction(generator, network),
        "noise": SparseNoiseFunction(generator),
        "step": SparseStepFunction(network),
    }


class SparseLayoutFunction(nn.Module):
    """What one layout says, embedded, and the shares of pure noise on it."""

    def __init__(self, generator: SparseGenerator, network: SparseForm) -> None:
        super().__init__()
        self.network = network
        self.process = generator.process

    def forward(
        self,
        features: Tensor,
        owner: Tensor,
        reverse: Tensor,
        antenna: Tensor,
        link: Tensor,
        forward: Tensor,
        arcs_of_node: Tensor,
        node_there: Tensor,
        arcs_of_antenna: Tensor,
        antenna_there: Tensor,
        bearings: Tensor,
    ) -> tuple[Tensor, ...]:
        of_arcs = owner, reverse, antenna, link, forward
        groups = arcs_of_node, node_there, arcs_of_antenna, antenna_there
        arcs, encoded = self.network.embed(features, Indices(*of_arcs, *groups, bearings))
        nodes = torch.ones_like(arcs_of_node[:, 0], dtype=features.dtype)
        links = torch.ones_like(forward, dtype=features.dtype)
        share = (self.process.mean_degree * nodes.sum() / (2 * links.sum())).clamp(max=MOST_LINKED)
        odds = self.process.noise_redundancy * share / (1 - share)
        noise_links = (odds / (1 + odds)) * links[None]
        known = arcs, noise_links, PARITY_SHARE * nodes[None]
        return known if encoded is None else (*known, encoded)


class SparseTimesFunction(nn.Module):
    """What k steps between two times each have in common, whatever the graphs."""

    def __init__(self, generator: SparseGenerator, network: SparseForm) -> None:
        super().__init__()
        self.process = generator.process
        self.network = network

    def forward(self, time: Tensor, earlier: Tensor) -> tuple[Tensor, Tensor]:
        """What the network makes of the times, (k, …), and the strides of links and parity, (k, 6)."""
        strides = self.process.strides(time, earlier)
        return self.network.time_condition(time), torch.stack([*strides.edges, *strides.parity], dim=1)


class SparseNoiseFunction(nn.Module):
    """Graphs at a time, noised from clean ones; at time 1, pure noise."""

    def __init__(self, generator: SparseGenerator) -> None:
        super().__init__()
        self.parity_pace = generator.process.parity_pace

    def forward(
        self,
        links: Tensor,
        parity: Tensor,
        noise_links: Tensor,
        noise_parity: Tensor,
        time: Tensor,
        drawn_links: Tensor,
        drawn_parity: Tensor,
    ) -> tuple[Tensor, Tensor]:
        shares = mixed(links, noise_links, alpha_bar(time)[:, None])
        of_parity = mixed(parity, noise_parity, alpha_bar(time, self.parity_pace)[:, None])
        return _drawn(shares, drawn_links), _drawn(of_parity, drawn_parity)


class SparseStepFunction(nn.Module):
    """One denoising step of b graphs on one layout: a draw from the exact posterior over the network's prediction."""

    def __init__(self, network: SparseForm) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        arc_embedding: Tensor,
        owner: Tensor,
        reverse: Tensor,
        antenna: Tensor,
        link: Tensor,
        forward: Tensor,
        arcs_of_node: Tensor,
        node_there: Tensor,
        arcs_of_antenna: Tensor,
        antenna_there: Tensor,
        bearings: Tensor,
        noise_links: Tensor,
        noise_parity: Tensor,
        time_condition: Tensor,
        strides: Tensor,
        links: Tensor,
        parity: Tensor,
        drawn_links: Tensor,
        drawn_parity: Tensor,
        temperature: Tensor,
        link_bias: Tensor,
        guide: Tensor,
        guide_weight: Tensor,
        node_embedding: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        of_arcs = owner, reverse, antenna, link, forward
        groups = arcs_of_node, node_there, arcs_of_antenna, antenna_there
        indices = Indices(*of_arcs, *groups, bearings)
        logits, votes = self.network(arc_embedding, indices, links, parity, time_condition, node_embedding)
        chances = torch.sigmoid(logits)
        logits = logits + guide_weight * (guide - chances)  # see diffusion/guidance.py
        link_shares = torch.sigmoid(logits / temperature + link_bias)
        parity_shares = torch.sigmoid(votes / temperature)
        of_links, of_parity = Stride(*strides[:3]), Stride(*strides[3:])
        after = _drawn(posterior(links, link_shares, noise_links, of_links), drawn_links)
        turned = _drawn(posterior(parity, parity_shares, noise_parity, of_parity), drawn_parity)
        return after, turned, link_shares, parity_shares, chances


def _drawn(shares: Tensor, draws: Tensor) -> Tensor:
    """States of 0 and 1."""
    return (draws < shares).to(shares.dtype)
