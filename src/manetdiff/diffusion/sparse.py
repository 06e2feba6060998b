"""Diffusion on sparse graphs: candidate links and parity, noised, predicted and sampled. The same mathematics as on
dense graphs, on rows instead of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from manetdiff.diffusion.process import MOST_LINKED, PARITY_SHARE, Process
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.transitions import mixed, posterior, stride
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction, stacked
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.model.sparse_denoiser import SparseDenoiser
from manetdiff.model.sparse_losses import Summed, alone, disagreement, sparse_losses
from manetdiff.sampling import SamplerConfig, link_draws, time_pairs

# Of two times of one path that should predict the same, the earlier one over the later.
EARLIER = 0.5


class ArcDraws(NamedTuple):
    """The random numbers of one training step, uniform over 0 … 1: time (g,); links (c,); parity (m,); start (g,), by
    which a graph's noise is pure or starts from a forest."""

    time: Tensor
    links: Tensor
    parity: Tensor
    start: Tensor | None = None


class SparseGenerator(nn.Module):
    """A sparse denoiser and a noise process."""

    def __init__(self, config: ModelConfig, process: Process) -> None:
        super().__init__()
        self.config = config
        self.process = process
        self.denoiser = SparseDenoiser(config)

    def loss_terms(
        self,
        layouts: ArcLayouts,
        clean: ArcGraphs,
        draws: ArcDraws,
        weights: LossWeights,
        forest: ArcGraphs | None = None,
        summed: Summed = alone,
    ) -> dict[str, Tensor]:
        """The terms of the loss, each already weighted, on clean graphs.

        - forest: the shortest spanning ones. summed: see `sparse_losses`.
        """
        noisy = noised(self.process, layouts, clean, draws, forest)
        embedded = self.denoiser.embed(layouts)
        prediction = self.denoiser.predict(layouts, embedded, noisy, draws.time)
        terms = sparse_losses(prediction, clean, layouts, weights, summed)
        if weights.consistency:
            # The same random numbers at an earlier time: what has been noised by then is noised later, too.
            sooner = draws._replace(time=EARLIER * draws.time)
            path = noised(self.process, layouts, clean, sooner, forest)
            before = self.denoiser.predict(layouts, embedded, path, sooner.time)
            beside = sparse_losses(before, clean, layouts, weights, summed)
            terms = {name: (value + beside[name]) / 2 for name, value in terms.items()}
            terms["consistency"] = disagreement(prediction, before, layouts, summed)
        return {name: getattr(weights, name) * value for name, value in terms.items()}

    @torch.no_grad()
    def sample(
        self, layouts: Sequence[Layout], seeds: Sequence[tuple[int, ...]], sampling: SamplerConfig
    ) -> list[ArcGraphs]:
        """A graph for each layout, on its candidates; the same seed gives the same graph whatever the batch."""
        device = next(self.parameters()).device
        arcs = [layout.arcs for layout in layouts]
        together = stacked(arcs, device)
        links, nodes = ([len(getattr(one, name)) for one in arcs] for name in ("links", "arcs_of_node"))
        drawn = [
            link_draws(seed, c, n, sampling.steps + 1, decide=sampling.decide)
            for seed, n, c in zip(seeds, nodes, links, strict=True)
        ]
        joined = [torch.from_numpy(np.concatenate(parts, axis=1)).to(device) for parts in zip(*drawn, strict=True)]
        made = self._chain(together, [ArcGraphs(*both) for both in zip(*joined, strict=True)], sampling)
        parts = torch.split(made.links, links), torch.split(made.parity, nodes)
        return [ArcGraphs(*both) for both in zip(*parts, strict=True)]

    def _chain(self, layouts: ArcLayouts, rounds: Sequence[ArcGraphs], sampling: SamplerConfig) -> ArcGraphs:
        embedded = self.denoiser.embed(layouts)
        noise = noise_shares(self.process, layouts)
        state = drawn_from(noise, rounds[0])
        for (t, s), draws in zip(time_pairs(sampling.steps, sampling.grid), rounds[1:], strict=True):
            time = torch.full((len(layouts.graphs.there),), t, device=noise.links.device)
            prediction = self.denoiser.predict(layouts, embedded, state, time)
            earlier = torch.full_like(time[:1], s)
            shares = posterior_of(self.process, prediction, state, noise, (time[:1], earlier), sampling)
            state = drawn_from(shares, draws)
        return state


def noise_shares(process: Process, layouts: ArcLayouts) -> ArcGraphs:
    """Shares of links, (c,), and of parity 1, (m,), in pure noise: as many links of a node as in the data, whatever the
    number of its candidates."""
    of_link = layouts.graph_of_link
    links = layouts.real_links.new_zeros(len(layouts.sizes)).index_add_(0, of_link, layouts.real_links)
    share = (process.mean_degree * layouts.sizes / (2 * links).clamp(min=1)).clamp(max=MOST_LINKED)
    odds = process.noise_redundancy * share / (1 - share)
    return ArcGraphs((odds / (1 + odds))[of_link], torch.full_like(layouts.real_nodes, PARITY_SHARE))


def noised(
    process: Process, layouts: ArcLayouts, clean: ArcGraphs, draws: ArcDraws, forest: ArcGraphs | None = None
) -> ArcGraphs:
    """A sample of q(G_t | G_0); of some graphs, by `start` of the draws, with the forest in place of G_0 and its parity
    as it is, as chains of few steps begin."""
    noise = noise_shares(process, layouts)
    kept_links = alpha_bar(draws.time)[layouts.graph_of_link]
    kept_parity = alpha_bar(draws.time, process.parity_pace)[layouts.graphs.of]
    links, parity = clean
    if forest is not None and draws.start is not None and process.forest:
        # Half of them with their links as they are, too, as the first of several samples begins.
        grown = draws.start < process.forest
        whole = (draws.start < process.forest / 2)[layouts.graph_of_link]
        links = torch.where(grown[layouts.graph_of_link], forest.links, links)
        kept_links = torch.where(whole, 1.0, kept_links)
        parity = torch.where(grown[layouts.graphs.of], forest.parity, parity)
        kept_parity = torch.where(grown[layouts.graphs.of], 1.0, kept_parity)
    shares = ArcGraphs(mixed(links, noise.links, kept_links), mixed(parity, noise.parity, kept_parity))
    return drawn_from(shares, ArcGraphs(draws.links, draws.parity))


def posterior_of(
    process: Process,
    prediction: ArcPrediction,
    state: ArcGraphs,
    noise: ArcGraphs,
    times: tuple[Tensor, Tensor],
    sampling: SamplerConfig,
) -> ArcGraphs:
    """Shares of links and of parity 1 at the earlier of two times, (1,) each, by the exact posterior."""
    links = torch.sigmoid(prediction.links / sampling.temperature + math.log(sampling.redundancy))
    parity = torch.sigmoid(prediction.parity / sampling.temperature)
    return ArcGraphs(
        posterior(state.links, links, noise.links, stride(*times)),
        posterior(state.parity, parity, noise.parity, stride(*times, pace=process.parity_pace)),
    )


def drawn_from(shares: ArcGraphs, draws: ArcGraphs) -> ArcGraphs:
    """States of 0 and 1 from shares and uniform draws."""
    return ArcGraphs(*((drawn < share).to(share.dtype) for drawn, share in zip(draws, shares, strict=True)))
