"""What updates are worth, radio by radio: fleets that are in no benchmark set, solved, moved and updated.

Beside each update: the old links untouched; the old links corrected, and also polished in the time that the update
took; and a topology made anew. Each with T, over that of a search for the moved fleet of 1,000 moves a node, with
continuity and time of the processor. 'At that continuity' is the T that correct + polish has on average where it keeps
as much as the update: in between what it has in all of the update's time, half or a quarter of it, and none. An update
is behind where one of these has more T and no less continuity.

    python scripts/updates_by_radio.py --out docs/results/updates.md
    python scripts/updates_by_radio.py --radios cone --nodes 128 --fleets 4 --modes auto minor standard
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

import manetdiff as md
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.settings import Settings
from manetdiff.runtime.partial import Mode
from manetdiff.scenarios import move_by

SEED = 1_618
SEARCH = 1_000
# Of the update's time, what correct + polish gets.
SHARES = (0.0, 0.25, 0.5, 1.0)
# Moves a node by which the pace of a polish is found.
PACE = 100
# Of T and of continuity, what counts as nothing.
NOTHING = 1e-9
# In fleets as they are drawn, whose spacing is that of aircraft.
PLAIN = {"5GHz-20MHz-2W-18dBi": md.Radio.from_link_budget(5e9, 20e6, 2.0, 18.0, 5.0)}


HEAD = """# Updates, radio by radio

By `python scripts/updates_by_radio.py --out docs/results/updates.md`, on one core. Fleets that are in no benchmark set
are solved, moved by so many of their spreads, and updated. Every cell has T as a share of that of a search for the
moved fleet (1,000 moves a node), continuity with the old links, and processor time.

- **untouched**: the old links as they are. **corrected**: the old links corrected; **+ polished**: and polished, in the
  time that the update took. **anew**: a topology by the preset `balanced`, without regard to the old links.
- **at that continuity**: T that correct + polish has where it keeps as many links as the update, in between what it has
  in all of the update's time, in half or a quarter of it, and in none.
- **behind**: fleets in which one of these had more T and no less continuity than the update.
"""


class Scored(NamedTuple):
    """t: share of a search's T. continuity: with the old links. seconds: of the processor."""

    t: float
    continuity: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*BENCHMARK_RADIOS, *PLAIN]
    parser.add_argument("--radios", nargs="+", choices=known, default=known)
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 128])
    parser.add_argument("--fleets", type=int, default=16, help="of 20 nodes; of more, fewer in proportion, but two")
    parser.add_argument("--movements", type=float, nargs="+", default=[0.0, 0.05, 0.2, 0.4])
    parser.add_argument("--modes", nargs="+", choices=get_args(Mode), default=["auto"])
    parser.add_argument("--weights", default=None)
    parser.add_argument("--out", type=Path, help="write the page here, too")
    asked = parser.parse_args()
    model = md.load(*([asked.weights] if asked.weights else []))
    for case in cases(asked.radios[0], 20, 1, [0.1])[0.1]:
        trial(model, *case, mode="auto", seed=0)  # what is loaded once in a process is no part of the times
    lines = [
        "| radio, nodes | moved | update | at that continuity | untouched | corrected | + polished | anew | behind |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    print("\n".join(lines))
    for nodes, name in itertools.product(asked.nodes, asked.radios):
        count = max(2, asked.fleets * 20 // max(20, nodes))
        for movement, moved in cases(name, nodes, count, asked.movements).items():
            for mode in asked.modes if movement else asked.modes[:1]:
                rows = [trial(model, *case, mode=mode, seed=k) for k, case in enumerate(moved)]
                what = f"{name}, {nodes}" + ("" if mode == "auto" else f", {mode}")
                lines.append(told(what, movement, rows))
                print(lines[-1], flush=True)
        if asked.out:
            asked.out.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")


def cases(
    name: str, nodes: int, count: int, movements: Sequence[float]
) -> dict[float, list[tuple[md.Topology, md.Fleet, float]]]:
    """By movement: solved topologies, their fleets after it, and T of a search for these."""
    radios = {"radio": PLAIN[name]} if name in PLAIN else {"radio": {name: BENCHMARK_RADIOS[name]}}
    settings = Settings(nodes=(nodes,), count=count, seed=SEED, moves_a_node=1, **radios)
    made: dict[float, list[tuple[md.Topology, md.Fleet, float]]] = {movement: [] for movement in movements}
    for k in range(count):
        layout = draw_layouts(settings, k)[0].layout
        old = md.solve(layout, moves=SEARCH * nodes, seed=k)
        for movement in movements:
            moved, target = layout.fleet, old
            if movement:
                moved = move_by(layout.fleet, movement, np.random.default_rng(k))
                target = md.solve(moved, layout.radio, moves=SEARCH * nodes, seed=k)
            made[movement].append((old, moved, md.metrics(target)["throughput"]))
    return made


def trial(model: md.Model, old: md.Topology, moved: md.Fleet, target: float, *, mode: Mode, seed: int) -> list[Scored]:
    """The update, the old links untouched, corrected and polished by each of SHARES, and a topology made anew."""
    radio = old.on().radio

    def scored(make: Callable[[], md.Topology]) -> Scored:
        began = time.process_time()
        made = make()
        seconds = time.process_time() - began
        return Scored(md.metrics(made, moved, radio)["throughput"] / target, md.continuity(old, made), seconds)

    def repaired(moves: float) -> md.Topology:
        corrected = md.correct(old, moved, radio, flip_parts=True)
        return md.polish(corrected, moves=int(moves), seed=seed) if moves >= 1 else corrected

    update = scored(lambda: model.update(old, moved, mode=mode, seed=seed))
    none, some = scored(lambda: repaired(1)), scored(lambda: repaired(PACE * len(moved)))
    pace = max(some.seconds - none.seconds, 1e-9) / (PACE * len(moved))
    shares = [scored(lambda: repaired((share * update.seconds - none.seconds) / pace)) for share in SHARES]  # noqa: B023
    return [update, scored(lambda: old), *shares, scored(lambda: model.update(old, moved, mode="anew", seed=seed))]


def told(what: str, movement: float, rows: list[list[Scored]]) -> str:
    """A row of the table."""
    means = [Scored(*np.mean([row[k] for row in rows], axis=0)) for k in range(len(rows[0]))]
    update, untouched, *repaired, anew = means
    in_order = sorted(repaired, key=lambda one: one.continuity)
    level = np.interp(update.continuity, [one.continuity for one in in_order], [one.t for one in in_order])
    behind = sum(any(_ahead(other, row[0]) for other in row[2:-1]) for row in rows)
    cells = [what, f"{movement:g}", _cell(update), f"{level:.1%}"]
    cells += [_cell(one) for one in (untouched, repaired[0], repaired[-1], anew)]
    return f"| {' | '.join(cells)} | {behind} of {len(rows)} |"


def _cell(one: Scored) -> str:
    return f"{one.t:.1%}, {one.continuity:.0%}, {1e3 * one.seconds:.1f} ms"


def _ahead(one: Scored, other: Scored) -> bool:
    return one.t > other.t + NOTHING and one.continuity >= other.continuity - NOTHING


if __name__ == "__main__":
    main()
