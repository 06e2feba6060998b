"""Networks and their versions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "networks",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("radio", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("pins", sa.Text, nullable=False),
        sa.Column("flight", sa.Text, nullable=True),
    )
    op.create_table(
        "versions",
        sa.Column("network", sa.String(32), sa.ForeignKey("networks.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Float(53), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("nodes", sa.Integer, nullable=False),
        sa.Column("links", sa.Integer, nullable=False),
        sa.Column("throughput", sa.Float(53), nullable=False),
        sa.Column("sustained", sa.Float(53), nullable=False),
        sa.Column("valid", sa.Boolean, nullable=False),
        sa.Column("connected", sa.Boolean, nullable=False),
        sa.Column("continuity", sa.Float(53), nullable=True),
        sa.Column("added", sa.Integer, nullable=False),
        sa.Column("dropped", sa.Integer, nullable=False),
        sa.Column("mode", sa.String(32), nullable=False),
        sa.Column("milliseconds", sa.Float(53), nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_index("versions_by_age", "versions", ["at"])


def downgrade() -> None:
    """Remove them, with all that they hold."""
    op.drop_table("versions")
    op.drop_table("networks")
