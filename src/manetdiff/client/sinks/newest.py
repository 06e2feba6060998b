"""A sink that may be slow: it sends in a thread of its own, and while it is busy only the newest state waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from manetdiff.client.errors import ClientError

ATTEMPTS = 3
FIRST_WAIT_S = 0.5
LAST_S = 3.0  # for what is left at the end

State = Mapping[str, Any]


class NewestSink:
    """Sends states by a function that raises a ClientError where it cannot.

    It tries a few times, but drops a state as soon as there is a newer one. sent, skipped: how many states arrived, and
    how many did not.
    """

    def __init__(self, name: str, send: Callable[[State], None], end: Callable[[], None] | None = None) -> None:
        self.name, self.sent, self.skipped = name, 0, 0
        self.trouble: str | None = None
        self._send, self._end = send, end
        self._waiting: State | None = None
        self._ending = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def take(self, state: State) -> None:
        """Let it be the next to be sent."""
        with self._changed:
            self.skipped += self._waiting is not None
            self._waiting = state
            self._changed.notify_all()

    def close(self) -> None:
        """Send what is left, for a moment, and end."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._thread.join(LAST_S)
        if self._end is not None:
            with suppress(ClientError, OSError):
                self._end()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting is not None or self._ending)
                state, self._waiting = self._waiting, None
            if state is None:
                return
            self._try(state)

    def _try(self, state: State) -> None:
        wait = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._send(state)
            except ClientError as error:
                self.trouble = str(error)
            else:
                self.sent, self.trouble = self.sent + 1, None
                return
            with self._changed:
                newer = self._changed.wait_for(lambda: self._waiting is not None or self._ending, wait)
            if newer or attempt == ATTEMPTS:
                break
            wait *= 2
        self.skipped += 1
