"""What talks to `manetdiff serve` from outside: a client, feeds of positions, and sinks for what comes out."""

from manetdiff.client.client import Client
from manetdiff.client.errors import ClientError

__all__ = ["Client", "ClientError"]
