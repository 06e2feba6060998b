"""The search for steps on which the network is never in more parts than it may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from manetdiff.flights.between import Between
from manetdiff.flights.steps import Goal, State, Step


class Taken(NamedTuple):
    """A step, the state after it, and the most parts that the network is in on the way."""

    step: Step
    state: State
    worst: int


class StepSearch:
    """Depth-first, the most promising steps first; it remembers which states lead nowhere.

    - most: parts that the network may be in. limit: states to look at before it gives up; None: it never does, and
      then leaves out most choices of what to drop before a turn.
    - furthest: of the states where it had to choose, the one with fewest goals left.
    """

    def __init__(self, between: Between, most: int, limit: int | None) -> None:
        self._between, self._most, self._limit = between, most, limit
        self._looked_at = 0
        self._fewest = between.fewest_parts
        self.furthest: State | None = None

    @property
    def gave_up(self) -> bool:
        """Whether the limit was reached."""
        return self._limit is not None and self._looked_at >= self._limit

    def from_state(self, state: State) -> list[Step] | None:
        """Steps until all new links are up; None where there are none, or none were found within the limit.

        - state: in which nothing more can be added.
        """
        trail: list[Step] = []
        branches: list[tuple[State, int, Iterator[Taken]]] = []
        failed: set[tuple[bytes, bytes]] = set()
        while not self.gave_up:
            state = self._take_what_is_free(state, trail)
            if self._between.done(state):
                return trail
            if (state.up, state.final) not in failed:
                self._note(state)
                branches.append((state, len(trail), self._choices(state)))
            while branches:
                at, length, choices = branches[-1]
                taken = next(choices, None)
                if taken is not None:
                    break
                failed.add((at.up, at.final))
                branches.pop()
            else:
                return None
            del trail[length:]
            trail.append(taken.step)
            state = taken.state
        return None

    def _take_what_is_free(self, state: State, trail: list[Step]) -> State:
        """The state after all steps that cost nothing, neither now nor later, which are put onto the trail.

        What a step takes away is never missed if its nodes stay joined by links that last to the end: whatever order
        works without the step works after it.
        """
        # In more parts than allowed, the first thing to do is to make it whole again.
        going_on = state.parts <= self._between.most
        while going_on and not self.gave_up:
            going_on = False
            label = self._between.lasting_places(state)
            for goal in self._between.goals_left(state):
                for taken in self._ways_to(state, goal, min(self._most, state.parts), label):
                    trail.append(taken.step)
                    state, going_on = taken.state, True
                    label = self._between.lasting_places(state)
                    break
        return state

    def _choices(self, state: State) -> Iterator[Taken]:
        """Steps to try, the best first: after which the network is most whole, then on the way, then the smallest."""
        found = []
        for goal in self._between.goals_left(state):
            for taken in self._ways_to(state, goal, self._most):
                if taken.worst <= self._fewest:
                    yield taken  # no step is better
                else:
                    found.append(taken)
        found.sort(key=lambda taken: (taken.state.parts, taken.worst, len(taken.step.drops)))
        label = self._between.lasting_places(state)
        for taken in found:
            yield taken
            if self._between.replaces(label, self._between.effect(state, taken.step)):
                return  # if this one leads nowhere, none does

    def _ways_to(self, state: State, goal: Goal, most: int, label: list[int] | None = None) -> Iterator[Taken]:
        """Steps to a goal on which the network is never in more parts than that.

        - label: of the lasting places, to have only those steps that take away nothing that will be missed.
        """
        for step in self._between.steps_to(state, goal, every=self._limit is not None):
            if self.gave_up:
                return
            self._looked_at += 1
            effect = self._between.effect(state, step)
            if label is not None and not self._between.replaces(label, effect):
                continue
            parts = [self._between.parts(up) for _, up in effect.changes]
            worst = max(parts)
            if worst <= most:
                yield Taken(step, State(effect.changes[-1][1], effect.final, parts[-1]), worst)

    def _note(self, state: State) -> None:
        left = self._between.goals_left
        if self.furthest is None or len(left(state)) < len(left(self.furthest)):
            self.furthest = state
