"""Replicas, and which of them a network belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Networks are nobody's yet: whoever comes first takes them up."""
    op.add_column("networks", sa.Column("owner", sa.String(32), nullable=True))
    op.add_column("networks", sa.Column("fence", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("lock", sa.Integer, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("beat", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """As if there were one."""
    op.drop_table("replicas")
    op.drop_column("networks", "fence")
    op.drop_column("networks", "owner")
