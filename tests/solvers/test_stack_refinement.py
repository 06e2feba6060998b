"""Samples of many layouts refined in one compiled call: what each fleet alone would get, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from manetdiff import Radio
from manetdiff.layout import Layout
from manetdiff.layout.stack import LayoutStack
from manetdiff.runtime.dense import every_pair
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Sample
from manetdiff.solvers.stack_refinement import StackBest, StackSamples, best_of_stack
from support.strategies import drawn

RADIOS = {
    "default": Radio(),
    "short": Radio(sectors=6, range=0.9),
    "steered": Radio(pattern="parabolic", min_snr=3.0, range=1.5),
    "all around": Radio(reception="omni", range=0.8),
}
SAMPLES = 3


def _samples(n: int, layouts: int, share: float, seed: int) -> StackSamples:
    """Random graphs: in parts, with crowded antennas, links inside one parity and out of range."""
    rng, pairs = np.random.default_rng(seed), every_pair(n)
    linked = (rng.random((layouts, SAMPLES, len(pairs))) < share).astype(np.uint8)
    parity = (rng.random((layouts, SAMPLES, n)) < 0.5).astype(np.uint8)
    begin = np.zeros(layouts, dtype=np.int64)
    at = np.arange(layouts) * (SAMPLES * len(pairs))
    return StackSamples(pairs, begin, begin + len(pairs), linked.ravel(), at, parity)


def _alone(samples: StackSamples, row: int) -> list[Sample]:
    pairs = samples.pairs
    linked = samples.linked.reshape(-1, SAMPLES, len(pairs))[row] > 0
    return [
        Sample(pairs[one], parity.astype(np.int64)) for one, parity in zip(linked, samples.parity[row], strict=True)
    ]


@pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
@pytest.mark.parametrize(
    ("n", "share", "moves"), [(2, 0.5, 0), (7, 0.3, 0), (16, 0.1, 0), (16, 0.25, 600), (34, 0.1, 0)]
)
def test_is_what_each_layout_alone_gets(n: int, share: float, moves: int, radio: Radio) -> None:
    fleets = [drawn(n, seed=seed) for seed in range(4)]
    stack, samples = LayoutStack.of(fleets, radio), _samples(n, len(fleets), share, seed=n)
    assert stack.plain.all()
    found = best_of_stack(stack, samples, seed=5, moves=moves)
    for row, fleet in enumerate(fleets):
        layout = Layout(fleet, radio)
        wanted = best_of(_alone(samples, row), layout, Effort(3, SAMPLES, polish=moves), seed=5)
        mine = Sample(found.links[row, : found.size[row]], found.parity[row])
        assert np.array_equal(mine.links, wanted.sample.links) and np.array_equal(mine.parity, wanted.sample.parity)
        assert found.throughput[row] == wanted.throughput
        assert found.kept[row] == wanted.report.kept
        assert found.components[row] == wanted.components
        assert found.fewest[row] == n - len(layout.choice.tree)
        assert found.counts[row].tolist() == list(wanted.report.correction.values())
        if moves:
            assert (found.gain[row], found.improved[row]) == (wanted.report.polish.gain, wanted.report.polish.improved)


def test_a_part_of_a_stack_gets_what_it_gets_in_the_whole() -> None:
    fleets = [drawn(9, seed=seed) for seed in range(5)]
    stack, samples = LayoutStack.of(fleets, Radio()), _samples(9, 5, 0.3, seed=1)
    whole = best_of_stack(stack, samples)
    for some in (slice(0, 2), slice(3, 5)):
        part = best_of_stack(stack.part(some), samples.part(some))
        for name in ("size", "parity", "kept", "throughput"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[some]), name


def test_only_known_answers_of_a_pair() -> None:
    """Two nodes in range, of one parity in each sample: one of them must turn, and the only link is made."""
    stack = LayoutStack.of([drawn(2)], Radio(unit=1e6))
    pairs, zero = np.array([[0, 1]]), np.zeros(1, dtype=np.int64)
    linked, parity = np.ones(1, dtype=np.uint8), np.zeros((1, 1, 2), dtype=np.uint8)
    made: StackBest = best_of_stack(stack, StackSamples(pairs, zero, zero + 1, linked, zero, parity))
    assert made.links[0, : made.size[0]].tolist() == [[0, 1]]
    assert made.parity[0].tolist() == [0, 1]
    assert made.counts[0].tolist() == [0, 1, 0, 0, 1, 1, 0]
