"""How the tables came to be, step by step; alembic takes the steps that a database has not taken yet."""
