"""Requests for a network that another replica runs, handed on to that one; what can be read is answered here.

Only what changes a network, its events and its senders' WebSockets go on, and only once: a request that was handed on
already is answered by whoever gets it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from manetdiff.errors import ManetDiffError
from manetdiff.server.errors import LaterError, MovedError, OverloadedError
from manetdiff.server.networks import Networks
from manetdiff.server.peer_sockets import joined, turned_away
from manetdiff.server.peers import BrokenError, Peers
from manetdiff.server.refusing import answer_to
from manetdiff.server.store.replicas import Peer

FORWARDED = b"x-manetdiff-forwarded"
# Seconds after which one more viewer or sender may come again.
LATER_S = 5.0
# Of a network, and what of it is asked for.
PATH = re.compile(r"/v1/networks/([^/]+)(?:/(.*))?")
# What is passed on; nobody else's business is.
ASKED = (b"authorization", b"content-type", b"accept")
ANSWERED = (b"content-type", b"content-length", b"retry-after", b"cache-control", b"x-accel-buffering", b"allow")


class Forwarder:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, peers: Peers) -> None:
        self._app, self._peers = app, peers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what is another's, and the rest to the application."""
        network = _changed(scope)
        if network is None or (networks := scope["app"].state.networks).is_here(network):
            await self._app(scope, receive, send)
            return
        try:
            peer = await self._owner(networks, network)
        except LaterError as error:
            await _refuse(scope, receive, send, error)
            return
        if peer is None:
            await self._app(scope, receive, send)  # which knows whether there is such a network
            return
        try:
            with _counted(scope, networks):
                await self._handed_on(scope, receive, send, networks, peer)
        except OverloadedError as error:
            await _refuse(scope, receive, send, error)

    async def _handed_on(self, scope: Scope, receive: Receive, send: Send, networks: Networks, peer: Peer) -> None:
        forward = _Forward(scope, receive, send, peer, networks.services.store.me.id, self._peers)
        outcome = await scope["app"].state.forwards.followed(peer.id, forward.run(), lasts=_lasts(scope))
        networks.services.counters.forwarded.labels("answered" if outcome else "broken").inc()
        if not outcome:
            with suppress(OSError):  # whoever asked has left meanwhile
                await forward.give_up()

    async def _owner(self, networks: Networks, network: str) -> Peer | None:
        """Whom to hand it on to; None where there is nobody."""
        services = networks.services
        peer = await services.store.owner(network)
        if peer is None or peer.id == services.store.me.id:
            services.counters.forwarded.labels("nobody").inc()
            return None
        if not peer.address:
            raise MovedError("the replica that runs this network does not say where it is reached: see --advertise")
        return peer


class Forwards:
    """Those that are under way, by the replicas that they were handed to."""

    def __init__(self) -> None:
        self._under_way: dict[str, set[asyncio.Task[bool]]] = {}
        self._lasting: set[asyncio.Task[bool]] = set()

    async def followed(self, replica: str, forward: Coroutine[Any, Any, bool], *, lasts: bool = False) -> bool:
        """What comes of it; False where its replica is gone, or this one stops. lasts: it does not end by itself."""
        task = asyncio.ensure_future(forward)
        tasks = self._under_way.setdefault(replica, set())
        tasks.add(task)
        if lasts:
            self._lasting.add(task)
        try:
            await asyncio.wait({task})
        finally:
            tasks.discard(task)
            self._lasting.discard(task)
            if not tasks:
                self._under_way.pop(replica, None)
            task.cancel()
        return False if task.cancelled() else task.result()

    def lost(self, replicas: Collection[str]) -> None:
        """They are gone: nobody waits for them any longer."""
        for replica in replicas:
            for task in self._under_way.get(replica, ()):
                task.cancel()

    def end_streams(self) -> None:
        """The service stops, and is not to wait for viewers and senders of others' networks while it has its own."""
        for task in self._lasting:
            task.cancel()


class _Forward:
    """One request on its way."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, peer: Peer, me: str, peers: Peers) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._peer, self._me, self._peers = peer, me, peers
        self._begun = False  # whether an answer is on its way

    async def run(self) -> bool:
        """Whether it was answered to its end."""
        if self._scope["type"] == "websocket":
            return await self._joined()
        try:
            body = await _body(self._receive)
        except HTTPException as error:  # too long, or too slow
            refusal = JSONResponse({"detail": error.detail}, error.status_code, error.headers)
            await refusal(self._scope, self._receive, self._send)
            return True
        if body is None:
            return True
        leaving = asyncio.create_task(_left(self._receive))
        answering = asyncio.create_task(self._answered(body))
        try:
            await asyncio.wait({leaving, answering}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            answering.cancel()
            outcome, _ = await asyncio.gather(answering, leaving, return_exceptions=True)
        if isinstance(outcome, BrokenError):
            return False  # which is counted; a line for each would fill the log until its network is taken over
        if isinstance(outcome, Exception) and not isinstance(outcome, OSError):
            raise outcome
        return True  # or whoever asked has left

    async def give_up(self) -> None:
        """Say that its replica is gone."""
        if not self._begun:
            error = MovedError("the replica that runs this network does not answer: another one will run it soon")
            await _refuse(self._scope, self._receive, self._send, error)
        elif self._scope["type"] == "websocket":
            await turned_away(self._send)
        else:  # of an event stream that was begun: its viewers come again
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _answered(self, body: bytes) -> None:
        scope = self._scope
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        asked = [*((name, value) for name, value in scope["headers"] if name in ASKED), (FORWARDED, self._me.encode())]
        async with self._peers.asked(self._peer.address, scope["method"], target, asked, body) as (answer, parts):
            headers = [(name, value) for name, value in answer.headers if name in ANSWERED]
            start = {"type": "http.response.start", "status": answer.status, "headers": headers}
            if not answer.goes_on:  # what is short is read to its end first: it may still break off
                whole = b"".join([part async for part in parts])
                self._begun = True
                await self._send(start)
                await self._send({"type": "http.response.body", "body": whole})
                return
            self._begun = True
            await self._send(start)
            async for part in parts:
                await self._send({"type": "http.response.body", "body": part, "more_body": True})
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _joined(self) -> bool:
        token = Headers(scope=self._scope).get("authorization")
        headers = {FORWARDED.decode(): self._me, **({} if token is None else {"authorization": token})}

        def begun() -> None:
            self._begun = True

        return await joined(self._scope, self._receive, self._send, self._peer.address, headers, self._peers, begun)


def _changed(scope: Scope) -> str | None:
    """The id of the network that a request is about, where it is for who runs that."""
    if scope["type"] not in ("http", "websocket") or (found := PATH.fullmatch(scope["path"])) is None:
        return None
    reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD", "OPTIONS")
    if (reads and not _lasts(scope)) or FORWARDED.decode() in Headers(scope=scope):
        return None
    return found[1]


def _lasts(scope: Scope) -> bool:
    """Whether it goes on until somebody ends it: a WebSocket, or events."""
    found = PATH.fullmatch(scope["path"])
    return scope["type"] == "websocket" or (scope["method"] == "GET" and found is not None and found[2] == "events")


@contextmanager
def _counted(scope: Scope, networks: Networks) -> Iterator[None]:
    """One that lasts is a sender or a viewer here, too; an OverloadedError where there are as many as are taken."""
    if not _lasts(scope):
        yield
    elif scope["type"] == "websocket":
        senders = scope["app"].state.senders
        if not senders.enter():
            raise OverloadedError("as many senders as are taken are here already", LATER_S)
        try:
            yield
        finally:
            senders.leave()
    else:
        if networks.viewers() >= networks.services.limits.viewers:
            raise OverloadedError("as many viewers as are taken are here already", LATER_S)
        networks.viewers_of_others += 1
        try:
            yield
        finally:
            networks.viewers_of_others -= 1


async def _body(receive: Receive) -> bytes | None:
    """All of it; None where whoever sends it has left before its end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(scope: Scope, receive: Receive, send: Send, error: ManetDiffError) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await turned_away(send)
    else:
        await answer_to(error)(scope, receive, send)
