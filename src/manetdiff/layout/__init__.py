"""One fleet under one radio, and what follows from the two: the thing that travels through the package."""

from manetdiff.layout.arcs import ARC_FEATURES, ARCS_VERSION, HARMONICS, Arcs
from manetdiff.layout.features import FEATURES_VERSION, NODE_FEATURES, PAIR_FEATURES, LayoutFeatures
from manetdiff.layout.layout import Layout
from manetdiff.layout.padding import PaddedFeatures, pad

__all__ = [
    "ARCS_VERSION",
    "ARC_FEATURES",
    "FEATURES_VERSION",
    "HARMONICS",
    "NODE_FEATURES",
    "PAIR_FEATURES",
    "Arcs",
    "Layout",
    "LayoutFeatures",
    "PaddedFeatures",
    "pad",
]
