"""One node or link of a file: its fields, read strictly, with errors that name the file, the node and the field."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from manetdiff.errors import FleetError, FormatError, RadioError, TopologyError
from manetdiff.json_settings import parsed_json

LONGEST_SHOWN = 40


@dataclass(frozen=True)
class Record:
    """Fields of one thing in a file.

    - what: how messages call it, such as `node 'A7'`. spelt: what the file calls a field, where that is not our name.
    """

    file: str
    what: str
    values: Mapping[str, object]
    spelt: Mapping[str, str] = field(default_factory=dict)

    def error(self, field: str, problem: str) -> FormatError:
        """To be raised: what is wrong with the field."""
        return FormatError(f"{self.file}: {self.what}: field {self.spelt.get(field, field)!r} {problem}")

    def value(self, field: str) -> object:
        """Whatever the field holds; it must be there."""
        if field not in self.values:
            raise self.error(field, "is missing")
        return self.values[field]

    def number(self, field: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number within the bounds."""
        value = self.value(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(field, f"is not a number ({shown(value)})")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error(field, f"is not a finite number ({shown(value)})")
        if not low <= number <= high:
            raise self.error(field, f"is outside {low:g} … {high:g} ({number:g})")
        return number

    def degrees(self, latitude: str = "lat", longitude: str = "lon") -> tuple[float, float]:
        """Latitude and longitude, which stand in the two fields."""
        return self.number(latitude, -90, 90), self.number(longitude, -180, 360)

    def bit(self, field: str) -> int:
        """0 or 1."""
        value = self.value(field)
        if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
            raise self.error(field, f"must be 0 or 1, not {shown(value)}")
        return value

    def name(self, field: str) -> str:
        """A node's id: text that is not empty, or a whole number, which is taken as text."""
        value = self.value(field)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.error(field, f"must be text, not {shown(value)}")
        if value == "":
            raise self.error(field, "is empty")
        return str(value)

    def part(self, field: str) -> Record:
        """The object inside this field, under this record's name."""
        value = self.value(field)
        if not isinstance(value, dict):
            raise self.error(field, f"must be an object {{…}}, not {shown(value)}")
        return Record(self.file, self.what, value)


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Whatever a fleet, a radio or a topology refuses is said of the file that it was read from."""
    try:
        yield
    except (FleetError, RadioError, TopologyError) as error:
        raise FormatError(f"{file}: {error}") from None


def parse_object(file: str, content: str) -> dict[str, Any]:
    """The JSON object that the text holds."""
    try:
        document = parsed_json(content)
    except ValueError as error:
        raise FormatError(f"{file}: {error}") from None
    if not isinstance(document, dict):
        raise FormatError(f"{file}: must hold a JSON object {{…}}, not {shown(document)}")
    return document


def object_list(file: str, document: Mapping[str, object], field: str) -> list[dict[str, Any]]:
    """The list of objects in a field of the document, such as its nodes."""
    if field not in document:
        raise FormatError(f"{file}: field {field!r} is missing: it must be a list of objects")
    entries = document[field]
    if not isinstance(entries, list):
        raise FormatError(f"{file}: field {field!r} must be a list, not {shown(entries)}")
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise FormatError(f"{file}: {field[:-1]} number {place}: must be an object {{…}}, not {shown(entry)}")
    return entries


def number_in(value: object) -> float | None:
    """The number that a cell or word says, also NaN and infinity; None where it says none.

    Python also reads 1_000 as a number; a file that holds it is more likely to be wrong.
    """
    try:
        return None if "_" in str(value) else float(value)  # type: ignore[arg-type]  # whatever a table may hold
    except (TypeError, ValueError, OverflowError):
        return None


def finite_number(where: str, what: str, value: object) -> float:
    """The finite number that a cell or word says. where, what: what messages call its place and itself."""
    number = number_in(value)
    if number is None or not math.isfinite(number):
        raise FormatError(f"{where}: {what} is not a finite number ({shown(str(value))})")
    return number


def shown(value: object) -> str:
    """A value as the file spells it, on one line and not too long."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    try:
        text = json.dumps(value)
    except ValueError:  # a whole number of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
