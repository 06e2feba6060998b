"""What the service keeps: networks and their versions, in SQLite or PostgreSQL."""

from manetdiff.server.store.rows import NetworkRow, Summary
from manetdiff.server.store.store import Store

__all__ = ["NetworkRow", "Store", "Summary"]
