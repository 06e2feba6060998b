"""Sums over the members of groups, and back: arcs of a node, arcs of an antenna, nodes of a graph.

Each is the other's gradient, so that both directions of training read in order, without adding to one place from many
threads at once: fast on a GPU, and the same from run to run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor


class Groups(NamedTuple):
    """p members in r groups of up to s.

    - of: (p,) the group of each member. members: (r, s), filled up with anything; there: (r, s) bool, whether that is a
      member. place: (p,) where in the flat `members` each one is; for members of no group anywhere.
    """

    of: Tensor
    members: Tensor
    there: Tensor
    place: Tensor

    def to(self, device: torch.device | str) -> Groups:
        """The same on a device."""
        return Groups(*(part.to(device) for part in self))


def collect(rows: Tensor, groups: Groups) -> Tensor:
    """(r, d): the sums of rows (p, d) over each group."""
    made: Tensor = _Collect.apply(rows, groups.of, groups.members, groups.there)  # type: ignore[no-untyped-call]
    return made


def spread(rows: Tensor, groups: Groups) -> Tensor:
    """(p, d): to each member the row (r, d) of its group."""
    made: Tensor = _Spread.apply(rows, groups.of, groups.members, groups.there)  # type: ignore[no-untyped-call]
    return made


def side_by_side(rows: Tensor, groups: Groups) -> Tensor:
    """(r, s, d): the rows of each group, 0 where there are no more."""
    made: Tensor = _SideBySide.apply(rows, groups.members, groups.there, groups.place)  # type: ignore[no-untyped-call]
    return made


def paired(rows: Tensor, partner: Tensor) -> Tensor:
    """(p, d): to each the row of its partner; partner: (p,), each the partner of its partner."""
    made: Tensor = _Paired.apply(rows, partner)  # type: ignore[no-untyped-call]
    return made


def _summed(rows: Tensor, members: Tensor, there: Tensor) -> Tensor:
    if len(rows) == 0:  # what fills groups up would be row 0, which is not there
        return rows.new_zeros(len(members), rows.shape[1])
    return (rows[members] * there[..., None]).sum(1)


class _Collect(torch.autograd.Function):
    @staticmethod
    def forward(rows: Tensor, of: Tensor, members: Tensor, there: Tensor) -> Tensor:
        return _summed(rows, members, there)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        return grad[ctx.saved_tensors[0]], None, None, None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(rows: Tensor, of: Tensor, members: Tensor, there: Tensor) -> Tensor:
        return rows[of]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[2], inputs[3])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        return _summed(grad, *ctx.saved_tensors), None, None, None


class _SideBySide(torch.autograd.Function):
    @staticmethod
    def forward(rows: Tensor, members: Tensor, there: Tensor, place: Tensor) -> Tensor:
        return rows[members] * there[..., None]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[3])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        return grad.flatten(0, 1)[ctx.saved_tensors[0]], None, None, None


class _Paired(torch.autograd.Function):
    @staticmethod
    def forward(rows: Tensor, partner: Tensor) -> Tensor:
        return rows[partner]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad[ctx.saved_tensors[0]], None
