"""`manetdiff transition`: the way from one topology to another in flight, in rounds."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.results import STANDARD, check_files, check_size
from manetdiff.flights import Transition, transition
from manetdiff.flights.schedule import check_transition_path, write_transition
from manetdiff.formats import check_writable, read_fleet, read_topology
from manetdiff.wording import number_text


def command(
    old: Annotated[
        str, typer.Argument(help="Topology file of the links as they are; - is standard input.", metavar="OLD")
    ],
    new: Annotated[str, typer.Argument(help="Topology file of the links as they are to be.", metavar="NEW")],
    fleet: Annotated[
        str | None,
        typer.Argument(help="Fleet file of the fleet as it is now. Default: as in NEW.", metavar="[FLEET]"),
    ] = None,
    setup: Annotated[
        float, typer.Option(help="Seconds to add links, or to turn a node, until the next round.", metavar="S")
    ] = 0.0,
    align: Annotated[
        bool,
        typer.Option(help="Turn the parity of whole parts of NEW where fewer nodes then have to change theirs."),
    ] = True,
    out: Annotated[
        str | None,
        typer.Option(help="Write the rounds here: .json, or .eel for EMANE; - is standard output.", metavar="FILE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rounds as JSON.")] = False,
) -> None:
    """Get from one topology to another in flight: drops and adds in rounds, connected wherever an order can.

    \b
    Every state in between has at most one link on an antenna, and links only
    between opposite parities. A node that changes its parity is a round of its
    own. Nodes are matched by id; they may have joined and left.

    \b
    Examples:
      manetdiff transition old.json new.json
      manetdiff transition old.json new.json moved.csv --setup 2 --out rounds.json
      manetdiff transition old.json new.json --setup 2 --out rounds.eel
    """
    check_files([old, new, fleet], None, None)
    if out is not None:
        check_transition_path(out)
        check_writable(out)
    was, before = read_topology(old)
    check_size(old, was)
    then, after = read_topology(new)
    check_size(new, then)
    made = transition(before, after, None if fleet is None else read_fleet(fleet), setup=setup, align=align)
    if out is not None:
        write_transition(made, out)
    stream = sys.stderr if out == STANDARD else sys.stdout
    if as_json:
        print_json(made.to_dict(), stream)
        return
    print_table(Table(f"{len(made.new)} nodes", ("", ""), _rows(made)), stream)


def _rows(made: Transition) -> list[tuple[str, str]]:
    if made.connected:
        connected = "yes"
    else:
        connected = "no, and no order is" if made.proven else "no, and no order was found that is"
    rows = [
        ("rounds", str(len(made.rounds))),
        ("links dropped", str(made.dropped)),
        ("links added", str(made.added)),
        ("nodes turned", str(made.turned)),
        ("connected throughout", connected),
        ("seconds", number_text(made.seconds)),
    ]
    if made.gone:
        rows.insert(1, ("links of nodes that left", str(len(made.gone))))
    return rows
