"""Whether the reference finds what the enumeration of all topologies finds, on fleets of six nodes under ten radios.

    python scripts/check_exact.py                # 200 layouts of each radio, two minutes on one core
    python scripts/check_exact.py --moves 200000 --radios "two sectors"

Equal means: as many components, and T to nine digits. Exit code 1 if one layout is not equal.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from typing import NamedTuple

import numpy as np

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.solvers import solve
from manetdiff.topology.parts import unwarned_of_parts

NODES = 6
SPACING = 5_000.0
HEIGHTS = (0.0, 6_000.0)
TOLERANCE = 1e-9

CONE = Radio(unit=10_000.0)
BEAM = Radio.from_link_budget(
    frequency=5.8e9, bandwidth=40e6, power=0.25, gain=16.0, noise_figure=6.0, range=5 * SPACING
)


class Case(NamedTuple):
    """A radio, and what the fleets under it have besides."""

    radio: Radio
    blocked: bool = False
    heights: bool = False


CASES = {
    "default": Case(CONE),
    "two sectors": Case(dataclasses.replace(CONE, sectors=2, theta_max=math.pi / 5)),
    "three sectors, wide": Case(dataclasses.replace(CONE, sectors=3, theta_max=math.pi / 3, sigma2=0.05)),
    "six sectors, turned, blocked": Case(dataclasses.replace(CONE, sectors=6, boresight=math.pi / 6), blocked=True),
    "eight sectors, narrow": Case(dataclasses.replace(CONE, sectors=8, theta_max=math.pi / 20, alpha=0.0)),
    "heard all around": Case(dataclasses.replace(CONE, reception="omni", theta_max=math.pi / 12, sigma2=0.2)),
    "ceiling, hardly any noise": Case(dataclasses.replace(CONE, sigma2=0.01, ceiling=4.0, sectors=5), heights=True),
    "least SNR, blocked": Case(dataclasses.replace(CONE, min_snr=3.0, sigma2=0.1), blocked=True),
    "beams, in height": Case(BEAM, heights=True),
    "beams, six sectors, blocked": Case(
        dataclasses.replace(BEAM, sectors=6, boresight=0.2, ceiling=8.0, min_snr=0.0), blocked=True, heights=True
    ),
}


class Compared(NamedTuple):
    """Components and T by enumeration, and by the reference."""

    exact: tuple[int, float]
    reference: tuple[int, float]

    @property
    def equal(self) -> bool:
        """Whether the reference is as good."""
        (parts, total), (found_parts, found) = self
        return parts == found_parts and abs(found - total) <= TOLERANCE * total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--radios", nargs="*", default=list(CASES), choices=list(CASES), metavar="NAME")
    parser.add_argument("--layouts", type=int, default=200, help="of each radio")
    parser.add_argument("--first", type=int, default=0, help="number of the first layout")
    parser.add_argument("--moves", type=int, default=50_000)
    asked = parser.parse_args()
    print(f"{NODES} nodes, {asked.moves} moves: radio, sectors, layouts, equal, T lost at most, in parts")
    unequal = 0
    for name in asked.radios:
        seeds = range(asked.first, asked.first + asked.layouts)
        rows = [compare(layout_of(name, seed), asked.moves, seed) for seed in seeds]
        equal = sum(row.equal for row in rows)
        lost = max(1 - row.reference[1] / row.exact[1] for row in rows)
        parted = sum(row.exact[0] > 1 for row in rows)
        unequal += len(rows) - equal
        print(f"{name:30} {CASES[name].radio.sectors} {len(rows):4} {equal:4} {lost:.1e} {parted:3}", flush=True)
        for seed, row in zip(seeds, rows, strict=True):
            if not row.equal:
                print(f"  layout {seed}: exact {row.exact}, reference {row.reference}", flush=True)
    sys.exit(unequal > 0)


def layout_of(name: str, seed: int) -> Layout:
    """A layout under a radio: any family, and what the fleets under that radio have."""
    radio, blocked, heights = CASES[name]
    rng = np.random.default_rng((list(CASES).index(name), seed))
    family = FAMILIES[seed % len(FAMILIES)]
    assert radio.unit is not None
    within = radio.range * radio.unit
    fleet = draw(family, NODES, rng, spacing=SPACING, within=within, heights=HEIGHTS if heights else None)
    return Layout(partly_blocked(fleet, rng) if blocked else fleet, radio)


def partly_blocked(fleet: Fleet, rng: np.random.Generator) -> Fleet:
    """The fleet with an arc of up to a third of a turn without an antenna on every other node."""
    arcs = [[(start, start + width)] for start, width in rng.uniform((-3, 0.2), (3, 2.1), (len(fleet), 2))]
    return Fleet(fleet.positions, fleet.yaw, blocked=[arc if k % 2 else [] for k, arc in enumerate(arcs)])


def compare(layout: Layout, moves: int, seed: int) -> Compared:
    """A layout solved both ways."""
    with unwarned_of_parts():
        exact, reference = solve(layout, method="exact"), solve(layout, moves=moves, seed=seed)
    return Compared(*((int(one.report.components), float(one.report.throughput)) for one in (exact, reference)))


if __name__ == "__main__":
    main()
