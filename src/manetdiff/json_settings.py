"""JSON that may come from anywhere, and settings that are kept in it: frozen dataclasses of plain values."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from manetdiff.errors import ManetDiffError
from manetdiff.messages import brief

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
else:
    DataclassInstance = object


# No file of ours comes near; what is deeper is made to exhaust the stack of whoever goes through it.
DEEPEST = 64
TOO_DEEP = "is not a file of ours: its JSON is nested too deeply"


def parsed_json(content: str | bytes) -> Any:
    """What the JSON says; a ValueError of one line where it says nothing, or is not for us."""
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except UnicodeDecodeError:
        raise ValueError("is not JSON: it is not UTF-8") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError:  # Python refuses to read whole numbers of thousands of digits
        raise ValueError("is not JSON that can be read: it holds a number of too many digits") from None
    if _depth(document) > DEEPEST:
        raise ValueError(TOO_DEEP)
    return document


def _depth(document: Any) -> int:
    """How deep lists and objects are nested, or DEEPEST + 1 where it is more; by levels, not by recursion."""
    level, depth = [document], 0
    while depth <= DEEPEST:
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return depth
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        depth += 1
    return depth


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
