"""Run a service: its log, its socket, and its end."""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import ssl
import sys
import webbrowser
from collections.abc import Callable

import structlog
import uvicorn

if sys.platform != "win32":
    import resource

from manetdiff.files import printable
from manetdiff.server.app import create_app
from manetdiff.server.config import Config
from manetdiff.server.connection import Connection
from manetdiff.server.errors import ServiceError
from manetdiff.server.store import Store

# A line for each would let strangers fill the disk; the first is said of every WebSocket that is turned away.
NOT_LOGGED = (
    "ASGI callable returned without completing handshake.",
    "Invalid HTTP request received.",
    "Exceeded concurrency limit.",
)
# Milliseconds after which the kernel lets go of who leaves what it was sent unread, or is gone without a word.
UNREAD_MS = 60_000
# Connections beside those of viewers and senders, and files that are open besides.
OTHERS, FILES = 500, 200


def run(config: Config, *, json_log: bool = False, show: bool = False) -> None:
    """Serve until told to stop. The address is printed once connections are taken. show: open the page, too."""
    _log_to_stderr(json_log)
    # What is wrong with it is said in one line, before anything else is started.
    Store(config.database).close()
    _check_certificate(config)
    most = config.limits.viewers + config.limits.senders + OTHERS
    _allow_files(most + FILES)
    listening = _bound(config.host, config.port)
    host, port = listening.getsockname()[:2]
    scheme = "http" if config.certificate is None else "https"
    everywhere = host in ("0.0.0.0", "::")  # which is no name to be called by
    if everywhere:
        host = next(iter(config.hosts), "localhost")
    named = f"[{host}]" if ":" in host else host
    if config.advertise is None and not everywhere:
        config = dataclasses.replace(config, advertise=f"{scheme}://{named}:{port}")
    at_stop: list[Callable[[], None]] = []
    server = _Server(
        uvicorn.Config(
            create_app(config, at_stop),
            access_log=False,
            log_config=None,
            lifespan="on",
            http=Connection,
            ws="websockets-sansio",
            ws_max_size=config.limits.body,
            # Thousands of compressed connections would each hold a window of their own.
            ws_per_message_deflate=False,
            limit_concurrency=most,
            timeout_graceful_shutdown=3,
            server_header=False,
            ssl_certfile=config.certificate,
            ssl_keyfile=config.key,
            proxy_headers=config.behind_proxy,
        ),
        f"{scheme}://{named}:{port}/",
        at_stop,
        show=show and _has_screen(),
    )
    server.run(sockets=[listening])
    if not server.started:
        raise SystemExit(1)


class _Server(uvicorn.Server):
    """It says where it listens once it does, and calls what is to be called when it stops."""

    def __init__(self, config: uvicorn.Config, address: str, at_stop: list[Callable[[], None]], *, show: bool) -> None:
        super().__init__(config)
        self._address, self._at_stop, self._show = address, at_stop, show

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As ever, and then a line."""
        await super().startup(sockets)
        if self.started:
            print(f"NetDiff serves at {self._address}", flush=True)
            if self._show:
                webbrowser.open(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As ever, after streams that go on by themselves have been ended."""
        for call in self._at_stop:
            call()
        await super().shutdown(sockets)


def _has_screen() -> bool:
    """Whether a browser would have a window, rather than take over the terminal."""
    drawn = sys.platform in ("darwin", "win32") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    return drawn and sys.stdout.isatty()


def _check_certificate(config: Config) -> None:
    if config.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.certificate, config.key)
    except (OSError, ValueError) as error:
        told = printable(config.certificate)
        raise ServiceError(f"--tls-certificate {told}: is not a certificate with its key: {error}") from None


def _allow_files(wanted: int) -> None:
    """Each connection is a file to the system, which often allows no more than 1024 unless it is asked."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # The protocol is named because asyncio turns off waiting for more to send only where it is: 40 ms an answer.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # which connections inherit
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listening.bind((host, port))
    except OSError as error:
        raise ServiceError(f"cannot listen at {host}:{port}: {error.strerror or error}") from None
    return listening


def _log_to_stderr(as_json: bool) -> None:
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() not in NOT_LOGGED)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    shown: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        # Plain tracebacks: others show what variables held, headers with the token among them.
        else [
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *shown,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
