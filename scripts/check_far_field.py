"""How far from the exact sum the interference is that a search of a large fleet holds, and whether the bound holds.

    python scripts/check_far_field.py                  # until 100,000 receptions were checked, some minutes
    python scripts/check_far_field.py --checks 2000

Fleets of 65 to 300 nodes under random radios are searched so hot that nearly every move is made. What is held at each
receiver is compared with the sum over all transmitters: right after a look afar, and after moves without one, where it
may be off by what all far nodes together could send at most. Exit code 1 if one is off by more.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout
from manetdiff.layout.tables import ANTENNA, OWNER
from manetdiff.radio import draw_spacing
from manetdiff.radio.pairs import EVERY_PAIR, HEARS, HEARS_SECTOR
from manetdiff.radio.rates import link_interference
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.state import NOISE
from manetdiff.solvers.workbench import Workbench

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LARGEST = 300
KINDS = ("cone", "cone, heard all around", "beam", "beam, heard all around")
# Times that a topology is changed without a look, by so many moves a node each time.
ROUNDS, MOVES_A_NODE = 4, 2
# Of any unit: every move is as good as another.
HOT = 1e6
# Of what near nodes send, added and taken away again and again; relative to all that a receiver hears, noise too.
ROUNDING = 1e-12


class Checked(NamedTuple):
    """Of some receptions, (m,) each: interference as held and as it is, the noise of the radio, and the bound."""

    held: FloatArray
    exact: FloatArray
    sigma2: FloatArray
    bound: FloatArray

    @property
    def error(self) -> FloatArray:
        """How far off what is held is."""
        return np.abs(self.held - self.exact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=100_000, help="receptions after moves without a look, at least")
    asked = parser.parse_args()
    looked: dict[str, list[Checked]] = {kind: [] for kind in KINDS}
    moved: dict[str, list[Checked]] = {kind: [] for kind in KINDS}
    count = seed = 0
    while count < asked.checks:
        kind = KINDS[seed % len(KINDS)]
        first, *later = check(draw_layout(kind, seed), seed)
        looked[kind].append(first)
        moved[kind] += later
        count += sum(len(one.held) for one in later)
        seed += 1
    print(f"{seed} fleets, {count} receptions after moves without a look")
    above = 0
    for kind in KINDS:
        after, between = together(looked[kind]), together(moved[kind])
        heard = after.exact > 0
        relative = (after.error[heard] / after.exact[heard]).max(initial=0.0)
        of_noise = (after.error / (after.sigma2 + after.exact)).max(initial=0.0)
        outside = between.error > between.bound + ROUNDING * (between.sigma2 + between.exact)
        far = between.bound > 0
        used = (between.error[far] / between.bound[far]).max(initial=0.0)
        drift = np.median(between.error / (between.sigma2 + between.exact))
        above += int(outside.sum())
        print(
            f"{kind:24} after a look: {len(after.held):6}, off by {relative:.1e} of the sum and {of_noise:.1e} of sum "
            f"and noise at most; without: {len(between.held):6}, {int(outside.sum())} outside the bound, at most "
            f"{used:.3f} of it; median {drift:.1e} of sum and noise"
        )
    sys.exit(above > 0)


def together(parts: list[Checked]) -> Checked:
    """Some as one."""
    return Checked(*(np.concatenate([np.empty(0), *columns]) for columns in zip(*parts, strict=True)))


def draw_layout(kind: str, seed: int, largest: int = LARGEST) -> Layout:
    """Scattered nodes under a random radio of a kind; every other fleet in height, every third with blocked arcs."""
    rng = np.random.default_rng((15, seed))
    n = int(rng.integers(EVERY_PAIR + 1, largest + 1))
    spacing = draw_spacing(rng)
    radio = Radio.draw(rng, spacing=spacing)
    beams = kind.startswith("beam")
    width = radio.beamwidth or 2 * min(radio.theta_max, np.pi / 2)
    radio = dataclasses.replace(
        radio,
        pattern="parabolic" if beams else "cone",
        beamwidth=width if beams else None,
        reception="omni" if kind.endswith("all around") else "sectored",
    )
    axes = 2 + int(rng.integers(2))
    flat = rng.uniform(0.0, 1.6 * spacing * np.sqrt(n), (n, 2))
    positions = np.hstack([flat, rng.uniform(0.0, spacing, (n, axes - 2))])
    arcs = [[(start, start + 0.8)] if k % 2 else [] for k, start in enumerate(rng.uniform(-3, 3, n))]
    return Layout(Fleet(positions, rng.uniform(-3, 3, n), blocked=arcs if rng.uniform() < 1 / 3 else None), radio)


def check(layout: Layout, seed: int) -> list[Checked]:
    """What is held and what is right: after a look, then after rounds of moves without one."""
    n = len(layout)
    bench = Workbench(layout)
    rng = np.random.default_rng((16, seed))
    bench.put(np.empty((0, 2), dtype=np.int64), rng.integers(0, 2, n))
    stream = seeded(seed, 0)
    heat = bench.scale * HOT
    bench.anneal(stream, 10 * n, heat, heat, 2, bench.scale)
    bench.look_afar()
    most = most_from_afar(layout)
    found = [compare(bench, most)]
    for _ in range(ROUNDS):
        bench.anneal(stream, MOVES_A_NODE * n, heat, heat, 2, bench.scale)
        found.append(compare(bench, most))
    return found


def compare(bench: Workbench, most: FloatArray) -> Checked:
    """What the receivers of all links hear. most: (p,) bound at each slot."""
    links = bench.links
    exact = link_interference(bench.layout.placement, links, bench.parity)
    # What goes from the first node to the second is received at the second one's slot.
    slots = np.stack([bench.slots(links[:, ::-1]), bench.slots(links)], axis=1)
    held = bench.state.floats[NOISE, slots]
    sigma2 = np.full(held.size, bench.layout.radio.sigma2)
    return Checked(held.ravel(), exact.ravel(), sigma2, most[slots].ravel())


def most_from_afar(layout: Layout) -> FloatArray:
    """(p,) the bound: what each slot's owner would hear if every node that it does not follow sent at full power, over
    each of its antennas, straight at it; where the receiver hears one sector, of those that stand in it."""
    place, tables, n = layout.placement, layout.tables, len(layout)
    sectors = layout.radio.sectors
    followed = np.zeros((n, n), dtype=np.bool_)
    followed[layout.choice.first, layout.choice.second] = True
    np.fill_diagonal(followed, True)
    nodes = np.arange(n)
    values = place.pairs(nodes[:, None], nodes)
    power = np.where(followed, 0.0, values.fade) * layout.radio.p_max * sectors
    antenna, owner = tables.ints[ANTENNA], tables.ints[OWNER]
    if place.constants[HEARS] != HEARS_SECTOR:
        return np.asarray(power.sum(axis=1)[owner])
    in_sector = np.zeros((n, sectors))
    np.add.at(in_sector, (nodes[:, None], values.sector), power)
    return np.asarray(in_sector[owner, antenna % sectors])


if __name__ == "__main__":
    main()
