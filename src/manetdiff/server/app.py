"""The application: what a service is made of, put together."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from manetdiff import __version__
from manetdiff.errors import DisconnectedWarning
from manetdiff.runtime.model import load
from manetdiff.server.config import Config
from manetdiff.server.counters import Counters
from manetdiff.server.forwarding import Forwarder, Forwards
from manetdiff.server.guard import Guard
from manetdiff.server.live_network import Services
from manetdiff.server.networks import Networks
from manetdiff.server.peers import Peers
from manetdiff.server.pool import Pool
from manetdiff.server.refusing import refuse_in_one_line
from manetdiff.server.rehearsal import rehearse
from manetdiff.server.routes import events, flight, networks, positions, service, topology
from manetdiff.server.store import Store
from manetdiff.server.store.replicas import Replica

DESCRIPTION = """Networks of directional radios, kept good while the fleet moves: positions in, topologies out.

A network is made once; then positions are reported, and each report leads to a version of its topology."""


# Seconds that somebody may have to wait for others who want to see something that takes its time.
LONGEST_LOOK_S = 20.0


class Senders:
    """WebSockets that are open; so many and no more."""

    def __init__(self, most: int) -> None:
        self.count, self._most = 0, most

    def enter(self) -> bool:
        """Whether there was room for one more."""
        if self.count >= self._most:
            return False
        self.count += 1
        return True

    def leave(self) -> None:
        """One less."""
        self.count -= 1


class _PageFiles(StaticFiles):
    """A browser asks whether a file has changed before it uses its own: after an upgrade none of them may be old."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        """As ever, and a word to the browser."""
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def create_app(config: Config, at_stop: list[Callable[[], None]] | None = None) -> ASGIApp:
    """The service as an ASGI application; what it holds is opened when it starts and closed when it ends.

    - at_stop: gets what whoever runs it is to call when it is told to stop, before open connections are waited for.
    """

    peers = Peers()

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        # A network in parts shows in its metrics; a warning for each version would drown all others.
        warnings.simplefilter("ignore", DisconnectedWarning)
        counters = Counters()
        services = Services(
            model=load(config.weights),
            store=Store(config.database, Replica(config.advertise or "")),
            pool=Pool(config.workers, config.limits.longest_wait),
            looks=Pool(1, LONGEST_LOOK_S),
            counters=counters,
            limits=config.limits,
        )
        app.state.forwards = forwards = Forwards()
        held = app.state.networks = Networks(services, forwards.lost)
        app.state.senders = senders = Senders(config.limits.senders)
        counters.gauge("manetdiff_networks", "Networks that are run here", lambda: len(held.all()))
        counters.gauge("manetdiff_replicas", "Replicas on the database, as far as this one sees", held.replicas)
        counters.gauge("manetdiff_viewers", "Open event streams", held.viewers)
        counters.gauge("manetdiff_senders", "Open WebSockets", lambda: senders.count)
        counters.gauge("manetdiff_waiting_updates", "Updates that are not done", lambda: services.pool.waiting)
        try:
            await services.pool.run(lambda: rehearse(services.model))
            await held.start(demo=config.demo)
            if at_stop is not None:
                at_stop.extend((held.end_streams, forwards.end_streams))
            yield
        finally:
            await held.close()
            services.pool.close()
            services.looks.close()
            services.store.close()

    app = FastAPI(
        title="NetDiff", version=__version__, description=DESCRIPTION, lifespan=running, docs_url=None, redoc_url=None
    )
    refuse_in_one_line(app)
    app.add_middleware(Forwarder, peers=peers)
    for room in (service, networks, positions, topology, flight, events):
        app.include_router(room.router)
    app.mount("/page", _PageFiles(directory=service.PAGE), name="page")
    return Guard(app, config)
