"""Links that come and go as EMANE's pathloss events, in an EEL file that grows as they do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from manetdiff.client.states import link_ends
from manetdiff.errors import FormatError
from manetdiff.files import printable, reason
from manetdiff.formats import check_writable
from manetdiff.formats.emane import link_events_text
from manetdiff.formats.files import STANDARD, PathLike


class EelSink:
    """Writes the file anew, and appends to it what each state changes; `-` is standard output.

    Times are seconds since the first state. Nodes get numbers from 1 on as they appear, which comments say, and keep
    them; links of a node that has left are down.
    """

    name = "eel"
    trouble: str | None = None

    def __init__(self, path: PathLike) -> None:
        check_writable(path)
        self._path = path
        try:
            self._file: TextIO = sys.stdout if str(path) == STANDARD else Path(path).open("w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise self._not_written(error) from None
        self._numbers: dict[str, int] = {}  # of every node that has ever been there, from 0 on
        self._up: set[tuple[str, str]] = set()
        self._began: float | None = None
        self._time = 0.0

    def take(self, state: Mapping[str, Any]) -> None:
        """Append the events that lead to this state."""
        if state["version"] is None:
            return
        self._began = state["time"] if self._began is None else self._began
        self._time = max(self._time, state["time"] - self._began)  # events are in the order of time
        known = len(self._numbers)
        for node in state["nodes"]:
            self._numbers.setdefault(node["id"], len(self._numbers))
        up = {link_ends(link) for link in state["links"]}
        come, gone = (self._pairs(links) for links in (up - self._up, self._up - up))
        self._up = up
        if not (len(come) or len(gone) or len(self._numbers) > known):
            return
        # A comment for every node is before the events; of nodes that were there before it has been said.
        lines = link_events_text([*self._numbers], [(self._time, come, gone)]).splitlines(keepends=True)
        try:
            self._file.write("".join(lines[known:]))
            self._file.flush()
        except OSError as error:
            raise self._not_written(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not sys.stdout:
            self._file.close()

    def _pairs(self, links: set[tuple[str, str]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """(k, 2) numbers of their nodes, in order."""
        pairs = sorted((self._numbers[source], self._numbers[target]) for source, target in links)
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _not_written(self, error: OSError) -> FormatError:
        return FormatError(f"{printable(self._path)}: cannot be written: {reason(error)}")
