"""Few rounds instead of many: what may go at once goes at once, and what may come up together does."""

from __future__ import annotations

from collections.abc import Sequence

from manetdiff.flights.between import Between
from manetdiff.flights.steps import Phase, State, Step, flags


def merged_phases(between: Between, steps: Sequence[Step]) -> list[Phase]:
    """All that is done from the first state to the last, in as few phases as may be.

    On no way is the network in more parts than it would be if the steps were taken one by one.
    """
    opened = between.opened()
    phases = [] if opened is None else [opened]
    state = between.start
    rest = _apart(steps)
    while rest:
        if rest[0].node is None:
            until = next((place for place, step in enumerate(rest) if step.node is not None), len(rest))
            batch, left = _first_batch(between, state, rest[:until])
            rest[:until] = left
        else:
            batch = rest.pop(0)
        phases += between.phases(state, batch)
        state = phases[-1].state
    ended = between.ended(state)
    phases += [] if ended is None else [ended]
    return _drops_joined(_adds_joined(between, phases))


def _apart(steps: Sequence[Step]) -> list[Step]:
    """The same steps, with what a turn drops before it as a step of its own."""
    apart = []
    for drops, node in steps:
        apart += [Step(drops)] if drops else []
        apart += [] if node is None else [Step((), node)]
    return apart


def _first_batch(between: Between, state: State, steps: Sequence[Step]) -> tuple[Step, list[Step]]:
    """As many drops of a row of them as may go together, and the steps that are left.

    Drops that are passed over come later, if all is as whole then as it would have been; else none is passed over.
    """
    alone = _parts_on_the_way(between, state, steps)
    batch, bearable = Step(()), state.parts
    left: list[int] = []
    in_a_row = batch, 0
    for place, step in enumerate(steps):
        wider, parts = Step((*batch.drops, *step.drops)), max(bearable, alone[place])
        if between.phases(state, wider)[0].state.parts > parts:
            left.append(place)
            continue
        batch, bearable = wider, parts
        if not left:
            in_a_row = batch, place + 1
    passed_over = [steps[place] for place in left]
    later = _parts_on_the_way(between, between.phases(state, batch)[-1].state, passed_over)
    if all(parts <= alone[place] for parts, place in zip(later, left, strict=True)):
        return batch, passed_over
    return in_a_row[0], list(steps[in_a_row[1] :])


def _parts_on_the_way(between: Between, state: State, steps: Sequence[Step]) -> list[int]:
    """Of each step the most parts that the network is in while it is taken."""
    found = []
    for step in steps:
        phases = between.phases(state, step)
        found.append(max(phase.state.parts for phase in phases))
        state = phases[-1].state
    return found


def _adds_joined(between: Between, phases: Sequence[Phase]) -> list[Phase]:
    """Links come up together with the next ones that do, if the network is as whole without them until then."""
    joined = list(phases)
    place = 0
    while place < len(joined):
        later = next((k for k in range(place + 1, len(joined)) if joined[k].kind == "add"), None)
        if joined[place].kind == "add" and later is not None:
            before = between.first if place == 0 else joined[place - 1].state
            added = flags(joined[place].state.up) & ~flags(before.up)
            meanwhile = joined[place + 1 : later]
            thinner = [phase._replace(state=between.without(phase.state, added)) for phase in meanwhile]
            if all(one.state.parts <= phase.state.parts for one, phase in zip(thinner, meanwhile, strict=True)):
                joined[place:later] = thinner
        place += 1
    return joined


def _drops_joined(phases: Sequence[Phase]) -> list[Phase]:
    """Drops in a row are one: the state after the last is the worst of them."""
    joined: list[Phase] = []
    for phase in phases:
        if joined and joined[-1].kind == phase.kind == "drop":
            joined.pop()
        joined.append(phase)
    return joined
