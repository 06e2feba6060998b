"""From one version of a network to the next: the update policy, without any clock, network or database."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manetdiff.errors import PinError
from manetdiff.fleet import Fleet, predicted, same_places
from manetdiff.flights.delivery import link_names
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model
from manetdiff.runtime.options import Asked
from manetdiff.server.messages_in import Pins, Settings
from manetdiff.server.roster import Heard, fleet_of
from manetdiff.server.versions import Change, Version
from manetdiff.topology import Topology, carried_over, continuity, count_components, metrics, out_of_range

# Seconds: reports that are closer together, or farther apart, say nothing about where the fleet will be.
CLOSEST_S, FARTHEST_S = 1e-3, 600.0


@dataclass(frozen=True)
class Wanted:
    """How a network is to be kept."""

    radio: Radio
    settings: Settings
    pins: Pins


def next_version(
    model: Model,
    before: Version | None,
    seen: Sequence[Heard],
    clock: float,
    wanted: Wanted,
    number: int,
    stale: frozenset[str] = frozenset(),
    *,
    strict: bool = False,
) -> Version:
    """The version that comes of the one before and of where nodes were last heard. strict: as of `next_topology`."""
    fleet = fleet_of(seen, None if before is None else before.fleet.frame)
    topology, change = next_topology(model, before, fleet, clock, wanted, strict=strict)
    return Version(
        number=number,
        time=clock,
        at=time.time(),
        topology=topology,
        heard=tuple(one.time for one in seen),
        stale=stale,
        metrics=metrics(topology),
        change=change,
    )


def next_topology(
    model: Model, before: Version | None, fleet: Fleet, at_time: float, wanted: Wanted, *, strict: bool = False
) -> tuple[Topology, Change]:
    """The topology of a fleet at a time (seconds), and how it came of the version before.

    - strict: raise a PinError where pins cannot be kept to. Otherwise they are left aside, which the change says: a
      network in flight must not stop because a pinned link is out of range.
    """
    began = time.perf_counter()
    unmet = None
    try:
        made, mode = _made(model, before, fleet, at_time, wanted, _named_pins(wanted.pins, fleet))
    except PinError as error:
        if strict:
            raise
        unmet = str(error)
        made, mode = _made(model, before, fleet, at_time, wanted, {})
    links = link_names(made)
    links_before = [] if before is None else link_names(before.topology)
    loyalty = made.report.loyalty
    return made, Change(
        mode=mode,
        milliseconds=1e3 * (time.perf_counter() - began),
        loyalty=None if math.isnan(loyalty) else loyalty,
        continuity=None if before is None else continuity(before.topology, made),
        added=tuple(sorted(set(links) - set(links_before))),
        dropped=tuple(sorted(set(links_before) - set(links))),
        turned=0 if before is None else _turned(before.topology, made),
        unmet=unmet,
    )


def _made(
    model: Model, before: Version | None, fleet: Fleet, at_time: float, wanted: Wanted, pins: Asked
) -> tuple[Topology, str]:
    """The topology and the mode that it was made in."""
    settings, radio = wanted.settings, wanted.radio
    asked: Asked = {"radio": radio, "seed": settings.seed, "uncertainty": settings.uncertainty, **pins}
    if before is None or set(before.fleet.ids).isdisjoint(fleet.ids):
        asked["preset"] = settings.preset
        return model.generate(fleet, **asked), "generated"
    elapsed = at_time - before.time
    ahead = _ahead(before.fleet, fleet, elapsed) if settings.ahead == "predicted" else []
    timed = settings.loyalty is None and settings.setup is not None and elapsed > 0
    asked["ahead"] = ahead
    made = model.update(
        before.topology,
        fleet,
        loyalty=settings.loyalty,
        setup=settings.setup if timed else None,
        elapsed=elapsed if timed else None,
        **asked,
    )
    layouts = [made.on(), *(Layout(one, radio) for one in ahead)]
    old = carried_over(before.topology, made.on())
    same_nodes = set(before.fleet.ids) == set(fleet.ids)
    may_hold = same_nodes and before.layout.radio == radio and _keeps_to(old, pins) and old != made
    if may_hold and _gains_too_little(old, made, layouts, settings.least_gain):
        return old, "held"
    return made, str(made.report.mode)


def _gains_too_little(old: Topology, made: Topology, layouts: Sequence[Layout], least_gain: float) -> bool:
    """Whether the old links keep the rules where the nodes are now, and the new ones gain too little over them."""
    if out_of_range(old, layouts[0]).any():
        return False
    now = metrics(old)
    in_parts = count_components(old.links, len(old)) > count_components(made.links, len(made))
    if now["parity"] < 1.0 or now["antenna_saturation"] > 0.0 or in_parts:
        return False
    gain = sum(metrics(made, one)["throughput"] - metrics(old, one)["throughput"] for one in layouts)
    return gain < least_gain * len(layouts) * now["throughput"]


def _ahead(before: Fleet, now: Fleet, elapsed: float) -> list[Fleet]:
    """Where the fleet will be after as long again, where that can be said."""
    if not CLOSEST_S <= elapsed <= FARTHEST_S or (before.ids == now.ids and same_places(before, now)):
        return []
    return [predicted(before, now, elapsed)]


def _named_pins(pins: Pins, fleet: Fleet) -> Asked:
    """The pins among the nodes that are there."""
    there = set(fleet.ids)
    index = {name: place for place, name in enumerate(fleet.ids)}  # by index: ids that are numbers mean ids
    keep = [(index[a], index[b]) for a, b in pins.keep if {a, b} <= there]
    avoid = [(index[a], index[b]) for a, b in pins.avoid if {a, b} <= there]
    silent = [index[name] for name in pins.silent if name in there]
    given: Asked = {}
    if keep:
        given["keep"] = keep
    if avoid:
        given["avoid"] = avoid
    if silent:
        given["silent"] = silent
    return given


def _keeps_to(topology: Topology, pins: Asked) -> bool:
    """Whether it has all links that must be there, and none that must not."""
    links = {(i, j) for i, j in topology.links.tolist()}
    kept = {tuple(sorted(pair)) for pair in pins.get("keep", ())}
    avoided = {tuple(sorted(pair)) for pair in pins.get("avoid", ())}
    linked = set(topology.links.ravel().tolist())
    return kept <= links and not avoided & links and linked.isdisjoint(pins.get("silent", ()))


def _turned(before: Topology, after: Topology) -> int:
    """Nodes whose parity is another than before; a flip of all of them is none."""
    old, new = before.on().fleet, after.on().fleet
    parity = dict(zip(old.ids, before.parity.tolist(), strict=True))
    differs = np.array(
        [parity[name] != now for name, now in zip(new.ids, after.parity.tolist(), strict=True) if name in parity],
        dtype=bool,
    )
    return int(min(differs.sum(), (~differs).sum()))
