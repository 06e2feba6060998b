"""A network in parts: which nodes are outside the largest one, why, and what range would join them all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.checks import some_of
from manetdiff.errors import DisconnectedWarning
from manetdiff.layout import Layout
from manetdiff.topology.components import component_labels

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Networks of a batch that a warning describes; the others are counted.
DESCRIBED = 3


@dataclass(frozen=True)
class Parts:
    """A network that is not whole. Nodes outside its largest part (of equals, the first one), by id:

    - out_of_range: no chain of pairs within range leads there. kept_apart: by pins, because they must be silent, by
      blocked azimuths or by the radio's least SNR; kept_by says by which it may be. not_joined: they could be linked,
      but antennas are taken, or nothing has joined them.
    - components: how many parts. unit: metres per unit of distance. range: the radio's, in units. needed: the shortest
      that would join all nodes, in units; needed_metres: the same in metres.
    - far_out: nodes that do not count in the unit, where that is the fleet's own (see `Fleet.scale`).
    """

    components: int
    out_of_range: tuple[str, ...]
    kept_apart: tuple[str, ...]
    not_joined: tuple[str, ...]
    unit: float
    range: float
    needed: float
    needed_metres: float
    far_out: tuple[str, ...]
    kept_by: str = "pins"

    def __str__(self) -> str:
        reasons = []
        if self.out_of_range:
            reasons.append(
                f"{_are(self.out_of_range)} out of range: that is {self._distance(self.range)}, and "
                f"{self._distance(_rounded_up(self.needed))} would join all nodes"
            )
        if self.kept_apart:
            reasons.append(f"{_are(self.kept_apart)} kept apart by {self.kept_by}")
        if self.not_joined:
            reasons.append(f"{_are(self.not_joined)} in range but not joined")
        if self.far_out:
            reasons.append(f"{_are(self.far_out)} so far out that the unit of distance is the spread of the others")
        return f"{self.components} parts: {'; '.join(reasons)}"

    def _distance(self, units: float) -> str:
        metres = units * self.unit
        text = f"{metres:,.0f} m" if metres >= 1000 else f"{metres:.4g} m"
        return text if self.unit == 1 else f"{units:.4g} units ({text})"


def _rounded_up(length: float) -> float:
    """To three digits: still enough, and a fleet in flight does not say something else at every moment."""
    step = 10.0 ** (math.floor(math.log10(length)) - 2)
    return step * math.ceil(length / step)


def _are(names: tuple[str, ...]) -> str:
    return f"{some_of(names)} {'is' if len(names) == 1 else 'are'}"


def find_parts(links: IntArray, layout: Layout) -> Parts | None:
    """What a network in parts consists of; None where it is whole. layout: with the pins that it had to keep to."""
    n, tables = len(layout), layout.tables
    label = component_labels(links, n)
    sizes = np.bincount(label, minlength=n)
    main = int(sizes.argmax())
    if sizes[main] == n:
        return None
    outside = label != main
    linkable = outside & _joined_with(main, tables.candidate)
    within = outside & _joined_with(main, tables.distance <= layout.radio.range)

    def named(which: BoolArray) -> tuple[str, ...]:
        return tuple(layout.fleet.ids[k] for k in np.flatnonzero(which))

    needed = joining_range(layout)
    return Parts(
        components=int((sizes > 0).sum()),
        out_of_range=named(outside & ~within),
        kept_apart=named(within & ~linkable),
        not_joined=named(linkable),
        unit=float(layout.unit),
        range=float(layout.radio.range),
        needed=needed,
        needed_metres=needed * layout.unit,
        far_out=named(layout.fleet.far_out) if layout.radio.unit is None else (),
        kept_by=_kept_by(layout),
    )


def _kept_by(layout: Layout) -> str:
    blocked = ["blocked azimuths"] if layout.fleet.blocked is not None else []
    noisy = ["the least SNR"] if layout.radio.min_snr is not None else []
    return " or ".join(["pins", *blocked, *noisy])


def joining_range(layout: Layout) -> float:
    """The shortest range, in units, that connects the whole fleet: the longest link of its shortest spanning tree."""
    distance = layout.tables.distance
    nearest = distance[0].copy()
    waiting = np.ones(len(distance), dtype=np.bool_)
    waiting[0] = False
    longest = 0.0
    for _ in range(len(distance) - 1):
        at = int(np.where(waiting, nearest, np.inf).argmin())
        longest = max(longest, float(nearest[at]))
        waiting[at] = False
        np.minimum(nearest, distance[at], out=nearest)
    return longest


def warn_of_parts(parts: Parts | None, stacklevel: int = 2) -> None:
    """Say so where a network is in parts: the best forest is an answer, not an error. stacklevel: as of a warning."""
    if parts is not None:
        warnings.warn(f"the network is in {parts}", DisconnectedWarning, stacklevel + 1)


def warn_of_parts_in_batch(found: Mapping[int, Parts | None], stacklevel: int = 2) -> None:
    """The same for the fleets of a batch, by their index, in one warning."""
    parted = {index: parts for index, parts in found.items() if parts is not None}
    if parted:
        told = [f"fleet {index} is in {parts}" for index, parts in list(parted.items())[:DESCRIBED]]
        more = f"; and {len(parted) - DESCRIBED} more" if len(parted) > DESCRIBED else ""
        counted = f"{len(parted)} of {len(found)} networks are in parts"
        warnings.warn(f"{counted}: {'; '.join(told)}{more}", DisconnectedWarning, stacklevel + 1)


@contextmanager
def unwarned_of_parts() -> Iterator[None]:
    """Without these warnings, where many networks are made and what is in parts shows in their reports and metrics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        yield


def _joined_with(node: int, pairs: BoolArray) -> BoolArray:
    """(n,) nodes that a chain of these pairs, (n, n), leads to."""
    label = component_labels(np.argwhere(np.triu(pairs, 1)), len(pairs))
    return np.asarray(label == label[node])
