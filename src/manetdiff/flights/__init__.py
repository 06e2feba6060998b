"""Fleets over time: what gets through while links come and go, and how to get from one topology to the next."""

from manetdiff.flights.changes import Change
from manetdiff.flights.delivery import delivered
from manetdiff.flights.explanation import Explanation, explain
from manetdiff.flights.rounds import Round, Transition
from manetdiff.flights.transitions import transition

__all__ = ["Change", "Explanation", "Round", "Transition", "delivered", "explain", "transition"]
