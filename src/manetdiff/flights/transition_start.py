"""What a transition starts from and what it is to reach, both on the nodes that are there now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.checks import some_of
from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.topology import (
    Topology,
    antenna_loads,
    carried_over,
    check_related,
    component_labels,
    out_of_range,
    places_in,
    same_parity,
    warn_of_lost_heights,
)

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Ids = tuple[str, str]


class Start(NamedTuple):
    """The two ends of a transition.

    - old, new: on the present layout. Nodes that have joined have no old links, and their final parity already.
    - must_go: (m,) old links that break a rule there, and go before anything else.
    - gone: ids of the old links whose nodes have left.
    """

    old: Topology
    new: Topology
    must_go: BoolArray
    gone: tuple[Ids, ...]


def start_of(old: Topology, new: Topology, fleet: Fleet | Layout | None, align: bool) -> Start:
    """Match the nodes and say what is to be reached; align: by the parity that needs fewer turns."""
    asked = _present(new, fleet)
    layout = asked.on()
    check_rules(asked)
    carried, known, gone = _carried(old, layout)
    parity = _aligned(asked, carried.parity, known) if align else asked.parity
    before = Topology(carried.links, np.where(known, carried.parity, parity), old.report, layout)
    reached = Topology(asked.links, parity, asked.report, layout)
    return Start(before, reached, _must_go(before, reached), gone)


def check_rules(new: Topology) -> None:
    """Raise where a topology breaks a rule on its layout: nothing that leads there could keep it."""
    layout = new.on()
    ids = layout.fleet.ids
    for i, j in new.links[same_parity(new)]:
        raise TopologyError(f"the new topology links {ids[i]!r} and {ids[j]!r}, which have one parity")
    for i, j in new.links[out_of_range(new, layout)]:
        raise TopologyError(
            f"the new topology links {ids[i]!r} and {ids[j]!r}, which is not possible where they are now"
        )
    loads = antenna_loads(new, layout)
    for node, sector in np.argwhere(loads > 1):
        raise TopologyError(
            f"the new topology has {loads[node, sector]} links on antenna {sector} of {ids[node]!r} where the nodes "
            "are now: an antenna holds one"
        )


def _present(new: Topology, fleet: Fleet | Layout | None) -> Topology:
    """The new topology on the present layout; nodes are matched by id where it knows its own fleet."""
    own = new.layout
    if own is None or fleet is None:
        return Topology(new.links, new.parity, new.report, new.on(fleet))
    layout = fleet if isinstance(fleet, Layout) else Layout(fleet, own.radio)
    if layout.fleet.ids == own.fleet.ids:
        return Topology(new.links, new.parity, new.report, new.on(fleet))
    strangers = sorted(set(layout.fleet.ids) ^ set(own.fleet.ids))
    if strangers:
        raise TopologyError(
            f"the new topology and the fleet are of other nodes: only one of them has {some_of(strangers)}"
        )
    turned = carried_over(new, layout)
    return Topology(turned.links, turned.parity, new.report, layout)


def _carried(old: Topology, layout: Layout) -> tuple[Topology, BoolArray, tuple[Ids, ...]]:
    """The old topology on the present layout; (n,) which nodes it knows; ids of the links of nodes that have left."""
    if old.layout is None:
        if len(old) != len(layout):
            raise TopologyError(
                f"the old topology has {len(old)} nodes, the new one {len(layout)}: nodes can be matched by id only "
                "where the old one knows its fleet"
            )
        return Topology(old.links, old.parity, layout=layout), np.ones(len(old), dtype=np.bool_), ()
    before = old.layout.fleet
    check_related(before, layout.fleet)
    warn_of_lost_heights(before, layout.fleet, stacklevel=4)
    left = places_in(layout.fleet, before) < 0
    gone = tuple((before.ids[i], before.ids[j]) for i, j in old.links[left[old.links].any(axis=1)])
    return carried_over(old, layout), places_in(before, layout.fleet) >= 0, gone


def _aligned(new: Topology, was: IntArray, known: BoolArray) -> IntArray:
    """(n,) the parity of a topology, turned as a whole in those of its parts where fewer nodes then have to turn."""
    label = component_labels(new.links, len(new))
    differs = known & (new.parity != was)
    turns = np.bincount(label, weights=differs, minlength=len(new))
    nodes = np.bincount(label, weights=known, minlength=len(new))
    return np.asarray(new.parity ^ (2 * turns > nodes)[label])


def _must_go(old: Topology, new: Topology) -> BoolArray:
    """(m,) old links inside one parity or out of range, and those that share an antenna with one that stays.

    Of those that share one, links of the new topology stay, then those that join parts, then the shortest.
    """
    layout, links, n = old.on(), old.links, len(old)
    values = layout.pairs(links)
    antennas = links * layout.radio.sectors + values.sector
    sound = ~same_parity(old) & ~out_of_range(old, layout)
    loads = np.bincount(antennas[sound].ravel(), minlength=n * layout.radio.sectors)
    in_new = np.isin(links[:, 0] * n + links[:, 1], new.links[:, 0] * n + new.links[:, 1])
    stays = sound & (in_new | (loads[antennas] == 1).all(axis=1))
    taken = set(antennas[stays].ravel().tolist())
    contested = np.flatnonzero(sound & ~stays)
    nearest_first = contested[np.argsort(values.distance[contested, 0], kind="stable")]
    for joining in (True, False):
        for link in nearest_first:
            if stays[link] or not taken.isdisjoint(antennas[link].tolist()):
                continue
            label = component_labels(links[stays], n)
            if not joining or label[links[link, 0]] != label[links[link, 1]]:
                stays[link] = True
                taken.update(antennas[link].tolist())
    return np.asarray(~stays)
