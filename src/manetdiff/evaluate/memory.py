"""How much memory arrays take, and how much this process has had."""

from __future__ import annotations

import sys

import numpy as np

if sys.platform != "win32":
    import resource


def array_bytes(held: object) -> int:
    """Bytes of all arrays that an object of ours holds, directly or through others of ours; shared ones count once."""
    owners: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [held]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            # A view takes nothing beside what it looks at.
            if isinstance(one.base, np.ndarray):
                waiting.append(one.base)
            else:
                owners[id(one)] = one.nbytes
        elif isinstance(one, tuple | list):
            waiting += one
        elif type(one).__module__.startswith("manetdiff."):
            waiting += vars(one).values()
    return sum(owners.values())


def most_memory() -> float | None:
    """The most bytes that this process has had so far; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
