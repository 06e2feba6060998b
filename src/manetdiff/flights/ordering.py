"""The order of steps: one in which the network stays whole wherever there is one, else one that breaks it little."""

from __future__ import annotations

from typing import NamedTuple

from manetdiff.flights.between import Between
from manetdiff.flights.impossible import is_impossible
from manetdiff.flights.step_search import StepSearch
from manetdiff.flights.steps import Step

# States that a search looks at before it is asked whether there is anything to find, and before it gives up: so many,
# and so many more for each link that is to come up and each node that is to turn.
FEW_STATES, FEW_FOR_EACH = 2_000, 60
MOST_STATES, MOST_FOR_EACH = 20_000, 200


class Order(NamedTuple):
    """Steps to the end, and whether it is proven that they keep the network whole or that none do."""

    steps: list[Step]
    proven: bool


def find_order(between: Between) -> Order:
    """Steps until all new links are up."""
    impossible = False
    goals, start = len(between.goals), between.start
    for limit in (FEW_STATES + FEW_FOR_EACH * goals, MOST_STATES + MOST_FOR_EACH * goals):
        search = StepSearch(between, between.most, limit)
        steps = search.from_state(start)
        if steps is not None:
            return Order(steps, True)
        assert search.furthest is not None
        impossible = not search.gave_up or is_impossible(between, between.goals_left(search.furthest))
        if impossible:
            break
    return Order(_breaking_little(between), impossible)


def _breaking_little(between: Between) -> list[Step]:
    """Steps after each of which, and what can be added then, the network is as whole as a step can make it."""
    # One part more than allowed is often enough. If it is not, anything goes.
    limit = FEW_STATES + FEW_FOR_EACH * len(between.goals)
    steps = StepSearch(between, between.most + 1, limit).from_state(between.start)
    if steps is None:
        steps = StepSearch(between, between.n, None).from_state(between.start)
    assert steps is not None
    return steps
