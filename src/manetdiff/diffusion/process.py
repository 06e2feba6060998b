"""The noise process of a whole graph: edges and parity, symmetric, never touching padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from manetdiff.checks import check_above_0, check_at_least_0, check_within
from manetdiff.diffusion.heading import drift_risk
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.transitions import Stride, mixed, stride
from manetdiff.errors import ModelError
from manetdiff.json_settings import JsonSettings
from manetdiff.model.tensors import Graphs, Layouts

PARITY_SHARE = 0.5
MOST_LINKED = 0.5  # share of linked pairs in the noise of the smallest fleets


@dataclass(frozen=True)
class Process(JsonSettings):
    """Marginal noise on edges and parity.

    - mean_degree: links of a node in the data. It sets the share of linked pairs m = mean_degree / (n - 1), which for
      data of one size is the edge marginal of the paper; unlike a fixed share, it holds for any number of nodes.
    - noise_redundancy: factor on the odds of a link in the noise. Above 1 the process goes through graphs with more
      links than it ends with: a redundant link is easier to prune than a missing one is to create.
    - parity_pace: of the noise on parity, as a power of ᾱ. Below 1, sampling settles the parity before the edges.
    - forest: of sparse networks, the share of graphs in training whose noise is on the shortest spanning forest instead
      of on the solution: what a chain of few steps starts from.
    - heading: how much faster noise comes to a pair that is about to leave the sector it is in; 0: as to any other.
    """

    ERROR = ModelError
    WHAT = "process"

    mean_degree: float
    noise_redundancy: float = 1.0
    parity_pace: float = 1.0
    heading: float = 0.0
    forest: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean_degree", "noise_redundancy", "parity_pace"):
            check_above_0(ModelError, f"process: {name}", getattr(self, name))
        check_at_least_0(ModelError, "process: heading", self.heading)
        check_within(ModelError, "process: forest", self.forest, 0.0, 1.0)

    def pace(self, layouts: Layouts, sectors: int) -> Tensor | None:
        """(b, n, n): of the noise on each pair, as a power of ᾱ; None where it is the same for all."""
        return 1 + self.heading * drift_risk(layouts, sectors) if self.heading else None

    def edge_share(self, mask: Tensor) -> Tensor:
        """(b, 1, 1): share of linked pairs in pure noise, for graphs of as many nodes as the mask (b, n) has."""
        share = (self.mean_degree / (mask.sum(1) - 1).clamp(min=1)).clamp(max=MOST_LINKED)
        odds = self.noise_redundancy * share / (1 - share)
        return (odds / (1 + odds))[:, None, None]

    def noise_shares(self, mask: Tensor) -> Graphs:
        """Shares of edges, (b, 1, 1), and of parity 1, (b, n), in pure noise."""
        return Graphs(self.edge_share(mask), torch.full(mask.shape, PARITY_SHARE, device=mask.device))

    def noised(self, clean: Graphs, time: Tensor, draws: Graphs, mask: Tensor, pace: Tensor | None = None) -> Graphs:
        """A sample of q(G_t | G_0). time: (b,) in 0 … 1; draws: uniform numbers of the graphs' shapes; mask: (b, n)."""
        kept = alpha_bar(time), alpha_bar(time, self.parity_pace)
        return noised_over(clean, self.noise_shares(mask), kept, draws, mask, pace)

    def pure_noise(self, draws: Graphs, mask: Tensor) -> Graphs:
        """A graph at time 1."""
        return draw_states(self.noise_shares(mask), draws, mask)

    def strides(self, time: Tensor, earlier: Tensor) -> Strides:
        """What is between two times, (b,), for edges and for parity."""
        return Strides(stride(time, earlier), stride(time, earlier, pace=self.parity_pace))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Process:
        """The inverse of `to_dict`; earlier files say `redundancy` for `noise_redundancy`."""
        if isinstance(values, Mapping):  # what is none is refused there
            values = {"noise_redundancy" if name == "redundancy" else name: value for name, value in values.items()}
        return super().from_dict(values)


class Strides(NamedTuple):
    """A step of a whole graph."""

    edges: Stride
    parity: Stride


def noised_over(
    clean: Graphs,
    noise: Graphs,
    kept: tuple[Tensor, Tensor],
    draws: Graphs,
    mask: Tensor,
    pace: Tensor | None = None,
) -> Graphs:
    """A sample of q(G_t | G_0). noise: shares of pure noise; kept: ᾱ(t) of edges and of parity, (b,); pace: (b, n, n),
    a power of it for each pair."""
    of_edges = kept[0][:, None, None]
    edges = mixed(clean.edges, noise.edges, of_edges if pace is None else of_edges**pace)
    parity = mixed(clean.parity, noise.parity, kept[1][:, None])
    return draw_states(Graphs(edges, parity), draws, mask)


def draw_states(shares: Graphs, draws: Graphs, mask: Tensor) -> Graphs:
    """States of 0 and 1 from shares and uniform draws. Only the draws above the diagonal count: edges are symmetric."""
    edges, parity = shares
    above = ((draws.edges < edges) & mask[:, :, None] & mask[:, None, :]).to(edges.dtype).triu(1)
    return Graphs(above + above.transpose(1, 2), ((draws.parity < parity) & mask).to(parity.dtype))
