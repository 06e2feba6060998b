"""One fleet under one radio, and what follows from the two: the thing that travels through the package."""

from manetdiff.layout.layout import Layout

__all__ = ["Layout"]
