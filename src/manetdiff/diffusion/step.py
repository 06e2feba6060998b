"""One denoising step: the mathematics between a network's prediction and the graph at the earlier time.

The sampler in PyTorch, the captured chain on a GPU and the exported function all call this.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.diffusion.guidance import guided
from manetdiff.diffusion.process import Strides, draw_states
from manetdiff.diffusion.transitions import Stride, at_pace, posterior
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.sampling import StepSettings


class Step(NamedTuple):
    """state: the graphs at the earlier time. shares: predicted shares of edges and of parity 1 in the clean graphs."""

    state: Graphs
    shares: Graphs


def denoising_step(
    prediction: Prediction,
    state: Graphs,
    noise: Graphs,
    strides: Strides,
    draws: Graphs,
    mask: Tensor,
    settings: StepSettings[Tensor] | StepSettings[float],
    pace: Tensor | None = None,
) -> Step:
    """A draw from the exact posterior, marginalised over the prediction; at time 0 the prediction itself is left.

    - noise: shares of pure noise, broadcasting. strides: what is between the two times. draws: uniform numbers of the
      state's shapes. mask: (b, n). pace: (b, n, n), of the noise on each pair, see Process.
    """
    if settings.guide is not None and settings.guide_weight is not None:
        prediction = guided(prediction, settings.guide, settings.guide_weight)
    shares = predicted_shares(prediction, settings.temperature, settings.link_bias)
    return Step(draw_states(posterior_shares(state, shares, noise, strides, pace), draws, mask), shares)


def predicted_shares(prediction: Prediction, temperature: Tensor | float, link_bias: Tensor | float) -> Graphs:
    """Predicted shares of edges and of parity 1."""
    edges = torch.sigmoid(prediction.edges / temperature + link_bias)
    return Graphs(edges, torch.sigmoid(prediction.parity / temperature))


def posterior_shares(
    state: Graphs, predicted: Graphs, noise: Graphs, strides: Strides, pace: Tensor | None = None
) -> Graphs:
    """Shares of edges and of parity 1 at the earlier time, given the state and the predicted clean shares."""
    wide = Stride(*(part[:, None, None] for part in strides.edges))
    wide = wide if pace is None else at_pace(wide, pace)
    edges = posterior(state.edges, predicted.edges, noise.edges, wide)
    narrow = Stride(*(part[:, None] for part in strides.parity))
    return Graphs(edges, posterior(state.parity, predicted.parity, noise.parity, narrow))
