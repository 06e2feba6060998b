"""The random numbers a sampler is given for each layout."""

from __future__ import annotations

import math

import numpy as np
import torch

from manetdiff.diffusion.draws import layout_draws


def test_draws_are_uniform_differ_from_round_to_round_and_from_seed_to_seed_and_leave_padding_out() -> None:
    rounds = layout_draws([(1,), (2,), (1,)], [40, 40, 30], 20)
    assert len(rounds) == 21
    above = np.triu_indices(40, 1)
    numbers = np.concatenate(
        [part for drawn in rounds for part in (drawn.edges[0].numpy()[above], drawn.parity[0].numpy())]
    )
    # A number that stood for two variables would tie them to one another.
    assert len(np.unique(numbers)) > 0.99 * len(numbers)
    assert abs(numbers.mean() - 0.5) < 5 / math.sqrt(12 * len(numbers))
    assert abs(numbers.var() - 1 / 12) < 0.005
    assert not torch.equal(rounds[0].edges[0], rounds[0].edges[1])
    # What is not drawn is 1, which is below no share: no link, no parity.
    assert bool((rounds[3].edges[2, 30:] == 1).all()) and bool((rounds[3].parity[2, 30:] == 1).all())
    assert bool((rounds[3].edges.tril() == torch.ones(40, 40).tril()).all())


def test_deciding_draws_nothing_in_the_last_round_and_changes_no_other() -> None:
    drawn = layout_draws([(1,), (2,)], [9, 6], 4)
    decided = layout_draws([(1,), (2,)], [9, 6], 4, decide=True)
    for one, other in zip(drawn[:-1], decided[:-1], strict=True):
        assert torch.equal(one.edges, other.edges) and torch.equal(one.parity, other.parity)
    assert int((decided[-1].edges[0] == 0.5).triu(1).sum()) == 9 * 8 // 2
    assert bool((decided[-1].parity[1, :6] == 0.5).all())
    assert not bool((drawn[-1].edges[0].triu(1) == 0.5).any())
