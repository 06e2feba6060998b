"""Mirroring layouts left and right: the physics does not notice, so the same topology is right for the mirror image."""

from __future__ import annotations

import torch
from torch import Tensor

from manetdiff.features.layout import NODE_FEATURES, PAIR_FEATURES, SIN_ANGLE, SIN_YAW, Y
from manetdiff.model.graphs import Layouts


def mirrored(layouts: Layouts, chosen: Tensor, sectors: int) -> Layouts:
    """The layouts with those that are chosen, (b,) bool, mirrored: y, and the sines of all angles, change sign."""
    node_sign = torch.ones(len(NODE_FEATURES), device=chosen.device)
    # One by one: a list of places would be copied to the device, which a captured step must not do.
    node_sign[Y] = -1
    node_sign[SIN_YAW] = -1
    pair_sign = torch.ones(len(PAIR_FEATURES), device=chosen.device)
    pair_sign[SIN_ANGLE] = -1
    node = torch.where(chosen[:, None, None], layouts.node * node_sign, layouts.node)
    pair = torch.where(chosen[:, None, None, None], layouts.pair * pair_sign, layouts.pair)
    # Sectors count counter-clockwise from the one that looks forward.
    other_side = (sectors - layouts.sector.to(torch.int16)) % sectors
    sector = torch.where(chosen[:, None, None], other_side, layouts.sector.to(torch.int16))
    return Layouts(node, pair, sector.to(layouts.sector.dtype), layouts.mask)
