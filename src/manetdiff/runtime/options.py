"""What can be asked of generate and update beside the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from manetdiff.checks import check_above_0, check_seed
from manetdiff.errors import ModelError
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

    def __post_init__(self) -> None:
        check_seed(ModelError, self.seed)
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
