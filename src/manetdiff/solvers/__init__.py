"""Solvers: exact enumeration, the reference search, the baselines, correction and polish."""

from manetdiff.solvers.correction import correct
from manetdiff.solvers.greedy_construction import greedy
from manetdiff.solvers.local_search import polish
from manetdiff.solvers.methods import METHODS, solve

__all__ = ["METHODS", "correct", "greedy", "polish", "solve"]
