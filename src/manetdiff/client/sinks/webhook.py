"""Each state as JSON to an address that somebody else listens at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.client.address import Address
from manetdiff.client.connection import Connection, refusal
from manetdiff.client.sinks.newest import NewestSink

TIMEOUT_S = 5.0


def webhook_sink(url: str) -> NewestSink:
    """POSTs every state to the address. An answer of 2xx says that it has arrived; redirects are not followed."""
    address = Address.of(url)
    connection = Connection(address, timeout=TIMEOUT_S)

    def send(state: Mapping[str, Any]) -> None:
        answer = connection.exchange("POST", "" if address.path else "/", state)
        if not 200 <= answer.status < 300:
            raise refusal(address, answer)

    return NewestSink("webhook", send, connection.close)
