"""Where something listens: `http://host:port/path` of a server, `host:port` of anything else; and the token for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from manetdiff.client.errors import ClientError
from manetdiff.formats.files import PathLike, read_source
from manetdiff.hosts import is_loopback, is_token
from manetdiff.messages import brief

PORTS = {"http": 80, "https": 443}
LARGEST_PORT = 65_535


@dataclass(frozen=True)
class Address:
    """A server's address. path: what stands before all paths, without a slash at its end, where a proxy adds it."""

    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> Address:
        """From an address such as `http://127.0.0.1:8470`."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ClientError(f"{brief(url)}: is not an address such as http://127.0.0.1:8470") from None
        if parts.scheme not in PORTS or not parts.hostname:
            raise ClientError(f"{brief(url)}: is not an address such as http://127.0.0.1:8470")
        if "@" in parts.netloc or parts.query or parts.fragment:  # not quoted: there may be a secret in it
            raise ClientError(f"the address of {parts.hostname} must hold neither a name, nor a token, nor a query")
        if not parts.path.isascii() or not parts.path.replace(" ", "\n").isprintable():
            raise ClientError(f"{brief(url)}: its path must be written as in a browser's address, without spaces")
        return cls(parts.scheme == "https", parts.hostname, port or PORTS[parts.scheme], parts.path.rstrip("/"))

    @property
    def is_private(self) -> bool:
        """Whether what is sent there can be read by nobody else: it is encrypted, or does not leave the machine."""
        return self.secure or is_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.path}"


def host_and_port(text: str, option: str, default: int | None = None) -> tuple[str, int]:
    """From `host:port`, an IPv6 address in brackets. option: what messages call it. default: a port to leave out."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:\[\]/@]+))(?::(\d{1,5}))?", text)
    port = int(found[3]) if found and found[3] else default
    if found is None or port is None or not 0 <= port <= LARGEST_PORT:
        raise ClientError(f"{option}: give a host and a port as HOST:PORT, not {brief(text)}")
    return found[1] or found[2], port


def read_token(path: PathLike) -> str:
    """The token in a file: its one line."""
    source = read_source(path)
    token = source.content.strip()
    check_token(token, source.name)
    return token


def check_token(token: str, name: str = "token") -> None:
    """Raise unless it can be sent as a token; it is never quoted."""
    if not is_token(token):
        raise ClientError(f"{name}: a token is one line of letters, digits and . _ ~ + / - without spaces")
