"""Radio files: a JSON object of the parameters of `manetdiff.Radio`; those left out keep their defaults.

Or `{"link_budget": {"frequency": 2.4e9, "bandwidth": 10e6, "power": 5, "gain": 15, "noise_figure": 4}}`: the arguments
of `manetdiff.Radio.from_link_budget`, for real rates.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from manetdiff.errors import FormatError
from manetdiff.formats.files import PathLike, read_source
from manetdiff.formats.record import naming, parse_object
from manetdiff.radio import Radio

LINK_BUDGET = "link_budget"


def read_radio(path: PathLike) -> Radio:
    """The radio in a JSON file; `-` reads standard input."""
    source = read_source(path)
    return radio_in(source.name, parse_object(source.name, source.content))


def radio_in(file: str, values: dict[str, Any]) -> Radio:
    """The radio of such an object. file: what messages call the place that it comes from."""
    with naming(file):
        return _from_link_budget(file, values) if LINK_BUDGET in values else Radio.from_dict(values)


def _from_link_budget(file: str, values: dict[str, Any]) -> Radio:
    budget = values[LINK_BUDGET]
    if len(values) > 1 or not isinstance(budget, dict):
        raise FormatError(f"{file}: {LINK_BUDGET!r} must be an object {{…}} and stand alone")
    known = signature(Radio.from_link_budget).parameters
    needed = [name for name, one in known.items() if one.default is one.empty]
    for name in budget:
        if name not in known:
            raise FormatError(f"{file}: {LINK_BUDGET}: unknown field {name!r}; known are {', '.join(known)}")
    for name in needed:
        if name not in budget:
            raise FormatError(f"{file}: {LINK_BUDGET}: field {name!r} is missing; needed are {', '.join(needed)}")
    try:
        return Radio.from_link_budget(**budget)
    except TypeError:
        raise FormatError(f"{file}: {LINK_BUDGET}: a field is not a number") from None
