from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import METHODS, DisconnectedWarning, Fleet, Radio, Topology, greedy, metrics, solve
from manetdiff.errors import SolverError
from manetdiff.layout import Layout
from manetdiff.layout.tables import BY_DISTANCE
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.solvers.greedy_construction import greedy_links
from manetdiff.solvers.moves import descend, try_pair
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import antenna_loads, component_labels, out_of_range, same_parity
from support.pairs import every_pair, linkable
from support.strategies import fleets, radios

SEARCHES = {
    "reference": {"moves": 400},
    "regions": {"moves": 400, "workers": 2},
    "annealing": {"moves": 400},
    "cpsat": {"budget": 0.2},
}
GIVEN = {"exact", *SEARCHES, "greedy", "mst-greedy", "huang", "omni"}


def test_every_method_is_covered_here() -> None:
    assert set(METHODS) == GIVEN


def test_reference_equals_exact_on_six_nodes_of_all_families() -> None:
    rng = np.random.default_rng(6)
    equal = 0
    count = 110
    for k in range(count):
        fleet = draw(FAMILIES[k % len(FAMILIES)], 6, rng)
        best = metrics(solve(fleet, method="exact"), fleet)["throughput"]
        reached = metrics(solve(fleet, moves=20_000, seed=k), fleet)["throughput"]
        assert reached <= best + 1e-9
        equal += abs(best - reached) <= 1e-9
    assert equal >= 0.99 * count


@given(fleets(largest=5, blocked=True), radios(options=True))
@settings(max_examples=40)
def test_reference_equals_exact_under_any_radio(fleet: Fleet, radio: Radio) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        best, reached = (solve(fleet, radio, method, moves=moves) for method, moves in _EXACT_AND_REFERENCE)
    assert reached.report.components == best.report.components
    exact_total = metrics(best, fleet, radio)["throughput"]
    # Crowded antennas can pay under odd radios, and the reference seldom tries them.
    assert metrics(reached, fleet, radio)["throughput"] >= 0.98 * exact_total


_EXACT_AND_REFERENCE = (("exact", None), ("reference", 6000))


@given(st.data(), st.sampled_from(sorted(GIVEN - {"exact"})))
@settings(max_examples=60)
def test_every_method_keeps_parity_and_range_and_says_when_it_is_in_parts(data: st.DataObject, method: str) -> None:
    fleet = data.draw(fleets(largest=14, blocked=data.draw(st.booleans())))
    radio = data.draw(st.one_of(st.just(Radio()), radios(options=True)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        topology = solve(fleet, radio, method, **SEARCHES.get(method, {}))  # type: ignore[arg-type]
    layout = Layout(fleet, radio)
    assert not same_parity(topology).any()
    assert not out_of_range(topology, layout).any()
    assert layout.linkable(topology.links).all()
    parts = len(np.unique(component_labels(topology.links, len(fleet))))
    assert topology.report.components == parts
    assert (parts > 1) == any(issubclass(one.category, DisconnectedWarning) for one in caught)
    if method not in ("greedy", "omni", "huang"):
        possible = len(np.unique(component_labels(np.argwhere(linkable(fleet, radio)), len(fleet))))
        assert parts == possible


@pytest.mark.parametrize("method", ["reference", "annealing"])
def test_same_seed_and_moves_give_the_same_topology(method: str) -> None:
    fleet = draw("crossing", 16, np.random.default_rng(3))
    first = solve(fleet, method=method, moves=3000, seed=5)
    assert solve(fleet, method=method, moves=3000, seed=5) == first
    assert first.report.moves <= 3000


def test_a_larger_budget_pays_and_the_reference_beats_its_peers() -> None:
    rng = np.random.default_rng(11)
    layouts = [draw(family, 16, rng) for family in FAMILIES]

    def mean(**options: object) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedWarning)
            totals = [metrics(solve(fleet, **options), fleet)["throughput"] for fleet in layouts]  # type: ignore[arg-type]
        return float(np.mean(totals))

    long, short = mean(moves=20_000), mean(moves=500)
    assert long > short > mean(method="mst-greedy") > mean(method="greedy")
    assert long > mean(method="annealing", moves=20_000)
    assert long > mean(method="huang")


class Clock:
    """Runs on by a tenth of a millisecond whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-4
        return self.now


@pytest.mark.parametrize(
    ("method", "n", "budget"), [("reference", 16, 0.3), ("annealing", 16, 0.3), ("reference", 64, 0.01)]
)
def test_a_time_budget_is_kept(method: str, n: int, budget: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", Clock())
    topology = solve(draw("scatter", n, np.random.default_rng(1)), method=method, budget=budget)
    # It neither stops at once nor runs on: searches look at the clock every few moves.
    assert 0.8 * budget < topology.report.seconds < 1.2 * budget
    assert topology.report.moves > 0


def test_a_fleet_out_of_range_gets_the_best_forest_and_says_so() -> None:
    fleet = Fleet(np.array([[0, 0], [1, 0.1], [1000, 0], [1001, 0.2]]), np.zeros(4))
    for method in ("reference", "exact", "mst-greedy", "annealing"):
        with pytest.warns(DisconnectedWarning, match=r"in 2 parts: '2', '3' are out of range: .*100 m, and 1,000 m"):
            topology = solve(fleet, Radio(unit=1.0, range=100.0, sigma2=1e-3), method)
        assert topology.links.tolist() == [[0, 1], [2, 3]]
        assert topology.report.components == 2
        assert topology.report.parts is not None
        assert topology.report.parts.out_of_range == ("2", "3")


def test_a_range_that_nothing_can_cross_gives_no_links_and_no_nan() -> None:
    fleet = draw("wedge", 8, np.random.default_rng(0))
    for method in sorted(GIVEN):
        with pytest.warns(DisconnectedWarning, match="in 8 parts: .* and 4 more are out of range"):
            topology = solve(fleet, Radio(range=1e-6), method)
        assert len(topology.links) == 0
        assert all(math.isfinite(value) for value in metrics(topology, fleet).values())


def test_greedy_is_algorithm_1() -> None:
    fleet = draw("elements", 16, np.random.default_rng(2))
    layout = Layout(fleet)
    links, parity = greedy_links(layout)
    topology = Topology(links, parity)
    assert antenna_loads(topology, layout).max() == 1
    assert not same_parity(topology).any()
    # The shortest pair of all is always taken, and a threshold above every rate takes nothing.
    distance = np.where(linkable(fleet), every_pair(fleet).distance, np.inf)
    shortest = np.unravel_index(np.argmin(distance), distance.shape)
    assert sorted(shortest) in links.tolist()
    assert len(greedy_links(layout, tau=1e9)[0]) == 0
    assert len(greedy_links(layout, tau=2.0)[0]) < len(links)
    assert greedy(fleet, tau=2.0) == Topology(*greedy_links(layout, tau=2.0))
    with pytest.raises(SolverError, match="tau"):
        greedy(fleet, tau=math.nan)
    with pytest.raises(SolverError, match="16 entries of 0, 1 or -1"):
        greedy(fleet, parity=[2] * 16)
    # A parity that is given is kept.
    decided = np.array([0] * 8 + [-1] * 8)
    assert (greedy_links(layout, parity=decided)[1][:8] == 0).all()


@pytest.mark.parametrize("method", ["reference", "annealing"])
def test_the_bandwidth_changes_the_rates_and_not_the_search(method: str) -> None:
    fleet = draw("scatter", 16, np.random.default_rng(8))
    narrow, plain, wide = (
        solve(fleet, Radio(bandwidth=bandwidth), method, moves=2000) for bandwidth in (2.0**-6 * 1e6, 1e6, 16e6)
    )
    assert narrow == plain == wide


def test_the_omnidirectional_protocol_has_its_own_physics() -> None:
    fleet = draw("scatter", 12, np.random.default_rng(1))
    topology = solve(fleet, method="omni")
    own = metrics(topology, fleet, Radio().omnidirectional())["throughput"]
    assert own == metrics(topology)["throughput"] == metrics(topology, fleet)["throughput"]
    assert own < metrics(topology, fleet, Radio())["throughput"]


def test_large_and_tiny_fleets_are_solved() -> None:
    rng = np.random.default_rng(9)
    for n in (3, 64, 256):
        fleet = draw("mixed", n, rng)
        scored = metrics(solve(fleet, moves=500), fleet)
        assert scored["connected"] == 1 and scored["parity"] == 1
    pair = Fleet([[0, 0], [100, 0]], [0, 0])
    assert solve(pair, Radio(range=3.0)).links.tolist() == [[0, 1]]


def test_bad_requests_are_refused_by_name() -> None:
    fleet = draw("box", 12, np.random.default_rng(0))
    with pytest.raises(SolverError, match=r"'magic'.*reference"):
        solve(fleet, method="magic")
    with pytest.raises(SolverError, match=r"up to 8 nodes, not 12"):
        solve(fleet, method="exact")
    with pytest.raises(SolverError, match="one of the two"):
        solve(fleet, budget=1.0, moves=10)
    for budget in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(SolverError, match="budget"):
            solve(fleet, budget=budget)
    with pytest.raises(SolverError, match="move budget"):
        solve(fleet, moves=0)
    with pytest.raises(SolverError, match="move budget"):
        solve(fleet, moves=math.nan)  # type: ignore[arg-type]
    with pytest.raises(SolverError, match="seed"):
        solve(fleet, seed=-1)
    solve(fleet, seed=np.int64(3), moves=10)  # type: ignore[arg-type]
    with pytest.raises(SolverError, match="time budget"):
        solve(fleet, method="cpsat", moves=5)


def test_a_descent_goes_on_where_it_stopped_and_ends_where_no_pair_helps() -> None:
    fleet = draw("scatter", 20, np.random.default_rng(4))
    bench = Workbench(Layout(fleet))
    ends = []
    for step in (7, 10**9):
        bench.put(*spanning_forest(bench.layout))
        cursor = np.zeros(2, dtype=np.int64)
        while descend(bench.tables, bench.state, None, 1, 1e6, 1e-9, step, cursor) == step:
            pass
        ends.append((bench.throughput, bench.links.tolist()))
        for slot in bench.tables.lists[BY_DISTANCE]:
            assert not try_pair(bench.tables, bench.state, None, slot, 1e-9, 1, 1e6)
    assert ends[0] == ends[1]
