"""Parity at a pace of its own: the same process under a power of the schedule."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.diffusion.process import Process
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.model.tensors import Graphs
from support.diffusion_samples import posterior_between, precise
from support.graph_samples import scattered_layouts


@given(st.integers(0, 1), st.floats(0.01, 0.99), st.floats(0.2, 3), st.floats(0.02, 0.5), st.floats(0.51, 1.0))
def test_another_pace_is_the_same_process_under_a_power_of_the_schedule(
    state: int, predicted: float, pace: float, earlier: float, time: float
) -> None:
    kept_t, kept_s = (alpha_bar(precise(at)).item() ** pace for at in (time, earlier))
    between = kept_t / kept_s
    total = 0.0
    for clean, weight in ((0, 1 - predicted), (1, predicted)):
        ways = [
            (between * (middle == state) + (1 - between) / 2) * (kept_s * (middle == clean) + (1 - kept_s) / 2)
            for middle in (0, 1)
        ]
        total += weight * ways[1] / sum(ways)
    found = posterior_between(
        precise(state), precise(predicted), 0.5, precise(time), precise(earlier), pace=pace
    ).item()
    assert math.isclose(found, total, abs_tol=1e-9)


def test_at_a_slower_pace_parity_keeps_more_than_edges_do() -> None:
    assert alpha_bar(precise(0.5), 0.3) > alpha_bar(precise(0.5)) > alpha_bar(precise(0.5), 3.0)
    layouts = scattered_layouts([16] * 200)
    clean = Graphs(torch.zeros(200, 16, 16), torch.ones(200, 16))
    generator = torch.Generator().manual_seed(1)
    draws = Graphs(torch.rand(200, 16, 16, generator=generator), torch.rand(200, 16, generator=generator))
    time = torch.full((200,), 0.6)
    for pace in (0.3, 1.0):
        kept = alpha_bar(precise(0.6), pace).item()
        noisy = Process(2.6, parity_pace=pace).noised(clean, time, draws, layouts.mask)
        assert math.isclose(noisy.parity.mean().item(), kept + (1 - kept) / 2, abs_tol=0.03)
