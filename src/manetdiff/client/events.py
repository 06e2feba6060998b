"""The server's stream of events (server-sent events): read line by line, taken up again where it breaks off."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from manetdiff.client.connection import Connection
from manetdiff.client.errors import ClientError
from manetdiff.client.states import State, merged, whole
from manetdiff.json_settings import parsed_json

SNAPSHOT, DELTA, DELETED = "snapshot", "delta", "deleted"
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
# A server sends something, if only a comment, every 15 s.
SILENCE_S = 45.0
# Of these no second attempt is better than the first.
FINAL = frozenset({400, 401, 403, 404, 405, 410, 422})


class Event(NamedTuple):
    """One event of such a stream."""

    kind: str
    data: str


def events_in(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events in lines without their ends. Comments, and fields that are not ours, are left out."""
    kind = "message"
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield Event(kind, "\n".join(data))
            kind, data = "message", []
            continue
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            kind = value
        elif field == "data":
            data.append(value)


def followed(connection: Connection, path: str, trouble: Callable[[str], None] | None = None) -> Iterator[State]:
    """The states of a network, the present one first, until it is deleted.

    A stream that breaks off is taken up again, after ever longer waits; one that cannot be had at the beginning is a
    ClientError. trouble: called with what is wrong, when there is something.
    """
    wait, reached = FIRST_WAIT_S, False
    while True:
        try:
            for state in _states(connection, path):
                wait, reached = FIRST_WAIT_S, True
                if state is None:
                    return
                yield state
            told = "the server has ended the stream"
        except ClientError as error:
            if not reached or error.status in FINAL:
                raise
            told = str(error)
        if trouble is not None:
            trouble(told)
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT_S)


def _states(connection: Connection, path: str) -> Iterator[State | None]:
    """The states of one stream; None where the network is deleted."""
    state: State | None = None
    with connection.lines(path) as lines:
        for event in events_in(lines):
            if event.kind == DELETED:
                yield None
                return
            if event.kind not in (SNAPSHOT, DELTA):
                continue
            try:
                told = parsed_json(event.data)
            except ValueError as error:
                raise ClientError(f"an event of the server {error}") from None
            if event.kind == SNAPSHOT:
                state = whole(told)
            elif state is not None:  # a delta of something that is not known says nothing
                state = merged(state, told)
            if state is not None:
                yield state
