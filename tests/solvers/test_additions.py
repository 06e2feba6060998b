"""Links added one by one, the one that raises T most first, held against the same by scores from scratch."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Radio, Topology
from manetdiff.layout import Layout
from manetdiff.radio import link_rates
from manetdiff.solvers.additions import add_best
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import antenna_loads, component_labels
from support.pairs import linkable
from support.plans import any_layout, random_bench
from support.strategies import fleets, radios

IntArray = npt.NDArray[np.int64]
Link = tuple[int, int]


class Plainly:
    """A topology that links are added to, scored from scratch each time."""

    def __init__(self, bench: Workbench, joining: bool, share_antennas: bool) -> None:
        self.layout, self.parity = bench.layout, bench.parity
        self.links: list[Link] = [(int(i), int(j)) for i, j in bench.links]
        self.joining, self.share_antennas = joining, share_antennas
        possible = linkable(bench.layout.fleet, bench.layout.radio)
        self.pairs: list[Link] = [(int(i), int(j)) for i, j in np.argwhere(np.triu(possible))]

    def total(self, *more: Link) -> float:
        links = np.array([*self.links, *more], dtype=np.int64).reshape(-1, 2)
        return float(link_rates(self.layout.placement, links, self.parity).sum())

    def gain(self, pair: Link) -> float:
        return self.total(pair) - self.total()

    def admissible(self, pair: Link) -> bool:
        i, j = pair
        if self.parity[i] == self.parity[j] or pair in self.links:
            return False
        label = component_labels(np.array(self.links, dtype=np.int64).reshape(-1, 2), len(self.layout))
        if self.joining and label[i] == label[j]:
            return False
        sector = self.layout.placement.every_pair.sector
        loads = antenna_loads(Topology(self.links, self.parity), self.layout)
        return self.share_antennas or bool(loads[i, sector[i, j]] == loads[j, sector[j, i]] == 0)

    def add_lazily(self, least: float) -> None:
        """A gain is computed again when it is the largest that is known; where it still is, the link is added."""
        known = {pair: self.gain(pair) for pair in self.pairs if self.admissible(pair)}
        while known:
            best = max(known, key=lambda pair: known[pair])
            del known[best]
            if not self.admissible(best):
                continue
            gained = self.gain(best)
            if gained < max(known.values(), default=-math.inf):
                known[best] = gained
            elif gained > least:
                self.links.append(best)

    def add_greedily(self, least: float) -> None:
        """All gains are computed again after each link."""
        while known := {pair: self.gain(pair) for pair in self.pairs if self.admissible(pair)}:
            best = max(known, key=lambda pair: known[pair])
            if known[best] <= least:
                return
            self.links.append(best)


@given(st.data(), radios(), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_links_are_those_of_scores_from_scratch(
    data: st.DataObject, radio: Radio, joining: bool, share_antennas: bool, seed: int
) -> None:
    fleet = data.draw(fleets(largest=7, axes=data.draw(st.sampled_from([2, 3])), blocked=data.draw(st.booleans())))
    bench = random_bench(Layout(fleet, radio), np.random.default_rng(seed), 0.1)
    plain = Plainly(bench, joining, share_antennas)
    least = -math.inf if joining else 1e-9
    before = len(bench.links)
    plain.add_lazily(least)
    added = add_best(bench, least, joining=joining, share_antennas=share_antennas)
    assert bench.links.tolist() == sorted(map(list, plain.links))
    assert added == len(bench.links) - before
    assert bench.throughput == pytest.approx(plain.total(), rel=1e-9, abs=1e-9)


def test_where_no_link_disturbs_another_it_is_the_greedy_choice() -> None:
    """Gains then never change, and one that was computed before is as good as a new one."""
    for seed in range(10):
        bench = random_bench(
            any_layout(seed, 12, Radio(unit=1.0, range=9.0, theta_max=0.0)), np.random.default_rng(seed), 0.0
        )
        plain = Plainly(bench, joining=False, share_antennas=False)
        plain.add_greedily(1e-9)
        assert add_best(bench, 1e-9, joining=False) == len(plain.links) > 3
        assert bench.links.tolist() == sorted(map(list, plain.links))


def test_where_links_disturb_one_another_it_is_about_as_good() -> None:
    reached = []
    for seed in range(15):
        layout = any_layout(seed, 12, Radio(unit=1.0, range=9.0, sigma2=0.1))
        bench = random_bench(layout, np.random.default_rng(seed), 0.0)
        plain = Plainly(bench, joining=False, share_antennas=False)
        plain.add_greedily(1e-9)
        add_best(bench, 1e-9, joining=False)
        reached.append(bench.throughput / plain.total())
    assert np.mean(reached) > 0.99


def test_links_under_too_much_interference_are_not_added() -> None:
    layout = any_layout(3, 20, Radio(unit=1.0, range=9.0, theta_max=0.5))
    counts = []
    for tau in (0.0, 0.01, 0.1, np.inf):
        bench = random_bench(layout, np.random.default_rng(3), 0.0)
        counts.append(add_best(bench, -math.inf, joining=False, tau=tau))
    assert 0 < counts[0] < counts[-1]
    assert counts == sorted(counts)
