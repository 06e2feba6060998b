"""What the network is worth: every preset at every size against searches, and against the same local search from priors
without a network, in the time that the preset takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from manetdiff.errors import ModelError
from manetdiff.evaluate.over_time import PRESET, Point
from manetdiff.evaluate.scaling import SIZES, exponent
from manetdiff.measure.resampling import bootstrap
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.spaced import spaced_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.priors import searched
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import solved
from manetdiff.runtime.presets import PRESETS

# Layouts of fleets of up to so many nodes.
LAYOUTS = ((32, 200), (128, 40), (256, 12), (1_024, 4))
# From here on the time is said to grow as a power of the nodes.
FITTED_FROM = 64
# Of T, what the order of sums makes of the same links: no lead.
ROUNDING = 1e-9
# A folder of solved layouts among the kept rows.
SOLVED = "solved"

Peer = Callable[[RowStore, LayoutSet, float], Rows]
# The peer that takes the time that it takes.
CONSTRUCTED = "mst-greedy"
# By the names that pictures know.
PEERS: dict[str, Peer] = {
    "reference": lambda store, layouts, seconds: solved(store, "reference", layouts, seconds=seconds),
    "annealing": lambda store, layouts, seconds: solved(store, "annealing", layouts, seconds=seconds),
    CONSTRUCTED: lambda store, layouts, seconds: solved(store, CONSTRUCTED, layouts),
    "mst-greedy + search": lambda store, layouts, seconds: searched(store, "MST+greedy", layouts, seconds=seconds),
    "nearest + search": lambda store, layouts, seconds: searched(store, "nearest in sector", layouts, seconds=seconds),
}


@dataclass(frozen=True)
class Lead:
    """By how much T / target is ahead of another's, the mean over the layouts, and what holds it with 95 % confidence;
    below 0 where it is behind."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: Rows, theirs: Rows) -> Lead:
        """Layout by layout, so that what makes a layout hard for both is no part of the doubt."""
        return cls(*bootstrap(ours.ratios - theirs.ratios))

    @property
    def verdict(self) -> str:
        """Ahead or behind only where the whole interval is."""
        return "ahead" if self.low > ROUNDING else "behind" if self.high < -ROUNDING else "level"


@dataclass(frozen=True)
class Match:
    """A preset and its peers, by name, on the same layouts of one size, each in the mean time that the preset took."""

    nodes: int
    preset: str
    rows: Rows
    peers: dict[str, Rows]

    @property
    def seconds(self) -> float:
        """Processor time of the preset a layout."""
        return processor_seconds(self.rows)

    @property
    def leads(self) -> dict[str, Lead]:
        """Of the preset over each peer."""
        return {name: Lead.of(self.rows, rows) for name, rows in self.peers.items()}

    @property
    def verdict(self) -> str:
        """Ahead, if it is so of all; else the peers that it is behind, or those that it is level with."""
        leads = self.leads
        for word, preposition in (("behind", ""), ("level", "with ")):
            those = [name for name, lead in leads.items() if lead.verdict == word]
            if those:
                return f"{word} {preposition}{', '.join(those)}"
        return "ahead"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        leads = self.leads
        peers = {name: {**told(rows), "lead": vars(leads[name])} for name, rows in self.peers.items()}
        return {"nodes": self.nodes, "preset": self.preset, **told(self.rows), "peers": peers, "verdict": self.verdict}


def matches(
    store: RowStore,
    sizes: Sequence[int] = SIZES,
    layouts: int | None = None,
    presets: Sequence[str] = tuple(PRESETS),
) -> list[Match]:
    """Of all presets and sizes, smallest first. layouts: at most so many of a size, instead of LAYOUTS."""
    for preset in presets:
        if preset not in PRESETS:
            raise ModelError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    folder = None if store.folder is None else store.folder / SOLVED
    found = []
    for nodes in sorted(sizes):
        chosen = spaced_set(nodes, folder).first(layouts or layouts_of(nodes))
        for preset in presets:
            rows = generated(store, chosen, preset=preset)
            budget = clock_seconds(rows)
            peers = {name: peer(store, chosen, budget) for name, peer in PEERS.items()}
            found.append(Match(nodes, preset, rows, peers))
    return found


def layouts_of(nodes: int) -> int:
    """How many of a size are measured, unless others are asked for."""
    return next((count for most, count in LAYOUTS if nodes <= most), LAYOUTS[-1][1])


def time_exponents(found: Sequence[Match]) -> dict[str, float | None]:
    """By preset: e of a time that grows as nodes ** e from FITTED_FROM nodes on; None of fewer than three sizes."""
    names = dict.fromkeys(one.preset for one in found)
    return {
        name: exponent([one for one in found if one.preset == name], lambda one: one.seconds, above=FITTED_FROM - 1)
        for name in names
    }


def points_of(found: Sequence[Match]) -> list[Point]:
    """The same as points over time, for a picture."""
    points = {}
    for one in found:
        for method, rows in {PRESET: one.rows, **one.peers}.items():
            means = rows.means(("connected", "valid"))
            ratio = float(rows.ratios.mean())
            point = Point(method, one.preset, one.nodes, None, processor_seconds(rows), ratio, **means)
            # A construction is one point, whatever preset it is beside.
            points[method, one.nodes, point.seconds] = point
    return list(points.values())


def clock_seconds(rows: Rows) -> float:
    """Mean time a layout by the clock, which is what a peer's budget is measured by: on a machine that is shared, its
    processor time is then as much less as the preset's was."""
    return rows.mean("milliseconds") / 1e3


def processor_seconds(rows: Rows) -> float:
    """Mean processor time a layout."""
    return rows.mean("processor_milliseconds") / 1e3


def told(rows: Rows) -> dict[str, Any]:
    """The means of rows, JSON-ready, T / target with its interval."""
    ratio, low, high = bootstrap(rows.ratios)
    return {
        "layouts": rows.layouts,
        "seconds": clock_seconds(rows),
        "processor_seconds": processor_seconds(rows),
        "ratio": ratio,
        "ratio_interval": [low, high],
        **rows.means(("connected", "valid")),
    }
