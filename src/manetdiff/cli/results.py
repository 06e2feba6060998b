"""What the commands that make one topology have in common: where it goes, and the table or JSON about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.errors import FormatError
from manetdiff.files import together
from manetdiff.fleet import Fleet
from manetdiff.flights.explanation import Explanation
from manetdiff.formats import check_writable, write_topology
from manetdiff.formats.conversion import check_topology_path
from manetdiff.measure.measures import MEASURES
from manetdiff.messages import escaped
from manetdiff.radio.bounds import MOST_NODES
from manetdiff.topology import Report, Topology, metrics

STANDARD = "-"


def check_files(inputs: Sequence[str | None], out: str | None, plot: str | None) -> None:
    """Whatever is wrong with the files asked for is said before any time is spent."""
    if out == plot == STANDARD:
        raise FormatError("standard output takes the topology or the picture, not both")
    if list(inputs).count(STANDARD) > 1:
        raise FormatError("standard input can be read once only: one file may be -, not two")
    if out is not None:
        check_topology_path(out)
        check_writable(out)
    if plot is not None:
        from manetdiff.pictures import check_picture_path

        check_picture_path(plot)
        check_writable(plot)


def check_size(file: str, fleet: Fleet) -> None:
    """Say which file has more nodes than can be computed with."""
    if len(fleet) > MOST_NODES:
        raise FormatError(f"{file}: has {len(fleet)} nodes; rates can be computed for up to {MOST_NODES}")


def deliver(
    topology: Topology,
    out: str | None,
    plot: str | None,
    *,
    as_json: bool,
    dark: bool = False,
    more: Sequence[tuple[str, str]] = (),
    beside: Callable[[], None] = lambda: None,
    explanation: Explanation | None = None,
) -> None:
    """Write, draw and print what was asked for. more: rows under the metrics. beside: writes what else there is; the
    files come into place together. explanation: of what has changed."""
    layout = topology.on()
    scores = metrics(topology)
    with together():
        beside()
        if out is not None:
            write_topology(topology, None, None, out)
        if plot is not None:
            # Imported here: matplotlib takes as long to load as a whole solve takes, and most calls draw nothing.
            from manetdiff.pictures import draw_topology

            draw_topology(topology, path=plot, dark=dark)
    # Standard output belongs to the file that was asked for there.
    stream = sys.stderr if STANDARD in (out, plot) else sys.stdout
    if as_json:
        told = {"nodes": len(layout), "metrics": scores, "report": topology.report.to_dict()}
        print_json(told if explanation is None else {**told, "explanation": explanation.to_dict()}, stream)
        return
    print_table(Table(f"{len(layout)} nodes", ("", ""), [*metric_rows(topology), *more]), stream)
    if explanation is not None:
        print("\n".join(map(escaped, explanation.lines())) or "Nothing has changed.", file=stream)


def metric_rows(topology: Topology) -> list[tuple[str, str]]:
    """Name and value of each metric as people read them."""
    scores = metrics(topology)
    shown = {name: MEASURES[name].text_of_one(value) for name, value in scores.items()}
    metres = scores["mean_length"] * topology.on().unit
    shown["mean_length"] += f" ({metres:,.0f} m)" if metres >= 10 else f" ({metres:.3g} m)"
    return [(MEASURES[name].label, text) for name, text in shown.items()]


def milliseconds(report: Report) -> str:
    """The time of each stage, and of all."""
    spent = {**report.stages, "total": report.seconds}
    return ", ".join(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in spent.items())
