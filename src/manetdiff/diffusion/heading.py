"""Heading-conditioned noise: a link whose ends move sideways out of a sector is forgotten sooner.

Nodes that cannot turn at once move on along their yaw. The line between two of them then turns at a rate that follows
from their headings and their distance alone, and a pair whose line reaches the border of a sector soon is one whose
link is about to change antennas, or to end.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from manetdiff.layout.features import COS_ANGLE, COS_YAW, LENGTH, SIN_ANGLE, SIN_YAW
from manetdiff.model.tensors import Layouts

# How far the nodes are taken to move, in the fleet's spread: what the paper calls a minor reconfiguration.
AHEAD = 0.1
# A line on the border is as good as across it; the distance of two nodes at one place is no reason for infinity.
LEAST_MARGIN, LEAST_DISTANCE = 1e-3, 1e-3


def drift_risk(layouts: Layouts, sectors: int) -> Tensor:
    """(b, n, n), symmetric, 0 … 1: how near each pair comes to leaving its sector at either end. 1: it leaves.

    0 on the diagonal and at padding.
    """
    pair, node = layouts.pair.float(), layouts.node.float()
    length = pair[..., LENGTH].clamp(min=LEAST_DISTANCE)
    cos_yaw, sin_yaw = node[..., COS_YAW, None], node[..., SIN_YAW, None]
    # The peer's bearing against the node's own yaw.
    sine = pair[..., SIN_ANGLE] * cos_yaw - pair[..., COS_ANGLE] * sin_yaw
    cosine = pair[..., COS_ANGLE] * cos_yaw + pair[..., SIN_ANGLE] * sin_yaw
    # Both ends move by AHEAD along their yaw: each turns the line by the sine of its bearing, over the distance.
    turn = AHEAD * (sine + sine.transpose(1, 2)) / length
    width = 2 * math.pi / sectors
    into = torch.remainder(torch.atan2(sine, cosine) + width / 2, width)
    margin = torch.where(turn > 0, width - into, into).clamp(min=LEAST_MARGIN)
    nearest = torch.minimum(margin, margin.transpose(1, 2))
    return (turn.abs() / nearest).clamp(max=1) * layouts.pair_mask
