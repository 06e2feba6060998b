"""The noise schedule: the design's cosine, and nothing but falling."""

from __future__ import annotations

import math

import numpy as np
import torch

from manetdiff.diffusion.schedule import alpha_bar


def test_the_schedule_is_the_designs_cosine_and_keeps_all_at_time_zero() -> None:
    steps = torch.arange(1, 51, dtype=torch.float64)
    expected = [math.cos(0.5 * math.pi * (t / 50 + 0.008) / (1 + 0.008)) ** 2 for t in range(1, 51)]
    assert np.allclose(alpha_bar(steps / 50), expected, rtol=1e-12, atol=1e-15)
    assert alpha_bar(torch.zeros(1)).item() == 1.0
    assert alpha_bar(torch.ones(1)).item() < 1e-12


def test_the_schedule_only_falls() -> None:
    kept = alpha_bar(torch.linspace(0, 1, 2001, dtype=torch.float64))
    assert bool((kept.diff() < 0).all())
