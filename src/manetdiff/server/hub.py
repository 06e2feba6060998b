"""Viewers of one network. Each has the latest state and no backlog: who is slow is shown what is there now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

from manetdiff.server.states import State, change_of

HEARTBEAT_S = 15.0
HEARTBEAT = b": here\n\n"


class Hub:
    """The state that viewers are shown, under a number that counts up with each change."""

    def __init__(self, state: State) -> None:
        self.viewers = 0
        self.sequence = 1
        self.state: State = {**state, "sequence": 1}
        self._before: State = self.state
        self._events: dict[str, bytes] = {}  # of this state, written, once anybody has asked for them
        self._changed = asyncio.Event()
        self._deleted = self._stopping = False
        self._let_go = 0  # how often

    def publish(self, state: State) -> None:
        """Show another state."""
        self.sequence += 1
        self._before, self.state = self.state, {**state, "sequence": self.sequence}
        self._events = {}
        self._wake()

    def close(self) -> None:
        """The network is no more: viewers are told so."""
        self._deleted = True
        self._wake()

    def stop(self) -> None:
        """The service stops, or another replica runs the network: streams end, and viewers come back."""
        self._stopping = True
        self._wake()

    def let_go(self) -> None:
        """The streams of those who are here end; who comes later is shown what there is."""
        self._let_go += 1
        self._wake()

    async def events(self) -> AsyncGenerator[bytes]:
        """A snapshot, then a change for each new state; a snapshot again where a viewer has missed one."""
        self.viewers += 1
        try:
            seen, let_go = self.sequence, self._let_go  # before it is sent, which may take its time
            yield self._snapshot()
            while not (self._deleted or self._stopping) and let_go == self._let_go:
                changed = self._changed
                if seen == self.sequence:
                    try:
                        await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
                    except TimeoutError:
                        yield HEARTBEAT
                    continue
                missed = self.sequence - seen
                seen = self.sequence
                yield self._delta() if missed == 1 else self._snapshot()
            if self._deleted:
                yield b"event: deleted\ndata: {}\n\n"
        finally:
            self.viewers -= 1

    def _wake(self) -> None:
        # A new event for those who come later: setting and clearing one would leave out who is not waiting just now.
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _snapshot(self) -> bytes:
        return self._events.get("snapshot") or self._written("snapshot", self.state)

    def _delta(self) -> bytes:
        return self._events.get("delta") or self._written("delta", change_of(self._before, self.state))

    def _written(self, name: str, data: State) -> bytes:
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
        self._events[name] = f"event: {name}\nid: {self.sequence}\ndata: {text}\n\n".encode()
        return self._events[name]
