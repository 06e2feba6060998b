"""Steps from one topology to another, and the states of the network that they lead through.

Links and nodes are known by number here, and sets of them are bytes of 0 and 1: quick to copy, to compare and to look
up.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Kind = Literal["drop", "add", "turn"]


def flags(values: bytes | bytearray) -> npt.NDArray[np.bool_]:
    """Bytes of 0 and 1 as an array."""
    return np.frombuffer(values, dtype=np.bool_)


class State(NamedTuple):
    """Which links are up, u bytes of 0 and 1; which nodes have their final parity, n bytes; parts of the network."""

    up: bytes
    final: bytes
    parts: int


class Goal(NamedTuple):
    """A new link that is to come up, or a node that is to turn, by number."""

    link: int = -1
    node: int | None = None


class Step(NamedTuple):
    """Numbers of the links to drop, and the node to turn after that; None: nobody turns."""

    drops: tuple[int, ...]
    node: int | None = None


class Effect(NamedTuple):
    """What a step does: which links are up after each change, which nodes are final, what was lost and added."""

    changes: list[tuple[Kind, bytes]]
    final: bytes
    lost: list[int]
    added: list[int]


class Phase(NamedTuple):
    """One change of a step: what it does, who turns, and the state after it."""

    kind: Kind
    node: int | None
    state: State
