"""What can be asked of generate and update beside the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from manetdiff.checks import check_above_0, check_at_least_0, check_seed
from manetdiff.errors import ModelError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.pins import Node, Pair, Pins


class Asked(TypedDict, total=False):
    """The same as keyword arguments; what is left out has the default of `Options`."""

    radio: Radio | None
    seed: int
    preset: str | None
    budget_ms: float | None
    steps: int | None
    samples: int | None
    correct: bool | None
    polish: bool | int | None
    keep: Sequence[Pair]
    avoid: Sequence[Pair]
    silent: Sequence[Node]
    ahead: Sequence[Fleet | Layout]
    uncertainty: float


@dataclass(frozen=True)
class Options:
    """See `manetdiff.runtime.model.Model.generate`."""

    radio: Radio | None = None
    seed: int = 0
    preset: str | None = None
    budget_ms: float | None = None
    steps: int | None = None
    samples: int | None = None
    correct: bool | None = None
    polish: bool | int | None = None
    keep: Sequence[Pair] = ()
    avoid: Sequence[Pair] = ()
    silent: Sequence[Node] = ()
    ahead: Sequence[Fleet | Layout] = ()
    uncertainty: float = 0.0

    def __post_init__(self) -> None:
        check_seed(ModelError, self.seed)
        check_at_least_0(ModelError, "uncertainty", self.uncertainty)
        if isinstance(self.ahead, Fleet | Layout | str) or not isinstance(self.ahead, Sequence):
            raise ModelError(f"ahead must be a list of fleets to come, not {type(self.ahead).__name__}")
        if self.moments and self.budget_ms is not None:
            raise ModelError("budget_ms: no time is promised for ahead or uncertainty; give a preset instead")
        if self.moments and self.correct is False:
            raise ModelError("ahead and uncertainty have a say in correction and search: leave out correct=False")
        if self.radio is not None and not isinstance(self.radio, Radio):
            raise ModelError(f"radio must be a Radio, not {self.radio!r}")
        if self.preset is not None and not isinstance(self.preset, str):
            raise ModelError(f"preset must be a name, not {self.preset!r}")
        if self.budget_ms is not None:
            for name in ("preset", "steps", "samples", "correct", "polish"):
                if getattr(self, name) is not None:
                    raise ModelError(f"budget_ms says how much is done: give it or {name}, not both")
            check_above_0(ModelError, "budget_ms", self.budget_ms)

    @property
    def pins(self) -> Pins:
        """Links that must and must not be."""
        return Pins(self.keep, self.avoid, self.silent)

    @property
    def moments(self) -> int:
        """That a search looks ahead to: fleets to come, and two layouts for uncertain places."""
        return len(self.ahead) + (2 if self.uncertainty else 0)
