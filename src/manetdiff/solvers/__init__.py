"""Solvers: exact enumeration, the reference search, the baselines, correction and polish."""

from manetdiff.solvers.correction import correct
from manetdiff.solvers.greedy import greedy
from manetdiff.solvers.polish import polish
from manetdiff.solvers.solve import METHODS, solve

__all__ = ["METHODS", "correct", "greedy", "polish", "solve"]
