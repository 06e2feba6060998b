"""Blocked azimuths: directions in which a node has no antenna, because a wing or a mast is in the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from manetdiff.checks import is_number
from manetdiff.errors import FleetError
from manetdiff.messages import brief

# From start counter-clockwise to stop, in radians counter-clockwise from the node's own nose.
Arc = tuple[float, float]
Blocked = tuple[tuple[Arc, ...], ...]

# Two turns either way are room for every way to say an arc; what is beyond was most likely meant in degrees.
FARTHEST = 4 * math.pi


def checked_blocked(blocked: Iterable[Iterable[object]] | None, names: Sequence[str]) -> Blocked | None:
    """Arcs of each node as tuples of plain numbers; None where no node has any. names: of the nodes, for messages."""
    if blocked is None:
        return None
    nodes = _items("blocked", blocked)
    if len(nodes) != len(names):
        raise FleetError(f"blocked has {len(nodes)} entries for {len(names)} nodes")
    arcs = tuple(
        tuple(_arc(name, arc) for arc in _items(f"node {name!r}: blocked", of_node))
        for name, of_node in zip(names, nodes, strict=True)
    )
    return arcs if any(arcs) else None


def width_of(arc: Arc) -> float:
    """How wide the arc is, in radians: a full turn where its stop is at least that far from its start."""
    start, stop = arc
    return 2 * math.pi if stop - start >= 2 * math.pi else (stop - start) % (2 * math.pi)


def _items(what: str, values: object) -> list[object]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise FleetError(f"{what} must be a list of pairs (start, stop) in radians, not {brief(values)}")
    return list(values)


def _arc(name: str, arc: object) -> Arc:
    ends = _items(f"node {name!r}: blocked", arc)
    if len(ends) != 2 or not all(is_number(end) for end in ends):
        raise FleetError(f"node {name!r}: blocked must hold pairs of finite numbers (start, stop), not {brief(arc)}")
    start, stop = (float(end) for end in ends)  # type: ignore[arg-type]  # numbers, as just checked
    if max(abs(start), abs(stop)) > FARTHEST:
        raise FleetError(f"node {name!r}: blocked {brief(arc)} is beyond two full turns: azimuths are in radians")
    if start == stop:
        raise FleetError(f"node {name!r}: blocked {brief(arc)} blocks nothing: it ends where it begins")
    return start, stop
