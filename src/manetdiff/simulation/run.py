"""The loop: a topology at the first moment, an update at every later one, and what each was worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model
from manetdiff.runtime.options import Asked
from manetdiff.runtime.partial import Mode
from manetdiff.topology import Topology, metrics


@dataclass(frozen=True)
class Moment:
    """What was there at a time (seconds).

    - metrics: of the topology, by their names. continuity: with the topology before, over the nodes that both have;
      None at the first moment. added, dropped: links since then. milliseconds: what making it took. mode: how it was
      made.
    - held: T of the first topology, had it never been updated; None once the fleet is another.
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
    held: float | None
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
    """
    physics = radio or model.radio
    first: Topology | None = None
    before: Topology | None = None
    refreshed = 0.0
    for time, fleet in moments:
        if before is None:
            made = first = model.generate(fleet, radio=physics, seed=seed, preset=preset)
            refreshed = time
        else:
            due = refresh is not None and time - refreshed >= refresh
            chosen: Mode = "anew" if due else mode
            refreshed = time if chosen == "anew" else refreshed
            asked: Asked = {"radio": physics, "seed": seed}
            asked |= {"preset": preset} if chosen == "anew" else {"polish": polish}
            made = model.update(before, fleet, mode=chosen, **asked)
        assert first is not None
        links = set(link_names(made))
        links_before = set() if before is None else set(link_names(before))
        yield Moment(
            time,
            fleet,
            made,
            metrics(made),
            None if before is None else made.report.continuity,
            len(links - links_before),
            len(links_before - links),
            1e3 * made.report.seconds,
            "generated" if before is None else str(made.report.mode),
            metrics(first, fleet)["throughput"] if first.on().fleet.ids == fleet.ids else None,
            metrics(model.generate(fleet, radio=physics, seed=seed, preset=preset))["throughput"] if compare else None,
        )
        before = made


def link_names(topology: Topology) -> list[tuple[str, str]]:
    """The links, in their order, by the ids at their ends, which stay the same while nodes join and leave."""
    ids = topology.on().fleet.ids
    return [(min(ids[i], ids[j]), max(ids[i], ids[j])) for i, j in topology.links.tolist()]
