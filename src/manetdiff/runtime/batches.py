"""Batches over several processes, each with a network of its own: threads of one process would wait for each other."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.engine import Processes
from manetdiff.errors import DisconnectedWarning, ManetDiffError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.runtime.options import Asked
from manetdiff.topology import Report

if TYPE_CHECKING:
    from manetdiff.runtime.model import Model

# Parts of a batch for each worker: so many that one with slow fleets does not leave the others idle.
PARTS_EACH, MOST_TOGETHER = 8, 64


class Made(NamedTuple):
    """A topology without its layout, which whoever asked for it has."""

    links: npt.NDArray[np.int64]
    parity: npt.NDArray[np.int64]
    report: Report


class Part(NamedTuple):
    """Some fleets of a batch. weights: as of `load`."""

    weights: str
    fleets: Sequence[Fleet | Layout]
    asked: Asked


def spread(
    processes: Processes, weights: str, fleets: Sequence[Fleet | Layout], asked: Asked
) -> list[Made | ManetDiffError]:
    """What becomes of each fleet, in their order: the same as of each alone in this process."""
    # Without what a layout has computed already, which is larger than what it is computed from.
    plain = [dataclasses.replace(one) if isinstance(one, Layout) else one for one in fleets]
    size = max(1, min(MOST_TOGETHER, len(plain) // (PARTS_EACH * processes.workers)))
    parts = (Part(weights, plain[start : start + size], asked) for start in range(0, len(plain), size))
    with processes.turn:
        return list(chain.from_iterable(processes.in_order(_made, parts)))


def _made(part: Part) -> list[Made | ManetDiffError]:
    model = _model(part.weights)
    outcomes: list[Made | ManetDiffError] = []
    for fleet in part.fleets:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DisconnectedWarning)  # said by whoever asked, for the whole batch
                topology = model.generate(fleet, **part.asked)
        except ManetDiffError as error:
            outcomes.append(error)
        else:
            outcomes.append(Made(topology.links, topology.parity, topology.report))
    return outcomes


@lru_cache(maxsize=4)
def _model(weights: str) -> Model:
    """Loaded once in a process."""
    from manetdiff.runtime.model import load

    return load(weights)
