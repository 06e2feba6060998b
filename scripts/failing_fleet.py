"""A large fleet in flight whose nodes join, leave and fail: what is delivered, and how it is repaired.

Every minute so many of a hundred nodes join, leave (the update knows that they are gone) or fail (they vanish between
two updates, and their links carry nothing until the next one). After each update: is every rule kept, how many links
were changed, and how many had to be, because a node of theirs is gone. Beside it the same flight by correction alone,
which changes the fewest links, and made anew.

    python scripts/failing_fleet.py
    python scripts/failing_fleet.py --nodes 32 --minutes 10 --rate 10
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import manetdiff as md
from manetdiff.scenarios import draw, move
from manetdiff.topology import carried_over, unwarned_of_parts

STEP = 4.0
SEED = 31


class Present(NamedTuple):
    """A moment. failed: ids of nodes that vanish before the next one."""

    time: float
    fleet: md.Fleet
    failed: frozenset[str]


def main() -> None:
    """Fly it in three ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=128)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--rate", type=float, default=5.0, help="of 100 nodes that join, leave or fail in a minute")
    parser.add_argument("--setup", type=float, default=2.0, help="seconds until a new link carries anything")
    asked = parser.parse_args()
    moments = flown(asked.nodes, asked.minutes * 60, asked.rate / 100)
    sizes = [len(one.fleet) for one in moments]
    print(
        f"{len(moments)} moments, {min(sizes)} to {max(sizes)} nodes, "
        f"{sum(len(one.failed) for one in moments)} failures"
    )
    model = md.load()

    def update(old: md.Topology, fleet: md.Fleet) -> md.Topology:
        ahead = [md.predicted(old.on().fleet, fleet, STEP)]
        return model.update(old, fleet, setup=asked.setup, elapsed=STEP, ahead=ahead)

    ways: dict[str, Callable[[md.Topology, md.Fleet], md.Topology]] = {
        "update": update,
        "corrected": lambda old, fleet: md.correct(
            carried_over(old, md.Layout(fleet, old.on().radio)), flip_parts=True
        ),
        "anew (instant)": lambda old, fleet: model.generate(fleet, radio=old.on().radio, preset="instant"),
    }
    first = model.generate(moments[0].fleet, preset="careful")
    print("| way | valid | T | delivered | changed an update | of them forced | ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, way in ways.items():
        print(f"| {name} | {' | '.join(followed(moments, first, way, asked.setup))} |", flush=True)


def flown(nodes: int, seconds: float, rate: float) -> list[Present]:
    """A flight of more nodes than are there at any time, of which some come later and some go sooner."""
    rng = np.random.default_rng(SEED)
    spare = max(2, round(nodes * rate * seconds / 60))
    path = move(draw("mixed", nodes + spare, rng), "gauss-markov", rng, duration=seconds, step=STEP)
    there = np.zeros(nodes + spare, dtype=np.bool_)
    there[rng.permutation(nodes + spare)[:nodes]] = True
    moments = []
    for k, fleet in enumerate(path):
        present = np.flatnonzero(there)
        gone = present[rng.random(len(present)) < 2 / 3 * rate * STEP / 60]
        failed = gone[rng.random(len(gone)) < 0.5]
        moments.append(Present(k * STEP, fleet.part(present), frozenset(fleet.ids[i] for i in failed)))
        there[gone] = False
        absent = np.flatnonzero(~there)
        there[absent[rng.random(len(absent)) < rate / 3 * nodes * STEP / 60 / max(1, len(absent))]] = True
    return moments


def followed(
    moments: Sequence[Present],
    first: md.Topology,
    way: Callable[[md.Topology, md.Fleet], md.Topology],
    setup: float,
) -> list[str]:
    """Cells of a row."""
    made, spent, valid, changed, forced, carried = [first], [], [], [], [], []
    for one in moments[1:]:
        old = made[-1]
        with unwarned_of_parts():
            began = time.process_time()
            new = way(old, one.fleet)
        spent.append(time.process_time() - began)
        made.append(new)
        scores = md.metrics(new)
        valid.append(scores["valid"])
        carried.append(scores["throughput"])
        before, after = (_names(topology) for topology in (old, new))
        here = set(one.fleet.ids)
        changed.append(len(before ^ after))
        forced.append(sum(not (a in here and b in here) for a, b in before))
    # Who fails takes its links along at once; who leaves, at the update that knows it.
    over_time = [(one.time, _without(top, one.failed)) for one, top in zip(moments, made, strict=True)]
    cells = [f"{np.mean(valid):.1%}", f"{np.mean(carried):.1f}", f"{md.delivered(over_time, setup):.1f}"]
    return [*cells, f"{np.mean(changed):.1f}", f"{np.mean(forced):.1f}", f"{1e3 * np.mean(spent):.0f}"]


def _names(topology: md.Topology) -> set[tuple[str, str]]:
    ids = topology.on().fleet.ids
    return {(min(ids[i], ids[j]), max(ids[i], ids[j])) for i, j in topology.links.tolist()}


def _without(topology: md.Topology, failed: frozenset[str]) -> md.Topology:
    """Without the links of nodes that fail meanwhile."""
    ids = topology.on().fleet.ids
    stays = [ids[i] not in failed and ids[j] not in failed for i, j in topology.links.tolist()]
    return md.Topology(topology.links[stays], topology.parity, layout=topology.layout)


if __name__ == "__main__":
    main()
