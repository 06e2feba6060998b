"""One fleet under one radio, and what follows from the two: the thing that travels through the package."""

from manetdiff.layout.features import FEATURES_VERSION, NODE_FEATURES, PAIR_FEATURES, LayoutFeatures
from manetdiff.layout.layout import Layout
from manetdiff.layout.padding import PaddedFeatures, pad

__all__ = [
    "FEATURES_VERSION",
    "NODE_FEATURES",
    "PAIR_FEATURES",
    "Layout",
    "LayoutFeatures",
    "PaddedFeatures",
    "pad",
]
