"""A fleet through time: topologies generated, updated as it moves, and what became of them."""

from manetdiff.simulation.run import Moment, simulate

__all__ = ["Moment", "simulate"]
