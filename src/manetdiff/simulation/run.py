"""The loop: a topology at the first moment, an update at every later one, and what each was worth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model
from manetdiff.runtime.options import Asked
from manetdiff.runtime.partial import Mode
from manetdiff.topology import Topology, carried_over, continuity, metrics, unwarned_of_parts


@dataclass(frozen=True)
class Moment:
    """What was there at a time (seconds).

    - metrics: of the topology, by their names. continuity: with the topology before, whose links with nodes that left
      count as dropped; None at the first moment. added, dropped: links since then. milliseconds: what making it took.
      mode: how it was made.
    - held: T of the first topology, had it never been updated: links of nodes that left are gone while they are away,
      nodes that joined have none.
    - anew: T of a topology made without regard to the one before, where that was asked for.
    """

    time: float
    fleet: Fleet
    topology: Topology
    metrics: dict[str, float]
    continuity: float | None
    added: int
    dropped: int
    milliseconds: float
    mode: str
    held: float
    anew: float | None = None


def simulate(
    moments: Iterable[tuple[float, Fleet]],
    model: Model,
    *,
    radio: Radio | None = None,
    preset: str | None = None,
    mode: Mode = "auto",
    polish: int | None = None,
    refresh: float | None = None,
    seed: int = 0,
    compare: bool = False,
) -> Iterator[Moment]:
    """Each moment as it comes. moments: seconds and fleet, in the order of time; nodes may join and leave.

    - preset: of the first topology, and of those that are made anew. mode: of the updates, as for Model.update.
    - polish: moves of the local search after each update, as for Model.update. refresh: after so many seconds a
      topology is made anew: updates keep links that a fresh topology would not have, and what that costs adds up.
    - compare: whether a topology is also made anew at every moment, to see what updating costs.

    The first network in parts gives a DisconnectedWarning; of later ones the reports say it. Where no node is left of
    the moment before, a topology is generated, as at the first moment.
    """
    physics = radio or model.radio
    first: Topology | None = None
    before: Topology | None = None
    refreshed = 0.0
    told = False
    for time, fleet in moments:
        fresh = before is None or set(fleet.ids).isdisjoint(before.on().fleet.ids)
        chosen: Mode = "anew" if refresh is not None and time - refreshed >= refresh else mode
        anew: Asked = {"radio": physics, "seed": seed, "preset": preset}
        with unwarned_of_parts():  # one for every moment would be too many
            if before is None or fresh:
                made = model.generate(fleet, **anew)
            elif chosen == "anew":
                made = model.update(before, fleet, mode=chosen, **anew)
            else:
                made = model.update(before, fleet, mode=chosen, radio=physics, seed=seed, polish=polish)
            beside = metrics(model.generate(fleet, **anew))["throughput"] if compare else None
        first = first or made
        refreshed = time if fresh or chosen == "anew" else refreshed
        if not told and made.report.parts is not None:
            told = True
            warnings.warn(f"at {time:g} s the network is in {made.report.parts}", DisconnectedWarning, stacklevel=2)
        links = set(link_names(made))
        links_before = set() if before is None else set(link_names(before))
        yield Moment(
            time,
            fleet,
            made,
            metrics(made),
            None if before is None else continuity(before, made),
            len(links - links_before),
            len(links_before - links),
            1e3 * made.report.seconds,
            "generated" if fresh else str(made.report.mode),
            metrics(carried_over(first, made.on()))["throughput"],
            beside,
        )
        before = made


def link_names(topology: Topology) -> list[tuple[str, str]]:
    """The links, in their order, by the ids at their ends, which stay the same while nodes join and leave."""
    ids = topology.on().fleet.ids
    return [(min(ids[i], ids[j]), max(ids[i], ids[j])) for i, j in topology.links.tolist()]
