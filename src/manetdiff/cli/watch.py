"""`manetdiff watch`: a network of `manetdiff serve` as it changes, in the terminal, in a pipe, or passed on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Annotated, Protocol

import typer
from rich.console import Console
from rich.live import Live

from manetdiff.cli.watch_table import line_of, watched_table
from manetdiff.client import Client
from manetdiff.client.errors import ClientError
from manetdiff.client.sinks import EelSink, Sink, mqtt_sink, webhook_sink
from manetdiff.client.states import State
from manetdiff.formats.files import STANDARD
from manetdiff.messages import one_line


def command(
    url: Annotated[str, typer.Argument(help="Address of the server, such as http://127.0.0.1:8470.", metavar="URL")],
    network: Annotated[
        str | None, typer.Option(help="Id or name of the network; not needed if there is only one.", metavar="NAME")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Show the present state and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each version's state as a line of JSON.")] = False,
    webhook: Annotated[
        str | None, typer.Option(help="POST each version's state to this address, as JSON.", metavar="URL")
    ] = None,
    eel: Annotated[
        str | None,
        typer.Option(help="Write links that come and go for EMANE here (.eel); - is standard output.", metavar="FILE"),
    ] = None,
    mqtt: Annotated[
        str | None,
        typer.Option(
            help="Publish each version's state, retained. Needs the extra 'mqtt'.", metavar="HOST[:PORT]/TOPIC"
        ),
    ] = None,
    token_file: Annotated[str | None, typer.Option(help="File with the server's token.", metavar="FILE")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Send the token to another machine over http, where others can read it.")
    ] = False,
) -> None:
    """Watch a network of 'manetdiff serve', and pass its states on, until Ctrl-C or until it is deleted.

    \b
    Examples:
      manetdiff watch http://127.0.0.1:8470
      manetdiff watch http://127.0.0.1:8470 --network Patrol --json
      manetdiff watch http://127.0.0.1:8470 --network Patrol --eel links.eel --mqtt localhost/netdiff/patrol
    """
    if as_json and eel == STANDARD:
        raise ClientError("--json and --eel - would both write to standard output: give --eel a file")
    with Client(url, token_file=token_file, insecure=insecure) as client, ExitStack() as stack:
        found = client.named(network)
        sinks = _sinks(webhook, eel, mqtt, stack)
        shown = stack.enter_context(_shown(as_json, live=not once, to_stderr=eel == STANDARD, sinks=sinks))
        version: int | None = None
        for state in client.events(found["id"], shown.trouble):
            shown.state(state, is_news=state["version"] not in (None, version) or once)
            if state["version"] not in (None, version):
                for sink in sinks:
                    sink.take(state)
            version = state["version"]
            if once:
                return
    print(f"manetdiff: the network {one_line(found['name'])} was deleted", file=sys.stderr)


def _sinks(webhook: str | None, eel: str | None, mqtt: str | None, stack: ExitStack) -> list[Sink]:
    """Those that are asked for; each is closed at the end."""
    sinks: list[Sink] = []
    for target, sink in ((webhook, webhook_sink), (eel, EelSink), (mqtt, mqtt_sink)):
        if target is not None:
            sinks.append(sink(target))
            stack.callback(_close, sinks[-1])
    return sinks


def _close(sink: Sink) -> None:
    sink.close()
    if sink.trouble:
        told = one_line(f"{sink.name}: the last state has not arrived: {sink.trouble}")
        print(f"manetdiff: warning: {told}", file=sys.stderr, flush=True)


class _Shown(Protocol):
    def state(self, state: State, is_news: bool) -> None: ...

    def trouble(self, told: str) -> None: ...


@contextmanager
def _shown(as_json: bool, live: bool, to_stderr: bool, sinks: Sequence[Sink]) -> Iterator[_Shown]:
    """A table that changes on a terminal; elsewhere a line a version."""
    console = Console(stderr=to_stderr, highlight=False)
    if as_json or not console.is_terminal:
        yield _Lines(as_json, to_stderr, sinks)
    elif not live:
        yield _Once(console)
    else:
        with Live(console=console, auto_refresh=False, screen=False) as display:
            yield _Table(display, sinks)


class _Lines:
    """A line for each version, and one on standard error for each trouble."""

    def __init__(self, as_json: bool, to_stderr: bool, sinks: Sequence[Sink]) -> None:
        self.as_json, self.stream, self.sinks = as_json, sys.stderr if to_stderr else sys.stdout, sinks
        self._said: dict[str, str | None] = {}

    def state(self, state: State, is_news: bool) -> None:
        if is_news:
            print(json.dumps(state, allow_nan=False) if self.as_json else line_of(state), file=self.stream, flush=True)
        for sink in self.sinks:
            if sink.trouble and sink.trouble != self._said.get(sink.name):
                self.trouble(f"{sink.name}: {sink.trouble}")
            self._said[sink.name] = sink.trouble

    def trouble(self, told: str) -> None:
        print(f"manetdiff: warning: {one_line(told)}", file=sys.stderr, flush=True)


class _Once:
    """The table, as it is."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def state(self, state: State, is_news: bool) -> None:
        self._console.print(watched_table(state, []))

    def trouble(self, told: str) -> None: ...


class _Table:
    """The table, as it changes."""

    def __init__(self, display: Live, sinks: Sequence[Sink]) -> None:
        self._display, self._sinks = display, sinks
        self._state: State | None = None

    def state(self, state: State, is_news: bool) -> None:
        self._state = state
        self._draw([])

    def trouble(self, told: str) -> None:
        self._draw([f"not connected: {told}"])

    def _draw(self, troubles: list[str]) -> None:
        if self._state is not None:
            troubles = [*troubles, *(f"{sink.name}: {sink.trouble}" for sink in self._sinks if sink.trouble)]
            self._display.update(watched_table(self._state, troubles), refresh=True)
