"""One large fleet on many cores: regions that cover it, and the same answer on any number of them."""

from __future__ import annotations

import numpy as np
import pytest

from manetdiff import DisconnectedWarning, Fleet, Radio, metrics, solve
from manetdiff.errors import SolverError
from manetdiff.solvers.regions import REGION, cut

RADIO = Radio(unit=1.0, range=4.0)


def spread_out(n: int, seed: int = 0) -> Fleet:
    rng = np.random.default_rng((seed, n))
    return Fleet(rng.uniform(0, np.sqrt(n), (n, 2)), rng.uniform(-3, 3, n))


@pytest.mark.parametrize("n", [2, REGION, 500, 1000])
def test_regions_hold_every_node_once_and_are_cut_elsewhere_each_time(n: int) -> None:
    positions = spread_out(n).positions
    cuts = [cut(positions, np.random.default_rng(seed)) for seed in range(3)]
    for regions in cuts:
        assert np.array_equal(np.sort(np.concatenate(regions)), np.arange(n))
        sizes = [len(nodes) for nodes in regions]
        assert max(sizes) <= 1.5 * REGION
        assert min(sizes) >= min(n, REGION // 2)
    if n > 1.5 * REGION:
        assert {tuple(nodes) for nodes in cuts[0]} != {tuple(nodes) for nodes in cuts[1]}


def test_the_answer_is_the_same_on_any_number_of_cores() -> None:
    fleet = spread_out(320)
    alone, together = (solve(fleet, RADIO, "regions", moves=40_000, seed=3, workers=workers) for workers in (1, 3))
    assert alone == together
    assert alone != solve(fleet, RADIO, "regions", moves=40_000, seed=4, workers=3)
    made = metrics(alone)
    assert made["connected"] == made["parity"] == 1
    assert made["throughput"] > metrics(solve(fleet, RADIO, "mst-greedy"))["throughput"]


@pytest.mark.filterwarnings("error")
def test_a_network_that_can_be_whole_stays_so() -> None:
    for seed in range(3):
        assert solve(spread_out(220, seed), RADIO, "regions", moves=20_000, seed=seed).report.components == 1


def test_of_two_fleets_far_apart_each_is_whole() -> None:
    fleet = spread_out(100)
    apart = Fleet(np.concatenate([fleet.positions, fleet.positions + 1e3]), np.concatenate([fleet.yaw, fleet.yaw]))
    with pytest.warns(DisconnectedWarning, match="in 2 parts"):
        made = solve(apart, RADIO, "regions", moves=20_000)
    assert made.report.components == 2


@pytest.mark.parametrize("workers", [0, -1, 2.5])
def test_workers_are_a_whole_number(workers: float) -> None:
    with pytest.raises(SolverError, match="workers must be a whole number from 1 to"):
        solve(spread_out(4), RADIO, "regions", workers=workers)  # type: ignore[arg-type]
