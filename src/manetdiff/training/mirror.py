"""Mirroring layouts left and right: the physics does not notice, so the same topology is right for the mirror image."""

from __future__ import annotations

import torch
from torch import Tensor

from manetdiff.layout.features import NODE_FEATURES, PAIR_FEATURES, SIN_ANGLE, SIN_YAW, Y
from manetdiff.model.tensors import Layouts


def mirrored(layouts: Layouts, chosen: Tensor, sectors: int) -> Layouts:
    """The layouts with those that are chosen, (b,) bool, mirrored: y, and the sines of all angles, change sign."""
    node_sign = _signs(len(NODE_FEATURES), (Y, SIN_YAW), chosen.device)
    pair_sign = _signs(len(PAIR_FEATURES), (SIN_ANGLE,), chosen.device)
    node = torch.where(chosen[:, None, None], layouts.node * node_sign, layouts.node)
    pair = torch.where(chosen[:, None, None, None], layouts.pair * pair_sign, layouts.pair)
    # Sectors count counter-clockwise from the one that looks forward.
    other_side = (sectors - layouts.sector.to(torch.int16)) % sectors
    sector = torch.where(chosen[:, None, None], other_side, layouts.sector.to(torch.int16))
    return Layouts(node, pair, sector.to(layouts.sector.dtype), layouts.mask)


def _signs(count: int, changed: tuple[int, ...], device: torch.device) -> Tensor:
    """-1 where the sign changes, else 1; made on the device: a step that copies to it cannot be captured."""
    place = torch.arange(count, device=device)
    hit = torch.stack([place == one for one in changed]).any(0)
    return 1.0 - 2.0 * hit.float()
