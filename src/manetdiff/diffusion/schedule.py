"""The cosine noise schedule."""

from __future__ import annotations

import math

import torch
from torch import Tensor

OFFSET = 0.008  # s


def alpha_bar(time: Tensor, pace: float = 1.0) -> Tensor:
    """ᾱ(t) = cos²(½π (t + s)/(1 + s)): what share of the clean state is left at a time of 0 … 1 (t/T in the paper).

    At time 0 it is 1 exactly, where the formula gives 0.9998: time 0 is the clean state. pace: a power of it; below 1
    noise comes later, so that sampling decides earlier.
    """
    # cos(½π) in single precision can be a hair below 0, which has no power.
    kept = torch.cos(0.5 * math.pi * (time + OFFSET) / (1 + OFFSET)).clamp(min=0) ** (2 * pace)
    return torch.where(time <= 0, torch.ones_like(kept), kept)
