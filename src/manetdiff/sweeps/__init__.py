"""Sweeps: a grid of scenarios, sizes, radios and ways of making topologies, scored row by row into one table."""

from manetdiff.sweeps.grid import Grid, SweptRadio, Way
from manetdiff.sweeps.run import Failure, Progress, Swept, sweep

__all__ = ["Failure", "Grid", "Progress", "Swept", "SweptRadio", "Way", "sweep"]
