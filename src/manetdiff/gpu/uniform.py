"""Uniform numbers made where they are used: each follows from its graph's seed, the round and its place alone.

So a graph gets the same ones whatever batch it is in, and none has to travel to the device. They are not those of
`manetdiff.sampling`, whose streams are drawn one after the other on a CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

from manetdiff.model.tensors import Graphs

# The finaliser of SplitMix64 (Steele, Lea and Flood, 2014); 64-bit arithmetic that wraps around.
GOLDEN = 0x9E3779B97F4A7C15 - 2**64
MIX_A = 0xBF58476D1CE4E5B9 - 2**64
MIX_B = 0x94D049BB133111EB - 2**64
# So many of the bits make a number of single precision.
BITS = 24
# The likelier of two states is taken where the number drawn is one half.
HALF = 0.5


def uniform_round(seeds: Tensor, round_: Tensor, n: int) -> Graphs:
    """Round number `round_`, an int64 of no dimensions, for graphs of n nodes; seeds: (b,) int64."""
    place = torch.arange(n * n + n, dtype=torch.int64, device=seeds.device)
    numbers = _numbers(_start(seeds, round_)[:, None] + place)
    return Graphs(numbers[:, : n * n].reshape(-1, n, n), numbers[:, n * n :])


def uniform_places(seeds: Tensor, round_: Tensor, graph: Tensor, place: Tensor) -> Tensor:
    """The same for places (p,) in graphs of any sizes; graph: (p,) which each is in, of those that the seeds are of."""
    return _numbers(_start(seeds, round_)[graph] + place)


def _start(seeds: Tensor, round_: Tensor) -> Tensor:
    return _mixed(seeds + GOLDEN * (round_ + 1))


def _numbers(places: Tensor) -> Tensor:
    # Neighbouring places are told apart by the mixing alone, which was made for counters.
    return _shifted(_mixed(places), 64 - BITS).to(torch.float32) * 2.0**-BITS


def _mixed(bits: Tensor) -> Tensor:
    bits = (bits ^ _shifted(bits, 30)) * MIX_A
    bits = (bits ^ _shifted(bits, 27)) * MIX_B
    return bits ^ _shifted(bits, 31)


def _shifted(bits: Tensor, by: int) -> Tensor:
    """Shifted to the right with zeros from the left: torch's shift brings the sign."""
    moved: Tensor = (bits >> by) & (2 ** (64 - by) - 1)
    return moved
