"""From a receiver or a file to a network: reports are sent, counted, and where the server refuses one, the next one is
sent all the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from manetdiff.checks import check_above_0
from manetdiff.client.client import Client, Node
from manetdiff.client.collector import Collector
from manetdiff.client.errors import ClientError
from manetdiff.fleet import Fleet

# Nothing that is sent later would be taken either: no right to, or no such network.
FINAL = frozenset({401, 403, 404})


@dataclass
class Progress:
    """How far a feed is. versions: that the network got by it. refused: reports that were not taken, and trouble, what
    the last of them was refused for. skipped: moments that were left out because the feed was late."""

    reports: int = 0
    nodes: int = 0
    version: int | None = None
    versions: int = 0
    refused: int = 0
    older: int = 0
    left_out: int = 0
    skipped: int = 0
    trouble: str | None = None


Show = Callable[[Progress], None]


class Feed:
    """Sends reports to one network, one after the other."""

    def __init__(self, client: Client, network: str) -> None:
        self.client, self.network = client, network
        self.progress = Progress()

    def report(self, time: float, nodes: Fleet | Iterable[Node], complete: bool = False) -> None:
        """Send a report and wait for what becomes of it. A network that is not there (any more) is a ClientError."""
        nodes = nodes if isinstance(nodes, Fleet) else list(nodes)
        told = self.progress
        try:
            answer = self.client.report(self.network, time, nodes, complete)
        except ClientError as error:
            if error.status in FINAL:
                raise
            told.refused += 1
            told.trouble = str(error)
            return
        told.reports += 1
        told.nodes = len(nodes)
        told.older += _whole(answer.get("older"))
        left_out = _whole(answer.get("left_out"))
        told.left_out += left_out
        told.trouble = answer.get("waiting") or (f"{left_out} nodes are far from all others" if left_out else None)
        version = answer.get("version")
        if isinstance(version, int) and version != told.version:
            told.version = version
            told.versions += 1


class Receiver(Protocol):
    """Hears positions in a thread of its own, from the time it is entered to the time it is left.

    trouble: what is wrong at present, for people.
    """

    collector: Collector
    trouble: str | None

    def __enter__(self) -> Any: ...

    def __exit__(self, *_: object) -> None: ...


def feed_live(
    feed: Feed,
    receiver: Receiver,
    every: float,
    *,
    show: Show | None = None,
    reports: int | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Report what a receiver hears every so many seconds, until stopped or after so many reports.

    Times are seconds of Unix time, by this machine's clock at the beginning, and go on steadily from there. A report
    has the vehicles that were heard since the last; where the server is slow there are fewer reports, not later ones.
    """
    check_above_0(ClientError, "the seconds between reports", every)
    stop = threading.Event() if stop is None else stop
    unix_at_0 = time.time() - time.monotonic()  # if the machine's clock is set meanwhile, no report is from the past
    with receiver:
        due = time.monotonic() + every
        while not stop.wait(max(due - time.monotonic(), 0.0)):
            due = max(due + every, time.monotonic())
            nodes = receiver.collector.take()
            if nodes:
                feed.report(unix_at_0 + time.monotonic(), nodes)
            feed.progress.trouble = receiver.trouble or feed.progress.trouble
            if show is not None:
                show(feed.progress)
            if reports is not None and feed.progress.reports >= reports:
                return


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
