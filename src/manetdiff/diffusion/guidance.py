"""Guided sampling: predictions pulled towards a previous topology.

The classifier's gradient of guided diffusion is replaced by that of the binary cross-entropy between the previous edges
and the predicted ones. With respect to the log-odds l it is σ(l) - e, in closed form, so no step back through the
network is needed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from manetdiff.model.tensors import Prediction


def guided(prediction: Prediction, target: Tensor | float, weight: Tensor | float) -> Prediction:
    """The prediction after a step against the gradient. target: previous edges; weight: how far, 0 for pairs that had
    no edge to speak of."""
    return Prediction(prediction.edges + weight * (target - torch.sigmoid(prediction.edges)), prediction.parity)
