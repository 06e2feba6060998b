"""`manetdiff demo`: a topology generated for a formation and updated as it moves, with the numbers and a picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from manetdiff.cli.folders import folder_for
from manetdiff.cli.output import Table, print_table
from manetdiff.errors import ScenarioError
from manetdiff.files import together
from manetdiff.fleet import Fleet
from manetdiff.formats import write_fleet, write_topology
from manetdiff.measure.measures import MEASURES, seconds_text
from manetdiff.radio import Radio
from manetdiff.runtime.model import MOST, load
from manetdiff.scenarios import draw, move_by
from manetdiff.solvers import solve
from manetdiff.topology import Topology, continuity, kept, metrics
from manetdiff.wording import share_text

FORMATION = "wedge"
MOTION = "gauss-markov"
DISPLACEMENT = 0.3
MOVES_A_NODE, MOST_MOVES = 3000, 100_000  # the cap keeps large fleets within half a minute
FEWEST_NODES = 3  # two aircraft are always 2√2 spreads apart, beyond the range of the default radio
MOST_NODES = MOST["sparse"]
FILES = ("fleet.json", "topology.json", "moved.json", "topology.png")


@dataclass(frozen=True)
class _Shown:
    """One column of the table: a topology on a layout; before: what it is compared with, where it follows another."""

    name: str
    topology: Topology
    fleet: Fleet
    seconds: float | None
    before: Topology | None = None


def command(
    out: Annotated[str, typer.Option(help="Folder for the files; made if it is not there.", metavar="FOLDER")] = "demo",
    seed: Annotated[
        int, typer.Option(help="Seed of the formation, its motion and the search.", min=0, max=2**63 - 1)
    ] = 0,
    nodes: Annotated[int, typer.Option(help=f"Aircraft in the formation, {FEWEST_NODES} to {MOST_NODES:,}.")] = 16,
) -> None:
    """Generate the topology of a formation, let it fly on, update it, and show what changed, beside the search.

    \b
    Examples:
      manetdiff demo
      manetdiff demo --nodes 32 --seed 7 --out /tmp/demo
    """
    if not FEWEST_NODES <= nodes <= MOST_NODES:
        raise ScenarioError(f"the demo flies {FEWEST_NODES} to {MOST_NODES:,} nodes, not {nodes:,}")
    radio = Radio()
    rng = np.random.default_rng(seed)
    fleet = draw(FORMATION, nodes, rng)
    moved = move_by(fleet, DISPLACEMENT, rng, MOTION)
    folder = folder_for(out, FILES)

    model = load()
    model.generate(fleet)  # once for what is only done the first time
    before = _timed("before\nNetDiff", fleet, model.generate(fleet, seed=seed))
    model.update(before.topology, moved)
    after = _timed("after\nupdate", moved, model.update(before.topology, moved, seed=seed), before.topology)
    columns = [
        _solved("before\nmst-greedy", fleet, radio, seed, "mst-greedy"),
        _solved("before\nreference", fleet, radio, seed, "reference"),
        before,
        _Shown("after\nold links", before.topology, moved, None, before.topology),
        after,
        _timed("after\nanew", moved, model.generate(moved, seed=seed), before.topology),
    ]
    print_table(_table(f"{nodes} aircraft, before and after a displacement of {DISPLACEMENT}", columns, radio))
    with together():
        _write(folder, before, after, radio)
    shown = Path(out)
    print(f"Written: {', '.join(str(shown / name) for name in FILES)}")
    print(f"Look at {shown / 'topology.png'}, then try your own fleet:")
    print(f"  {_this_command()} generate {shown / 'fleet.json'} --out new.json --plot new.png")


def _this_command() -> str:
    """The command as it was called: it may not be on the path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "manetdiff" else "python -m manetdiff"


def _solved(name: str, fleet: Fleet, radio: Radio, seed: int, method: str) -> _Shown:
    topology = solve(fleet, radio, method, seed=seed, moves=min(MOVES_A_NODE * len(fleet), MOST_MOVES))
    return _timed(name, fleet, topology)


def _timed(name: str, fleet: Fleet, topology: Topology, before: Topology | None = None) -> _Shown:
    return _Shown(name, topology, fleet, topology.report.seconds, before)


def _table(title: str, columns: list[_Shown], radio: Radio) -> Table:
    scores = [metrics(column.topology, column.fleet, radio) for column in columns]
    shown = [MEASURES[name] for name in scores[0]]
    rows = [[one.label, *(one.text_of_one(score[one.metric]) for score in scores)] for one in shown]
    pairs = [(column.before, column.topology) for column in columns]
    rows.append(["old links kept", *("" if old is None else share_text(kept(old, new)) for old, new in pairs)])
    rows.append(["continuity", *("" if old is None else share_text(continuity(old, new)) for old, new in pairs)])
    rows.append(["time", *("" if column.seconds is None else seconds_text(column.seconds) for column in columns)])
    return Table(title, ["", *(column.name for column in columns)], rows)


def _write(folder: Path, before: _Shown, after: _Shown, radio: Radio) -> None:
    from manetdiff.pictures import draw_change  # imported late: matplotlib is slow to load

    write_fleet(before.fleet, folder / "fleet.json")
    write_topology(before.topology, before.fleet, radio, folder / "topology.json")
    write_topology(after.topology, after.fleet, radio, folder / "moved.json")
    draw_change(before.topology, after.topology, before.fleet, after.fleet, radio, folder / "topology.png")
