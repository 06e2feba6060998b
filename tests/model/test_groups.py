"""Sums over groups and back, against plain indexing, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from manetdiff.model.arc_tensors import groups_of
from manetdiff.model.groups import Groups, collect, paired, side_by_side, spread

SIZES = [3, 0, 1, 4, 0]
OF = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
GROUPS = groups_of(OF, torch.tensor(SIZES), max(SIZES))
# Members that stand anywhere, as the two ends of links do.
SHUFFLED = torch.tensor([1, 0, 2, 2, 0, 1])
ENDS = torch.tensor([[1, 4], [0, 5], [2, 3]])
LINKS = Groups(SHUFFLED, ENDS, torch.ones(3, 2, dtype=torch.bool), torch.tensor([2, 0, 4, 5, 1, 3]))
PARTNER = torch.tensor([4, 5, 3, 2, 0, 1])


def _summed(rows: Tensor, groups: Groups) -> Tensor:
    return torch.zeros(len(groups.members), rows.shape[1], dtype=rows.dtype).index_add(0, groups.of, rows)


def _filled(rows: Tensor, groups: Groups) -> Tensor:
    made = torch.zeros(*groups.members.shape, rows.shape[1], dtype=rows.dtype)
    for member in range(len(rows)):
        place = (groups.members[groups.of[member]] == member) & groups.there[groups.of[member]]
        made[groups.of[member], place.nonzero()[0, 0]] = rows[member]
    return made


def _assert_same(one: Callable[[Tensor], Tensor], other: Callable[[Tensor], Tensor], count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    rows = torch.randn(count, 3, dtype=torch.float64, generator=generator)
    made = []
    for function in (one, other):
        given = rows.clone().requires_grad_()
        values = function(given)
        weight = torch.linspace(-1, 2, values.numel(), dtype=torch.float64).reshape(values.shape)
        (values**2 * weight).sum().backward()  # type: ignore[no-untyped-call]
        assert given.grad is not None
        made.append((values.detach(), given.grad))
    for mine, theirs in zip(*made, strict=True):
        assert mine.shape == theirs.shape
        assert mine.abs().max() > 0
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("groups", [GROUPS, LINKS], ids=["one after the other", "ends of links"])
def test_sums_rows_of_groups_and_rows_side_by_side_are_plain_indexing(groups: Groups) -> None:
    members, count = len(groups.of), len(groups.members)
    _assert_same(lambda rows: collect(rows, groups), lambda rows: _summed(rows, groups), members)
    _assert_same(lambda rows: spread(rows, groups), lambda rows: rows[groups.of], count)
    _assert_same(lambda rows: side_by_side(rows, groups), lambda rows: _filled(rows, groups), members)


def test_partners_are_plain_indexing() -> None:
    _assert_same(lambda rows: paired(rows, PARTNER), lambda rows: rows[PARTNER], len(PARTNER))


def test_members_of_no_group_are_in_no_sum() -> None:
    """The last group has no members, and what fills up a batch names it."""
    of = torch.cat([OF, torch.full((3,), len(SIZES) - 1)])
    groups = groups_of(of, torch.tensor(SIZES), max(SIZES))
    rows = torch.randn(len(of), 2, generator=torch.Generator().manual_seed(1))
    kept = len(OF)
    assert torch.equal(collect(rows, groups), collect(rows[:kept], GROUPS))
    assert torch.equal(side_by_side(rows, groups), side_by_side(rows[:kept], GROUPS))
    assert bool((groups.place < groups.members.numel()).all())
