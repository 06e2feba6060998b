"""Run a service: its log, its socket, and its end."""

from __future__ import annotations

import logging
import socket
import sys

import structlog
import uvicorn

from manetdiff.server.app import create_app
from manetdiff.server.config import Config
from manetdiff.server.errors import ServiceError


def run(config: Config, *, json_log: bool = False) -> None:
    """Serve until told to stop. The address is printed once connections are taken."""
    _log_to_stderr(json_log)
    listening = _bound(config.host, config.port)
    host, port = listening.getsockname()[:2]
    scheme = "http" if config.certificate is None else "https"
    named = f"[{host}]" if ":" in host else host
    server = _Server(
        uvicorn.Config(
            create_app(config),
            access_log=False,
            log_config=None,
            lifespan="on",
            ws="websockets-sansio",
            ws_max_size=config.limits.body,
            # Thousands of compressed connections would each hold a window of their own.
            ws_per_message_deflate=False,
            limit_concurrency=config.limits.viewers + config.limits.senders + 500,
            timeout_graceful_shutdown=3,
            server_header=False,
            ssl_certfile=config.certificate,
            ssl_keyfile=config.key,
            proxy_headers=config.behind_proxy,
        ),
        f"{scheme}://{named}:{port}/",
    )
    server.run(sockets=[listening])
    if not server.started:
        raise SystemExit(1)


class _Server(uvicorn.Server):
    """It says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As ever, and then a line."""
        await super().startup(sockets)
        if self.started:
            print(f"NetDiff serves at {self._address}", flush=True)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        raise ServiceError(f"cannot listen at {host}:{port}: {error.strerror or error}") from None
    return listening


def _log_to_stderr(as_json: bool) -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    shown: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
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
