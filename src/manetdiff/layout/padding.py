"""Layouts of different sizes in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import ModelError
from manetdiff.layout.features import NODE_FEATURES, PAIR_FEATURES, LayoutFeatures


class PaddedFeatures(NamedTuple):
    """b layouts padded with zeros to n nodes.

    - node: (b, n, 4) float32; pair: (b, n, n, 7) float32; sector: (b, n, n) uint8; mask: (b, n) bool, False for
      padding.
    """

    node: npt.NDArray[np.float32]
    pair: npt.NDArray[np.float32]
    sector: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_]


def pad(layouts: Sequence[LayoutFeatures], n: int | None = None) -> PaddedFeatures:
    """Stack layouts; n: nodes to pad to, by default those of the largest."""
    if not layouts:
        raise ModelError("there are no layouts to stack")
    sizes = [len(layout.node) for layout in layouts]
    most = max(sizes) if n is None else n
    if most < max(sizes):
        raise ModelError(f"a layout of {max(sizes)} nodes cannot be padded to {most}")
    b = len(layouts)
    padded = PaddedFeatures(
        np.zeros((b, most, len(NODE_FEATURES)), dtype=np.float32),
        np.zeros((b, most, most, len(PAIR_FEATURES)), dtype=np.float32),
        np.zeros((b, most, most), dtype=np.uint8),
        np.arange(most)[None, :] < np.array(sizes)[:, None],
    )
    for row, (layout, size) in enumerate(zip(layouts, sizes, strict=True)):
        padded.node[row, :size] = layout.node
        padded.pair[row, :size, :size] = layout.pair
        padded.sector[row, :size, :size] = layout.sector
    return padded
