"""How a service is started: where it listens, where it keeps its data, who may talk to it, and its limits."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from manetdiff.files import printable, reason
from manetdiff.hosts import is_address, is_loopback, is_token
from manetdiff.server.errors import ServiceError
from manetdiff.weights import DEFAULT

SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Limits:
    """What a service takes, so that no sender and no viewer can take it from the others.

    - body: bytes of a request or a frame. nodes: of a network. networks: in all. viewers: open event streams, in all.
      senders: open WebSockets, in all.
    - rate, burst: reports a second of a network, and at once.
    - longest_wait: seconds that a report may have to wait for its turn; what would take longer is shed.
    - versions, days: what is kept of each network's history.
    """

    body: int = 2 * 1024 * 1024
    nodes: int = 1024
    networks: int = 100
    viewers: int = 500
    senders: int = 200
    rate: float = 50.0
    burst: float = 100.0
    longest_wait: float = 1.0
    versions: int = 10_000
    days: float = 7.0


@dataclass(frozen=True)
class Config:
    """One service.

    - host, port: where it listens; port 0 is any free one. database: see `store.database.opened`.
    - token: that every call must bear; None only on this machine. certificate, key: files, for TLS.
    - advertise: where other replicas on the same database reach this one; None: nowhere.
    - behind_proxy: whether a proxy on the way takes care of TLS. hosts: names that it has beside its own.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8470
    token: str | None = None
    certificate: str | None = None
    key: str | None = None
    behind_proxy: bool = False
    hosts: tuple[str, ...] = ()
    advertise: str | None = None
    weights: str = DEFAULT
    workers: int = 2
    demo: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if (self.certificate is None) is not (self.key is None):
            raise ServiceError("--tls-certificate and --tls-key go together")
        if self.advertise is not None and not is_address(self.advertise):
            raise ServiceError("--advertise: give http://HOST:PORT or https://HOST:PORT, and nothing else")
        if self.advertise is not None:  # as other replicas read it: HTTP://… is the same address
            object.__setattr__(self, "advertise", urlsplit(self.advertise)._replace(path="").geturl())
        if is_loopback(self.host) and not self.behind_proxy:
            return
        if self.token is None:
            opened = "--behind-proxy" if is_loopback(self.host) else f"--host {self.host}"
            raise ServiceError(f"{opened} opens it to others: give --token-file, with a token that they know")
        if self.certificate is None and not self.behind_proxy:
            raise ServiceError(
                f"--host {self.host} is open to others, who could read the token: give --tls-certificate and "
                "--tls-key, or --behind-proxy where a proxy encrypts"
            )

    @property
    def names(self) -> frozenset[str]:
        """That a request may be addressed to: others are of pages that were led here by a forged name."""
        own = {self.host.lower()} if self.host not in ("0.0.0.0", "::") else set()
        if self.advertise is not None:
            own.add(str(urlsplit(self.advertise).hostname))
        return frozenset({"localhost", "127.0.0.1", "::1", *own, *(name.lower() for name in self.hosts)})


def token_in(path: str) -> str:
    """The token in a file: its first line, which nobody else may read."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.readline(4096).strip()
    except (OSError, ValueError) as error:
        raise ServiceError(f"--token-file {printable(path)}: cannot be read: {reason(error)}") from None
    if os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise ServiceError(f"--token-file {printable(path)}: others may read it: chmod 600 it first")
    if len(token) < SHORTEST_TOKEN or not is_token(token):
        raise ServiceError(
            f"--token-file {printable(path)}: a token is a line of at least {SHORTEST_TOKEN} letters, digits and "
            ". _ ~ + / - without spaces"
        )
    return token
