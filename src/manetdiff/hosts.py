"""What the service and its clients must agree on: which hosts are this machine, and what is a token."""

from __future__ import annotations

import ipaddress
import re

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
