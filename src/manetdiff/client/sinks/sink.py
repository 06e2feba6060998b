"""What a sink is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Sink(Protocol):
    """Takes states, one after the other. trouble: what is wrong at present, for people."""

    name: str

    @property
    def trouble(self) -> str | None: ...

    def take(self, state: Mapping[str, Any]) -> None:
        """Pass a state on; never for long."""

    def close(self) -> None:
        """Pass on what is left, for a moment, and end."""
