"""Links that are pinned or forbidden, and nodes that must stay silent: checked once, honoured by every stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.errors import PinError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Node = int | str
Pair = tuple[Node, Node]

# Log-odds that no prediction of a network outweighs.
CERTAIN = 1e4


@dataclass(frozen=True)
class Pins:
    """What a topology must keep to, as the user names it: nodes by index or by id.

    - keep: links that must be in it. avoid: pairs that must not be linked. silent: nodes without any link.
    """

    keep: Sequence[Pair] = ()
    avoid: Sequence[Pair] = ()
    silent: Sequence[Node] = ()

    def __post_init__(self) -> None:
        for name in ("keep", "avoid", "silent"):
            given = getattr(self, name)
            if isinstance(given, str) or not hasattr(given, "__len__"):
                raise PinError(f"{name}: give a list, not {given!r}")

    def __bool__(self) -> bool:
        return bool(len(self.keep) or len(self.avoid) or len(self.silent))


@dataclass(frozen=True)
class CheckedPins:
    """The same on one layout.

    - keep: (m, 2) with i < j. avoid: (n, n). side: (n,) 0 or 1 for the ends of kept links, so that each joins the two,
      and group: (n,) which of the groups that kept links join a node is in; -1 for nodes without one.
    """

    keep: IntArray
    avoid: BoolArray
    side: IntArray
    group: IntArray

    def link_bias(self, pairs: IntArray) -> npt.NDArray[np.float32]:
        """(1, c) what to add to the log-odds of links, for pairs (c, 2), i < j."""
        n = len(self.avoid)
        kept = np.isin(pairs[:, 0] * n + pairs[:, 1], self.keep[:, 0] * n + self.keep[:, 1])
        pull = np.where(kept, CERTAIN, np.where(self.avoid[pairs[:, 0], pairs[:, 1]], -CERTAIN, 0.0))
        return pull[None].astype(np.float32)

    def aligned(self, parity: IntArray) -> IntArray:
        """The parity with the fewest changes under which every kept link joins the two."""
        turned = parity.copy()
        for group in range(self.group.max(initial=-1) + 1):
            members = np.flatnonzero(self.group == group)
            differ = (parity[members] != self.side[members]).sum()
            turned[members] = self.side[members] if 2 * differ <= len(members) else 1 - self.side[members]
        return turned


def check_pins(pins: Pins, layout: Layout) -> CheckedPins:
    """The pins on a layout; raises a PinError where no topology can keep to them."""
    fleet = layout.fleet
    n = len(fleet)
    keep = sorted({_pair(pair, fleet, "keep") for pair in pins.keep})
    avoid = np.zeros((n, n), dtype=np.bool_)
    for pair in pins.avoid:
        i, j = _pair(pair, fleet, "avoid")
        avoid[i, j] = avoid[j, i] = True
    for node in pins.silent:
        at = _node(node, fleet, "silent")
        avoid[at] = avoid[:, at] = True
    taken: dict[tuple[int, int], int] = {}
    for i, j in keep:
        name = f"keep: {fleet.ids[i]}-{fleet.ids[j]}"
        if avoid[i, j]:
            raise PinError(f"{name} is also to be avoided, or one of its ends is to be silent")
        link = np.array([(i, j)])
        if not layout.linkable(link)[0]:
            raise PinError(f"{name} is out of range")
        sectors = layout.pairs(link).sector[0].tolist()
        for at, peer, sector in zip((i, j), (j, i), sectors, strict=True):
            antenna = (at, sector)
            if antenna in taken:
                other = fleet.ids[taken[antenna]]
                raise PinError(f"{name} and {fleet.ids[at]}-{other} would share an antenna of {fleet.ids[at]}")
            taken[antenna] = peer
    links = np.array(keep, dtype=np.int64).reshape(-1, 2)
    side, group = _sides(links, fleet)
    return CheckedPins(links, avoid, side, group)


def _sides(links: IntArray, fleet: Fleet) -> tuple[IntArray, IntArray]:
    """A parity for the ends of the kept links, group by group."""
    n = len(fleet)
    side, group = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    peers: dict[int, list[int]] = {}
    for i, j in links.tolist():
        peers.setdefault(i, []).append(j)
        peers.setdefault(j, []).append(i)
    groups = 0
    for first in sorted(peers):
        if group[first] >= 0:
            continue
        group[first], waiting = groups, [first]
        while waiting:
            at = waiting.pop()
            for peer in peers[at]:
                if group[peer] < 0:
                    group[peer], side[peer] = groups, 1 - side[at]
                    waiting.append(peer)
                elif side[peer] == side[at]:
                    raise PinError(
                        f"keep: {fleet.ids[at]}-{fleet.ids[peer]} closes a ring of an odd number of links: its nodes "
                        "cannot be of two parities in turn"
                    )
        groups += 1
    return side, group


def _pair(pair: Pair, fleet: Fleet, what: str) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise PinError(f"{what}: give pairs of nodes, not {pair!r}") from None
    i, j = _node(first, fleet, what), _node(second, fleet, what)
    if i == j:
        raise PinError(f"{what}: {fleet.ids[i]} cannot be linked with itself")
    return min(i, j), max(i, j)


def _node(node: Node, fleet: Fleet, what: str) -> int:
    if isinstance(node, str):
        if node not in fleet.ids:
            raise PinError(f"{what}: no node {node!r} in the fleet")
        return fleet.ids.index(node)
    if isinstance(node, bool | np.bool_) or not isinstance(node, int | np.integer) or not 0 <= node < len(fleet):
        raise PinError(f"{what}: {node!r} is neither the id of a node nor an index from 0 to {len(fleet) - 1}")
    return int(node)
