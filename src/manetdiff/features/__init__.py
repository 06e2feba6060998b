"""What a network is told of a layout, computed once and without PyTorch."""

from manetdiff.features.layout import (
    FEATURES_VERSION,
    NODE_FEATURES,
    PAIR_FEATURES,
    LayoutFeatures,
    layout_features,
)
from manetdiff.features.padding import PaddedFeatures, pad

__all__ = [
    "FEATURES_VERSION",
    "NODE_FEATURES",
    "PAIR_FEATURES",
    "LayoutFeatures",
    "PaddedFeatures",
    "layout_features",
    "pad",
]
