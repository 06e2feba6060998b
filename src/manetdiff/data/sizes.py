"""Fleet sizes in few words: 16, 32 and 4-128 instead of a hundred and twenty-five numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from manetdiff.checks import check_whole, is_whole
from manetdiff.errors import DataError
from manetdiff.messages import brief

MIN_NODES, MAX_NODES = 2, 1024
# Sizes in a row that are written one by one, as all were once; more than that become a range.
FEW = 8


def sizes_of(parts: Iterable[object]) -> tuple[int, ...]:
    """All sizes, in their order, of whole numbers and ranges such as "4-128", whose ends belong to them."""
    return tuple(size for part in parts for size in _sizes(part))


def in_few_words(sizes: Iterable[int]) -> list[int | str]:
    """The inverse of `sizes_of`: long runs of sizes as ranges, the others as they are."""
    words: list[int | str] = []
    # In a run, size and place go up together.
    for _, run in itertools.groupby(enumerate(sizes), key=lambda placed: placed[1] - placed[0]):
        some = [size for _, size in run]
        words += some if len(some) <= FEW else [f"{some[0]}-{some[-1]}"]
    return words


def _sizes(part: object) -> Iterable[int]:
    if is_whole(part):
        check_whole(DataError, "nodes", part, MIN_NODES, MAX_NODES)
        return (part,)  # type: ignore[return-value]
    try:
        first, _, last = str(part).partition("-")
        low, high = int(first), int(last or first)
    except ValueError:
        raise DataError(f"nodes: give whole numbers and ranges, such as 16,32 or 4-128, not {brief(part)}") from None
    for end in (low, high):
        check_whole(DataError, "nodes", end, MIN_NODES, MAX_NODES)
    if low > high:
        raise DataError(f"nodes: a range begins with its smallest size, not {brief(part)}")
    return range(low, high + 1)
