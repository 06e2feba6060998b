"""The loop: a topology at the first moment, an update at every later one, and what each was worth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from manetdiff.checks import check_choice
from manetdiff.errors import DisconnectedWarning, ModelError, ScenarioError
from manetdiff.fleet import Fleet, predicted
from manetdiff.flights.delivery import link_names
from manetdiff.flights.explanation import Explanation
from manetdiff.flights.explanation import explain as explain_change
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model
from manetdiff.runtime.options import Asked
from manetdiff.runtime.partial import Mode
from manetdiff.topology import Topology, carried_over, continuity, metrics, unwarned_of_parts

Ahead = Literal["none", "predicted", "known"]
AHEAD: tuple[Ahead, ...] = get_args(Ahead)


@dataclass(frozen=True)
class Moment:
    """What was there at a time (seconds).

    - metrics: of the topology, by their names. continuity: with the topology before, whose links with nodes that left
      count as dropped; None at the first moment. added, dropped: links since then. milliseconds: what making it took.
      mode: how it was made.
    - held: T of the first topology, had it never been updated: links of nodes that left are gone while they are away,
      nodes that joined have none.
    - anew: T of a topology made without regard to the one before, where that was asked for. why: links have changed,
      where that was asked for.
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
    why: Explanation | None = None


def simulate(
    moments: Iterable[tuple[float, Fleet]],
    model: Model,
    *,
    radio: Radio | None = None,
    preset: str | None = None,
    mode: Mode = "auto",
    polish: int | None = None,
    refresh: float | None = None,
    loyalty: float | None = None,
    setup: float | None = None,
    ahead: Ahead = "predicted",
    uncertainty: float = 0.0,
    seed: int = 0,
    compare: bool = False,
    explain: bool = False,
) -> Iterator[Moment]:
    """Each moment as it comes. moments: seconds and fleet, in the order of time; nodes may join and leave.

    - preset: of the first topology, and of those that are made anew. mode: of the updates, as for Model.update.
    - polish: moves of the local search after each update, as for Model.update. refresh: after so many seconds a
      topology is made anew.
    - loyalty, setup, uncertainty: as for Model.update; the time since the last update is that between moments.
    - ahead: what each topology is also judged by: 'predicted', where the fleet will be at the next moment if everybody
      goes on as since the last one; 'known', where it will be; 'none'.
    - compare: whether a topology is also made anew at every moment, to see what updating costs. explain: whether to say
      why links have changed.

    The first network in parts gives a DisconnectedWarning; of later ones the reports say it. Where no node is left of
    the moment before, a topology is generated, as at the first moment.
    """
    check_choice(ModelError, "ahead", ahead, AHEAD)
    physics = radio or model.radio
    first: Topology | None = None
    before: Topology | None = None
    then, refreshed = 0.0, 0.0
    told = False
    for time, fleet, following in _with_next(moments) if ahead == "known" else ((*one, None) for one in moments):
        elapsed = time - then
        if before is not None and elapsed <= 0:
            raise ScenarioError(f"the moments must come in the order of time: {time:g} s after {then:g} s")
        to_come = _to_come(ahead, before, fleet, elapsed, following)
        fresh = before is None or set(fleet.ids).isdisjoint(before.on().fleet.ids)
        chosen: Mode = "anew" if refresh is not None and time - refreshed >= refresh else mode
        anew: Asked = {"radio": physics, "seed": seed, "preset": preset, "uncertainty": uncertainty, "ahead": to_come}
        with unwarned_of_parts():  # one for every moment would be too many
            if before is None or fresh:
                made = model.generate(fleet, **anew)
            elif chosen == "anew":
                made = model.update(before, fleet, mode=chosen, **anew)
            else:
                made = model.update(
                    before,
                    fleet,
                    mode=chosen,
                    loyalty=loyalty,
                    setup=setup,
                    elapsed=elapsed,
                    ahead=to_come,
                    uncertainty=uncertainty,
                    radio=physics,
                    seed=seed,
                    polish=polish,
                )
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
            explain_change(before, made, ahead=to_come) if explain and before is not None and not fresh else None,
        )
        before, then = made, time


def _with_next(moments: Iterable[tuple[float, Fleet]]) -> Iterator[tuple[float, Fleet, Fleet | None]]:
    """Each moment with the fleet of the one after it."""
    last: tuple[float, Fleet] | None = None
    for time, fleet in moments:
        if last is not None:
            yield *last, fleet
        last = time, fleet
    if last is not None:
        yield *last, None


def _to_come(
    ahead: Ahead, before: Topology | None, fleet: Fleet, elapsed: float, following: Fleet | None
) -> list[Fleet]:
    """The fleet at the next moment: as it will be, or as far ahead as the last one lies back."""
    if ahead == "known" and following is not None and not set(following.ids).isdisjoint(fleet.ids):
        return [following]
    if ahead == "predicted" and before is not None and not set(before.on().fleet.ids).isdisjoint(fleet.ids):
        return [predicted(before.on().fleet, fleet, elapsed)]
    return []
