"""Which radio a layout is solved for: one for all, some in turn by their names, or one drawn for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from manetdiff.checks import check_above_0
from manetdiff.errors import DataError, RadioError
from manetdiff.messages import brief
from manetdiff.radio import Radio

RANDOM: Literal["random"] = "random"


@dataclass(frozen=True)
class FieldedRadio:
    """A radio and how far apart those who use it are.

    - spacing: metres from a node to its nearest neighbour, as the median over a fleet.
    """

    radio: Radio
    spacing: float

    def __post_init__(self) -> None:
        check_above_0(DataError, "radio: spacing", self.spacing)


NamedRadios = Mapping[str, FieldedRadio]
Radios = Radio | NamedRadios | Literal["random"]


def check_radios(radios: object) -> None:
    """Raise unless it is one of the three."""
    named = isinstance(radios, Mapping) and all(isinstance(one, FieldedRadio) for one in radios.values())
    if not (isinstance(radios, Radio) or radios == RANDOM or (named and radios)):
        raise DataError(f"radio: give a Radio, some by their names, or {RANDOM!r}, not {brief(radios)}")


def radios_to_json(radios: Radios) -> Any:
    """JSON-ready."""
    if isinstance(radios, Radio):
        return radios.to_dict()
    if isinstance(radios, str):
        return radios
    return {name: {"spacing": one.spacing, "radio": one.radio.to_dict()} for name, one in radios.items()}


def radios_from_json(values: Any) -> Radios:
    """The inverse of `radios_to_json`."""
    if values == RANDOM:
        return RANDOM
    # No parameter of a radio is itself a set of named values.
    if isinstance(values, Mapping) and values and all(isinstance(one, Mapping) for one in values.values()):
        return {name: _fielded(name, one) for name, one in values.items()}
    return Radio.from_dict(values)


def _fielded(name: str, values: Mapping[str, Any]) -> FieldedRadio:
    if set(values) != {"spacing", "radio"}:
        raise RadioError(f"radio {brief(name)}: must have a spacing and a radio, and nothing else")
    return FieldedRadio(Radio.from_dict(values["radio"]), values["spacing"])
