"""Settings that are kept in files: frozen dataclasses of plain values, to JSON and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from manetdiff.errors import ManetDiffError
from manetdiff.wording import brief

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
else:
    DataclassInstance = object


class JsonSettings(DataclassInstance):
    """What such a dataclass derives from. ERROR: what is raised; WHAT: what messages call it."""

    ERROR: ClassVar[type[ManetDiffError]]
    WHAT: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; unknown names are an error, missing ones take their default."""
        known = {entry.name: entry for entry in dataclasses.fields(cls)}
        if not isinstance(values, Mapping):
            raise cls.ERROR(f"{cls.WHAT}: must be a set of named values, not {brief(values)}")
        for name in values:
            if name not in known:
                raise cls.ERROR(f"{cls.WHAT}: unknown parameter {brief(name)}; known are {', '.join(sorted(known))}")
        for name, entry in known.items():
            if name not in values and entry.default is entry.default_factory is dataclasses.MISSING:
                raise cls.ERROR(f"{cls.WHAT}: the parameter {name!r} is missing")
        return cls(**values)
