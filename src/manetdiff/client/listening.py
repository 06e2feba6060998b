"""The thread in which a receiver hears."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Self

from manetdiff.client.collector import Collector

# Seconds after which a thread that waits for data looks whether it is to end.
LOOK_S = 0.2


class ListeningThread(ABC):
    """Runs `listen` in a thread from the time it is entered to the time it is left."""

    def __init__(self, collector: Collector | None = None) -> None:
        self.collector = Collector() if collector is None else collector
        self.ending = threading.Event()
        self.trouble: str | None = None  # what is wrong at present, for people
        self._thread = threading.Thread(target=self.listen, name=type(self).__name__, daemon=True)

    @abstractmethod
    def open(self) -> None:
        """Whatever can fail at the beginning, in the caller's thread: a ClientError."""

    @abstractmethod
    def listen(self) -> None:
        """Hear until `ending` is set, and look for it every LOOK_S."""

    @abstractmethod
    def close(self) -> None:
        """Give back what `open` took."""

    def __enter__(self) -> Self:
        self.open()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self._thread.join(5 * LOOK_S)
        self.close()
