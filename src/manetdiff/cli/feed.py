"""`manetdiff feed`: positions from a file, from vehicles or from aircraft to a network of `manetdiff serve`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.output import Table, print_table
from manetdiff.cli.progress import CLEAR_LINE
from manetdiff.client import Client
from manetdiff.client.errors import ClientError
from manetdiff.client.feeding import Feed, Progress, Receiver, Show, feed_live
from manetdiff.client.mavlink import LISTEN, PREFIX, MavlinkReceiver
from manetdiff.client.replay import STEP_S, replay
from manetdiff.client.sbs import SbsReceiver
from manetdiff.formats import read_radio, read_tracks
from manetdiff.formats.registry import MOBILITY, names
from manetdiff.messages import one_line

EVERY_S = 1.0
LONGEST_STATUS = 160

app = typer.Typer(
    help="Send positions to a network of 'manetdiff serve': from a file, or live over MAVLink or ADS-B.",
    no_args_is_help=True,
)

To = Annotated[str, typer.Option(help="Address of the server, such as http://127.0.0.1:8470.", metavar="URL")]
Network = Annotated[str, typer.Option(help="Id or name of the network.", metavar="NAME")]
Create = Annotated[bool, typer.Option("--create", help="Make the network if there is none of this name.")]
TokenFile = Annotated[str | None, typer.Option(help="File with the server's token.", metavar="FILE")]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Send the token to another machine over http, where others can read it.")
]
Reports = Annotated[int | None, typer.Option(help="Stop after so many reports.", min=1, metavar="N")]
Every = Annotated[float, typer.Option(help="Seconds from one report to the next.", metavar="S")]


@app.command("replay")
def replay_command(
    file: Annotated[
        str, typer.Argument(help="Mobility file: ns-2, BonnMotion, an ADS-B table, or CSV of time, id, x, y.")
    ],
    to: To,
    network: Network,
    create: Create = False,
    radio: options.Radio = None,
    speed: Annotated[float, typer.Option(help="Seconds of flight a second.", metavar="X")] = 1.0,
    step: Annotated[float, typer.Option(help="Seconds of flight from one report to the next.", metavar="S")] = STEP_S,
    loop: Annotated[bool, typer.Option("--loop", help="Begin again at the end of the file.")] = False,
    kind: Annotated[str | None, typer.Option(help=f"Kind of the file: {names(MOBILITY, ' or ')}.")] = None,
    gap: options.Gap = None,
    reports: Reports = None,
    token_file: TokenFile = None,
    insecure: Insecure = False,
) -> None:
    """Fly a mobility file again, at any speed, as if its fleet were out there.

    \b
    Examples:
      manetdiff feed replay patrol.movements --to http://127.0.0.1:8470 --network Patrol --create
      manetdiff feed replay flights.csv --to http://127.0.0.1:8470 --network Patrol --speed 60 --step 10 --loop
    """
    tracks = read_tracks(file, kind, gap)
    chosen = _feed(to, network, create, radio, token_file, insecure)
    with chosen as feed, _told_at_the_end(feed.progress), _status() as show:
        replay(feed, tracks, speed, step, loop=loop, show=show, reports=reports)


@app.command("mavlink")
def mavlink_command(
    to: To,
    network: Network,
    create: Create = False,
    radio: options.Radio = None,
    listen: Annotated[str, typer.Option(help="Host and port to listen at.", metavar="HOST:PORT")] = LISTEN,
    prefix: Annotated[str, typer.Option(help="A vehicle's id is this and its MAVLink number.")] = PREFIX,
    every: Every = EVERY_S,
    reports: Reports = None,
    token_file: TokenFile = None,
    insecure: Insecure = False,
) -> None:
    """Listen for vehicles that speak MAVLink over UDP. Needs the extra 'mavlink'.

    \b
    Examples:
      manetdiff feed mavlink --to http://127.0.0.1:8470 --network Patrol --create
      manetdiff feed mavlink --listen 127.0.0.1:14551 --every 0.5 --to http://127.0.0.1:8470 --network Patrol

    MAVLink does not say who sends: listen beyond this machine only where nobody else can reach the port.
    """
    receiver = MavlinkReceiver(listen, prefix)
    with _feed(to, network, create, radio, token_file, insecure) as feed:
        _live(feed, receiver, every, reports)


@app.command("sbs")
def sbs_command(
    address: Annotated[str, typer.Argument(help="Of the ADS-B receiver; most have port 30003.", metavar="HOST:PORT")],
    to: To,
    network: Network,
    create: Create = False,
    radio: options.Radio = None,
    every: Every = EVERY_S,
    reports: Reports = None,
    token_file: TokenFile = None,
    insecure: Insecure = False,
) -> None:
    """Take aircraft from an ADS-B receiver that sends BaseStation lines (dump1090, readsb).

    \b
    Example:
      manetdiff feed sbs 127.0.0.1:30003 --to http://127.0.0.1:8470 --network Airspace --create --every 2
    """
    receiver = SbsReceiver(address)
    with _feed(to, network, create, radio, token_file, insecure) as feed:
        _live(feed, receiver, every, reports)


def _live(feed: Feed, receiver: Receiver, every: float, reports: int | None) -> None:
    counts = receiver.collector.counts
    with _told_at_the_end(feed.progress, counts), _status(counts) as show:
        feed_live(feed, receiver, every, show=show, reports=reports)


@contextmanager
def _feed(
    to: str, network: str, create: bool, radio: str | None, token_file: str | None, insecure: bool
) -> Iterator[Feed]:
    """A feed of the network, which is made where that is asked for."""
    if radio is not None and not create:
        raise ClientError("--radio goes with --create: a network that is there has its own")
    chosen = None if radio is None else read_radio(radio)
    with Client(to, token_file=token_file, insecure=insecure) as client:
        there = any(network in (one["id"], one["name"]) for one in client.networks())
        made = client.create(network, chosen) if create and not there else client.named(network)
        yield Feed(client, made["id"])


@contextmanager
def _status(counts: Counter[str] | None = None) -> Iterator[Show]:
    """What shows how far it is, on one line of a terminal; where there is none, a line for each new trouble."""
    said: list[str | None] = [None]

    def warn(progress: Progress) -> None:
        if progress.trouble and progress.trouble != said[-1]:
            print(f"manetdiff: warning: {one_line(progress.trouble)}", file=sys.stderr, flush=True)
        said[-1] = progress.trouble

    if not sys.stderr.isatty():
        yield warn
        return

    def show(progress: Progress) -> None:
        parts = [f"{label} {value}" for label, value in _rows(progress, counts or {})]
        trouble = f" ({progress.trouble})" if progress.trouble else ""
        line = one_line(", ".join(parts) + trouble, LONGEST_STATUS)
        print(f"\r{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(f"\r{CLEAR_LINE}", end="", file=sys.stderr, flush=True)


@contextmanager
def _told_at_the_end(progress: Progress, counts: Counter[str] | None = None) -> Iterator[None]:
    """A table of what was sent; Ctrl-C is how most feeds end."""
    try:
        yield
    except KeyboardInterrupt:
        _tell(progress, counts or {})
        raise
    _tell(progress, counts or {})


def _rows(progress: Progress, counts: dict[str, int]) -> list[tuple[str, str]]:
    version = "none" if progress.version is None else str(progress.version)
    rows = [
        ("reports", str(progress.reports)),
        ("nodes", str(progress.nodes)),
        ("versions", str(progress.versions)),
        ("version", version),
        ("refused", str(progress.refused)),
    ]
    left_out = {"older": progress.older, "left out": progress.left_out, "moments skipped": progress.skipped}
    counted = {**left_out, **counts}
    return [*rows, *((name, str(count)) for name, count in counted.items() if count)]


def _tell(progress: Progress, counts: dict[str, int]) -> None:
    print_table(Table("", ("", ""), _rows(progress, counts)))
    if progress.refused and progress.trouble and sys.stderr.isatty():  # elsewhere it has been said
        print(f"manetdiff: warning: last refused: {one_line(progress.trouble)}", file=sys.stderr)
