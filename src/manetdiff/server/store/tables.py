"""The tables; `migrations` has how they came to be."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()

NETWORKS = Table(
    "networks",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("created", Float(53), nullable=False),
    # JSON, as text: it is read whole, and both databases keep text as it is.
    Column("radio", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("pins", Text, nullable=False),
    Column("flight", Text, nullable=True),
    # The replica that runs it, and how often it has changed hands: what is written under an older number is refused.
    Column("owner", String(32), nullable=True),
    Column("fence", Integer, nullable=False, server_default="0"),
)

REPLICAS = Table(
    "replicas",
    METADATA,
    Column("id", String(32), primary_key=True),
    # Of its advisory lock, which is held as long as the connection that it writes over.
    Column("lock", Integer, nullable=False),
    Column("address", Text, nullable=False),
    # Counts up while it runs.
    Column("beat", Integer, nullable=False),
)

VERSIONS = Table(
    "versions",
    METADATA,
    Column("network", String(32), ForeignKey("networks.id", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("time", Float(53), nullable=False),
    Column("at", Float(53), nullable=False),
    # What lists and charts show of a version, so that they need not read its record.
    Column("nodes", Integer, nullable=False),
    Column("links", Integer, nullable=False),
    Column("throughput", Float(53), nullable=False),
    Column("sustained", Float(53), nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("connected", Boolean, nullable=False),
    Column("continuity", Float(53), nullable=True),
    Column("added", Integer, nullable=False),
    Column("dropped", Integer, nullable=False),
    Column("mode", String(32), nullable=False),
    Column("milliseconds", Float(53), nullable=False),
    Column("record", Text, nullable=False),
    Index("versions_by_age", "at"),
)
