"""The HTTP interface: one file an idea, all under /v1."""
