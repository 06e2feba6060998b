"""JSON that nobody meant: every value of a document, one at a time, replaced by something else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


def nested(depth: int) -> Any:
    """A list in a list in a list …"""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2.5, 1e300, float("nan"), 10**400, "", "\x1b[2Jred\n"),
    *([], {}, [1, "a"], {"a": {}}, nested(60)),
)


EVERY = 4


def odd_documents(document: dict[str, Any], within: int = 3) -> Iterator[dict[str, Any]]:
    """The document with one of its values, so deep inside, made odd; each place meets a quarter of the odd values, in
    turn, for the sake of time."""
    for k, path in enumerate(_paths(document, within)):
        for value in ODD[k % EVERY :: EVERY]:
            changed = copy.deepcopy(document)
            place: Any = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            yield changed


def _paths(value: Any, within: int) -> Iterator[tuple[Any, ...]]:
    if within and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (key,)
            yield from ((key, *path) for path in _paths(inner, within - 1))
