"""A transition as a file: a schedule in JSON, or link events for EMANE.

    {"setup": 2.0, "seconds": 2.0, "connected": true, "proven": true, "gone": [],
     "rounds": [{"at": 0.0, "kind": "drop", "drop": [["A", "B"]], "add": [], "turn": null},
                {"at": 0.0, "kind": "add", "drop": [], "add": [["A", "C"]], "turn": null}]}

A round that turns a node has `"turn": {"node": "A", "parity": 1}`. EMANE's link events do not say so: its radio models
follow a TDMA schedule, which `manetdiff.formats.emane.schedule_xml` makes of each of the transition's states.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_at_least_0
from manetdiff.errors import FormatError
from manetdiff.files import printable
from manetdiff.flights.rounds import Transition
from manetdiff.formats.emane import DOWN_DB, UP_DB, link_events_text
from manetdiff.formats.files import STANDARD, PathLike, suffix_of, write_text

IntArray = npt.NDArray[np.int64]

JSON, EEL = ".json", ".eel"


def write_transition(transition: Transition, path: PathLike) -> None:
    """Write the schedule, as link events for EMANE where the name ends in .eel; `-` is standard output."""
    check_transition_path(path)
    write_text(path, link_events(transition) if suffix_of(path) == EEL else schedule_text(transition))


def check_transition_path(path: PathLike) -> None:
    """Raise a FormatError if the name does not say which of the two formats to write."""
    if str(path) != STANDARD and suffix_of(path) not in (JSON, EEL):
        raise FormatError(f"{printable(path)}: a transition is written into {JSON}, or for EMANE into {EEL}")


def schedule_text(transition: Transition) -> str:
    """The schedule in JSON."""
    return json.dumps(transition.to_dict(), indent=1, allow_nan=False) + "\n"


def link_events(transition: Transition, *, up_db: float = UP_DB, down_db: float = DOWN_DB, begin: float = 0.0) -> str:
    """The events for EMANE's eventservice, with path loss for its propagation model 'precomputed'.

    At 0 s links are up as they were before the transition, of nodes that are there now; then they go down and come up
    as their rounds begin.

    - up_db, down_db: path loss of a link that is up and of one that is down. begin: seconds, of the first round.
    """
    check_at_least_0(FormatError, "begin", begin)

    def events() -> Iterator[tuple[float, IntArray, IntArray]]:
        yield 0.0, transition.old.links, transition.old.links[:0]
        for at, one in zip(transition.times(), transition.rounds, strict=True):
            yield begin + at, one.added, one.dropped

    return link_events_text(transition.new.on().fleet.ids, events(), up_db, down_db)
