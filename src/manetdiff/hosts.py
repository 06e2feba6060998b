"""What the service and its clients must agree on: which hosts are this machine, what is a token, what an address."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

# What a header can hold, and RFC 6750 calls a token.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, as nobody else can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_token(text: str) -> bool:
    """Whether it can be sent as a token."""
    return _TOKEN.fullmatch(text) is not None


def is_address(text: str) -> bool:
    """Whether it is http:// or https://, a host and perhaps a port, and nothing else."""
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    rest = (parts.path.rstrip("/"), parts.query, parts.fragment, parts.username)
    return fine and not any(rest) and text.isascii() and text.isprintable() and " " not in text
