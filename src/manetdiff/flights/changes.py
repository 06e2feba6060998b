"""One change of a topology: what it is, why, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from manetdiff.messages import escaped
from manetdiff.wording import number_text

Kind = Literal["dropped", "added", "turned", "held back"]
# The ids of two nodes.
Link = tuple[str, str]

# In Mbit/s: less is not worth a number.
NOTHING = 1e-6


@dataclass(frozen=True)
class Change:
    """A link that was dropped or added, a node whose parity was turned, or a link that was held back.

    - kind: 'dropped', 'added', 'turned' or 'held back'. link: ids of its nodes; node: id of the one that was turned.
    - reason: in words. forced: whether there was no choice.
    - gain: T with the change less T without it, in Mbit/s; None where it cannot be taken back.
    """

    kind: Kind
    reason: str
    link: Link | None = None
    node: str | None = None
    forced: bool = False
    gain: float | None = None

    def __str__(self) -> str:
        what = named(self.link) if self.link is not None else escaped(str(self.node))
        worth = "" if self.gain is None else f" ({_worth(self.gain)})"
        if self.kind == "held back":
            return f"held back: {what}{worth} {self.reason}"
        return f"{self.kind} {what}{worth}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """All that is said, JSON-ready; of link and node the one that it is about."""
        what = {"node": self.node} if self.link is None else {"link": list(self.link)}
        return {"kind": self.kind, **what, "reason": self.reason, "forced": self.forced, "gain": self.gain}


def named(link: Link) -> str:
    """A link by its nodes."""
    first, second = link
    return f"{escaped(first)}–{escaped(second)}"


def all_named(links: Iterable[Link]) -> str:
    """Several links by their nodes."""
    return ", ".join(named(link) for link in links)


def _worth(gain: float) -> str:
    if abs(gain) < NOTHING:
        return "±0 Mbit/s"
    return f"{'+' if gain > 0 else '−'}{number_text(abs(gain))} Mbit/s"
