"""Proofs that no order keeps the network whole: a few of the changes would break it even if all others were done."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from manetdiff.flights.between import Between
from manetdiff.flights.step_search import StepSearch
from manetdiff.flights.steps import Goal, State, flags
from manetdiff.topology import component_labels, count_components

# How far from a goal, in links and what is in their way, changes are looked at; and for how many states.
FARTHEST, MOST_STATES = 3, 1_000


def is_impossible(between: Between, goals: Iterable[Goal]) -> bool:
    """Whether it is proven that no order exists, because some changes near one of the goals have none by themselves.

    False says nothing.
    """
    goals = list(goals)
    for distance in range(FARTHEST + 1):
        for goal in goals:
            near = _near(between, goal, distance)
            search = StepSearch(near, near.most, MOST_STATES)
            if search.from_state(near.start) is None and not search.gave_up:
                return True
    return False


def _near(between: Between, goal: Goal, distance: int) -> Between:
    """The changes near a goal, as if all others cost nothing: every state is then at least as whole as it can be.

    All other links, old and new, are up at all times, and all other nodes have turned. On the antennas of nodes that
    have yet to do so in truth, nothing is in the way: when they turn, they clear an antenna and use it in one go.
    """
    up, final = flags(between.first.up), flags(between.first.final)
    nodes = set() if goal.node is None else {goal.node}
    links = {goal.link} if goal.node is None else set(between.links_of[goal.node])
    for step in range(distance + 1):
        if step > 0:
            nodes |= {node for k in links for node in between.links[k].tolist() if not final[node]}
            links |= {k for node in nodes for k in between.links_of[node]}
        links |= {other for k in links for other in between.sharing(k)}
    chosen, others = np.array(sorted(links), dtype=np.int64), np.ones(len(up), dtype=np.bool_)
    others[chosen] = False
    # What the others join is one node, with a parity that is final.
    labels, node_of = np.unique(component_labels(between.links[others], between.n), return_inverse=True)
    turned = np.ones(len(labels), dtype=np.bool_)
    turned[node_of[list(nodes)]] = False
    ends = between.links[chosen]
    cleared = ~final[ends] & ~np.isin(ends, list(nodes))
    antennas = np.where(cleared, -1, between.antennas[chosen])
    parts = count_components(node_of[ends[up[chosen]]], len(labels))
    first = State(up[chosen].tobytes(), turned.tobytes(), parts)
    return Between(node_of[ends], antennas, between.is_new[chosen], first, between.most)
