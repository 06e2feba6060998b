"""`manetdiff score`: what the links of a topology are worth, where its nodes were or where they are now."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from manetdiff.checks import some_of
from manetdiff.cli import options
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.results import check_files, check_size, metric_rows
from manetdiff.formats import read_fleet, read_radio, read_topology
from manetdiff.layout import Layout
from manetdiff.topology import (
    Topology,
    carried_over,
    check_related,
    find_parts,
    metrics,
    out_of_range,
    places_in,
    warn_of_lost_heights,
    warn_of_parts,
)


def command(
    topology: Annotated[str, typer.Argument(help="Topology file; - is standard input.", metavar="TOPOLOGY")],
    fleet: Annotated[
        str | None,
        typer.Argument(help="Fleet file of the fleet as it is now. Default: as it was.", metavar="[FLEET]"),
    ] = None,
    radio: options.Radio = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
) -> None:
    """Score a topology as it stands, or its links after the fleet has moved.

    \b
    Nodes are matched by id: the links of nodes that have left are gone, nodes
    that have joined have none. The radio is the one that the topology was
    written for, unless another is given.

    \b
    Examples:
      manetdiff score topology.json
      manetdiff score topology.json moved.csv
      manetdiff score topology.json moved.csv --radio radio.json --json
    """
    check_files([topology, fleet, radio], None, None)
    was, read = read_topology(topology)
    check_size(topology, was)
    before = Topology(read.links, read.parity, layout=read.on(was, None if radio is None else read_radio(radio)))
    if fleet is None:
        _tell(before, None, as_json)
        return
    now = read_fleet(fleet)
    check_size(fleet, now)
    check_related(was, now)
    warn_of_lost_heights(was, now)
    _tell(carried_over(before, Layout(now, before.on().radio)), before, as_json)


def _tell(now: Topology, before: Topology | None, as_json: bool) -> None:
    parts = find_parts(now.links, now.on())
    warn_of_parts(parts)
    joined, left = ([], []) if before is None else (_others(now, before), _others(before, now))
    if as_json:
        told = {
            "nodes": len(now),
            "metrics": metrics(now),
            "links_out_of_range": int(out_of_range(now, now.on()).sum()),
            "parts": None if parts is None else dataclasses.asdict(parts),
        }
        if before is not None:
            told |= {"before": metrics(before), "joined": joined, "left": left}
        print_json(told)
        return
    shown = [now] if before is None else [before, now]
    columns = [_rows(one) for one in shown]
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    rows += [[what, "", some_of(ids)] for what, ids in (("joined", joined), ("left", left)) if ids]
    print_table(Table("", ("", "") if before is None else ("", "before", "now"), rows))


def _rows(topology: Topology) -> dict[str, str]:
    far = int(out_of_range(topology, topology.on()).sum())
    return {"nodes": str(len(topology)), **dict(metric_rows(topology)), "links out of range": str(far)}


def _others(topology: Topology, than: Topology) -> list[str]:
    """Ids of its nodes that the other does not have."""
    nodes, others = topology.on().fleet, than.on().fleet
    return [name for name, place in zip(nodes.ids, places_in(others, nodes), strict=True) if place < 0]
