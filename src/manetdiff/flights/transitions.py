"""From one topology to another in flight: in which order links are dropped and added, and nodes change their parity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_at_least_0, check_flag
from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.flights.between import Between
from manetdiff.flights.merging import merged_phases
from manetdiff.flights.ordering import find_order
from manetdiff.flights.rounds import Round, Transition
from manetdiff.flights.steps import Phase, flags
from manetdiff.flights.transition_start import Start, start_of
from manetdiff.layout import Layout
from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]
NO_LINKS: IntArray = np.empty((0, 2), dtype=np.int64)


def transition(
    old: Topology,
    new: Topology,
    fleet: Fleet | Layout | None = None,
    *,
    setup: float = 0.0,
    align: bool = True,
) -> Transition:
    """An order of drops and adds from one topology to another, in rounds, in which every state keeps the rules.

    In every state after the first round each antenna holds at most one link, and links join nodes of opposite parity;
    the network is in no more parts than it has to be wherever an order can do that. A node that changes its parity is a
    round of its own: its links go, it turns, and those of its new links that can be are added at once. Only links of
    the two topologies are used, and each is dropped at most once and added at most once.

    - fleet: where the nodes are now, which says which links share an antenna; by default the fleet of the new topology.
      Nodes are matched by id where both topologies know their fleets. Old links of nodes that have left are gone; nodes
      that have joined have no links yet, and the parity that they are to have.
    - setup: seconds that it takes to add links, or to turn a node, until the next round may begin.
    - align: turn the parity of whole parts of the new topology where fewer nodes then have to change theirs, which no
      link notices. What is reached is the transition's `new`.

    Old links that break a rule where the nodes are now go first: those out of range or inside one parity, and of those
    that share an antenna all but one, a link of the new topology where there is one. A new topology that breaks a rule
    is refused.
    """
    check_at_least_0(TopologyError, "setup", setup)
    check_flag(TopologyError, "align", align)
    start = start_of(old, new, fleet, align)
    between = Between.of(start)
    order = find_order(between)
    phases = merged_phases(between, order.steps)
    connected = all(phase.state.parts <= between.most for phase in phases)
    return Transition(
        old=start.old,
        new=start.new,
        rounds=(*_forced(start), *_rounds(between, phases)),
        gone=start.gone,
        connected=connected,
        proven=connected or order.proven,
        setup=float(setup),
    )


def _forced(start: Start) -> list[Round]:
    """The round in which goes what breaks a rule, where anything does."""
    return [Round("drop", start.old.links[start.must_go], NO_LINKS)] if start.must_go.any() else []


def _rounds(between: Between, phases: list[Phase]) -> list[Round]:
    rounds = []
    was = flags(between.first.up)
    for kind, node, state in phases:
        now = flags(state.up)
        rounds.append(Round(kind, between.links[was & ~now], between.links[now & ~was], node))
        was = now
    return rounds
