"""A call's fleets in pieces: some of one shape each, of which most are worked on together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.layout.stack import LayoutStack
from manetdiff.radio import Radio

# Of a piece, unless one fleet alone has more: enough that what Python does for a piece does not count, and few enough
# that the cores of a large machine all have one.
MOST_NODES = 1024


@dataclass
class Piece:
    """places: of its fleets in the call. After `sort_out`, stack: the layouts of the first fleets, which one compiled
    call can work on; alone: those of the others, one by one."""

    places: list[int]
    fleets: list[Fleet]
    radio: Radio
    stack: LayoutStack | None = None
    alone: list[Layout] = field(default_factory=list)

    @property
    def nodes(self) -> int:
        """Of each fleet."""
        return len(self.fleets[0])

    def __len__(self) -> int:
        return len(self.places)

    @property
    def stacked(self) -> int:
        """How many layouts are in the stack."""
        return 0 if self.stack is None else len(self.stack)

    def sort_out(self) -> None:
        """Make the layouts, and put those that a stack cannot speak for last."""
        plain = np.zeros(len(self), dtype=np.bool_)
        if all(map(LayoutStack.fits, self.fleets)):
            whole = LayoutStack.of(self.fleets, self.radio)
            plain = whole.plain
            if plain.any():
                self.stack = whole if plain.all() else whole.part(plain)
        if not plain.all():
            order = np.argsort(~plain, kind="stable").tolist()
            self.places, self.fleets = [self.places[k] for k in order], [self.fleets[k] for k in order]
        self.alone = [Layout(fleet, self.radio) for fleet in self.fleets[self.stacked :]]


def pieces_of(fleets: Sequence[Fleet], radio: Radio, most: int) -> list[Piece]:
    """All fleets, by size, in pieces of at most so many; those with heights, and those of which azimuths are blocked,
    are apart from the others."""
    alike: dict[tuple[int, bool, bool], list[int]] = {}
    for place, fleet in enumerate(fleets):
        alike.setdefault((len(fleet), fleet.blocked is not None, fleet.has_heights), []).append(place)
    made = []
    for (n, *_), places in sorted(alike.items()):
        size = max(1, min(most, MOST_NODES // n))
        for start in range(0, len(places), size):
            some = places[start : start + size]
            made.append(Piece(some, [fleets[place] for place in some], radio))
    return made


def filled(pieces: Sequence[Piece], fits: Callable[[int, int], bool]) -> list[list[Piece]]:
    """Pieces in their order, by size, in batches; fits: whether so many fleets of up to so many nodes go together."""
    made: list[list[Piece]] = []
    fleets = 0
    for piece in pieces:
        fleets += len(piece)
        if not made or not fits(fleets, piece.nodes):
            made.append([])
            fleets = len(piece)
        made[-1].append(piece)
    return made
