"""Which nodes are in one part, where links are only ever added."""

from __future__ import annotations

from manetdiff.compiled import kernel


@kernel
def part_of(part, i):  # type: ignore[no-untyped-def]
    """The node that stands for the part of i. part: (n,) at first each node its own."""
    while part[i] != i:
        part[i] = part[part[i]]
        i = part[i]
    return i


@kernel
def unite(part, i, j):  # type: ignore[no-untyped-def]
    """Join the parts of i and j; whether they were two."""
    first, second = part_of(part, i), part_of(part, j)
    part[max(first, second)] = min(first, second)
    return first != second
