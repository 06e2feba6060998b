from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology, correct, metrics, polish, solve
from manetdiff.errors import SolverError, TopologyError
from manetdiff.layout import Layout
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.topology import antenna_loads, component_labels, out_of_range, same_parity
from support.pairs import every_pair, linkable
from support.strategies import fleets, radios, topologies


def _assert_sound(topology: Topology, layout: Layout) -> None:
    assert not same_parity(topology).any()
    assert not out_of_range(topology, layout).any()
    assert layout.linkable(topology.links).all()
    assert antenna_loads(topology, layout).max(initial=0) <= 1


def _admissible_between_parts(topology: Topology, layout: Layout) -> int:
    part = component_labels(topology.links, len(layout))
    sector = layout.placement.every_pair.sector
    loads = antenna_loads(topology, layout)
    count = 0
    for i, j in np.argwhere(np.triu(linkable(layout.fleet, layout.radio))):
        count += (
            part[i] != part[j]
            and topology.parity[i] != topology.parity[j]
            and loads[i, sector[i, j]] == 0
            and loads[j, sector[j, i]] == 0
        )
    return count


@given(st.data())
def test_any_garbage_comes_out_sound_and_connected_where_it_can_be(data: st.DataObject) -> None:
    fleet = data.draw(fleets(largest=64, blocked=data.draw(st.booleans())))
    raw = data.draw(topologies(len(fleet)))
    tables = Layout(fleet, Radio())
    corrected = correct(raw, fleet)
    _assert_sound(corrected, tables)
    assert np.array_equal(corrected.parity, raw.parity)
    if metrics(corrected, fleet)["connected"] == 0:
        assert _admissible_between_parts(corrected, tables) == 0


@given(st.data(), radios(options=True), st.floats(0.0, 2.0))
def test_garbage_under_any_radio_and_threshold_stays_sound(data: st.DataObject, radio: Radio, tau: float) -> None:
    fleet = data.draw(fleets(largest=20, axes=data.draw(st.sampled_from([2, 3])), blocked=data.draw(st.booleans())))
    raw = data.draw(topologies(len(fleet)))
    for flip in (False, True):
        corrected = correct(raw, fleet, radio, tau_interference=tau, flip_parts=flip)
        _assert_sound(corrected, Layout(fleet, radio))


@given(st.data(), radios(options=True), st.booleans())
@settings(max_examples=15)
def test_garbage_of_large_fleets_comes_out_sound_and_connected_where_it_can_be(
    data: st.DataObject, radio: Radio, flip: bool
) -> None:
    fleet = data.draw(fleets(65, 150, axes=data.draw(st.sampled_from([2, 3])), blocked=data.draw(st.booleans())))
    raw = data.draw(topologies(len(fleet)))
    layout = Layout(fleet, radio)
    corrected = correct(raw, layout, flip_parts=flip)
    _assert_sound(corrected, layout)
    assert flip or np.array_equal(corrected.parity, raw.parity)
    assert _admissible_between_parts(corrected, layout) == 0


@given(st.data(), st.sampled_from([12, 90]), st.booleans())
@settings(max_examples=25)
def test_what_must_stay_stays_and_what_is_avoided_is_neither_kept_nor_added(
    data: st.DataObject, n: int, flip: bool
) -> None:
    fleet = data.draw(fleets(n, n))
    raw = data.draw(topologies(n))
    sector = every_pair(fleet).sector
    possible = [(i, j) for i, j in np.argwhere(np.triu(linkable(fleet))).tolist() if raw.parity[i] != raw.parity[j]]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    # As many as can stay: each has its antennas to itself.
    keep: list[tuple[int, int]] = []
    taken: set[tuple[int, int]] = set()
    for i, j in rng.permutation(possible).tolist()[:5]:
        antennas = {(i, sector[i, j]), (j, sector[j, i])}
        if not antennas & taken:
            keep.append((i, j))
            taken |= antennas
    avoid = rng.random((n, n)) < 0.5
    avoid |= avoid.T
    for i, j in keep:
        avoid[i, j] = avoid[j, i] = False
    pins = np.array(keep, dtype=np.int64).reshape(-1, 2)
    given_links = Topology(np.unique(np.concatenate([raw.links, pins]), axis=0), raw.parity)
    corrected = correct(given_links, Layout(fleet).pinned(pins, avoid), flip_parts=flip, slack=1.0)
    assert not avoid[corrected.links[:, 0], corrected.links[:, 1]].any()
    assert set(keep) <= set(map(tuple, corrected.links.tolist()))


@pytest.mark.parametrize("n", [2, 5, 16, 33, 64])
def test_flipping_parts_connects_what_the_parity_keeps_apart(n: int) -> None:
    rng = np.random.default_rng(n)
    radio = Radio(range=3.0)
    connected = 0
    for _ in range(20):
        fleet = draw("mixed", n, rng)
        # All nodes in one parity: as printed, the algorithm can add nothing.
        stuck = Topology(np.empty((0, 2), dtype=int), np.zeros(n, dtype=int))
        assert len(correct(stuck, fleet, radio).links) == 0
        freed = correct(stuck, fleet, radio, flip_parts=True)
        _assert_sound(freed, Layout(fleet, radio))
        connected += metrics(freed, fleet, radio)["connected"] == 1
    assert connected >= 17


def test_a_good_topology_loses_nothing() -> None:
    rng = np.random.default_rng(5)
    for family in FAMILIES:
        fleet = draw(family, 16, rng)
        solved = solve(fleet, moves=5000)
        before, after = metrics(solved, fleet), metrics(correct(solved, fleet), fleet)
        if before["valid"]:
            assert after["throughput"] >= before["throughput"] - 1e-9


def test_each_phase_does_its_work_and_says_so() -> None:
    # Along a line, all heading east: 0 - 1 - 2 - 3, node 3 out of range of all but node 2.
    fleet = Fleet(np.array([[0, 0], [1, 0.02], [2, -0.03], [3, 0.01]]), np.zeros(4))
    radio = Radio(unit=1.0, range=1.5)
    raw = Topology([(0, 1), (0, 2), (1, 3)], [0, 1, 0, 1])
    fixed = correct(raw, fleet, radio)
    assert fixed.links.tolist() == [[0, 1], [1, 2], [2, 3]]
    report = fixed.report.correction
    assert (report["dropped_range"], report["dropped_parity"], report["added"]) == (2, 0, 2)
    one_side = correct(Topology([(0, 1), (1, 2)], [0, 1, 1, 0]), fleet, radio)
    assert one_side.report.correction["dropped_parity"] == 1
    crowded = correct(Topology([(0, 1), (0, 2)], [0, 1, 1, 0]), fleet, Radio(unit=1.0))
    assert crowded.report.correction["dropped_sector"] == 1
    assert [0, 1] in crowded.links.tolist()


def test_a_tight_interference_threshold_drops_links() -> None:
    rng = np.random.default_rng(8)
    fleet = draw("scatter", 24, rng)
    tables = Layout(fleet, Radio())
    raw = Topology(np.argwhere(np.triu(rng.random((24, 24)) < 0.3, 1)), rng.integers(0, 2, 24))
    loose, tight = correct(raw, fleet), correct(raw, fleet, tau_interference=0.05)
    assert tight.report.correction["dropped_interference"] > 0
    assert len(tight.links) < len(loose.links)
    _assert_sound(tight, tables)


def test_pruning_drops_a_harmful_link_and_no_bridge() -> None:
    rng = np.random.default_rng(3)
    pruned = 0
    for _ in range(30):
        fleet = draw("trail", 16, rng)
        raw = Topology(np.argwhere(np.triu(rng.random((16, 16)) < 0.5, 1)), np.arange(16) % 2)
        eager = correct(raw, fleet, slack=3.0)
        report = eager.report.correction
        pruned += report["pruned"]
        if metrics(correct(raw, fleet), fleet)["connected"]:
            assert metrics(eager, fleet)["connected"] == 1
    assert pruned > 0


@given(st.data(), radios(options=True), st.integers(1, 400), st.integers(0, 99))
def test_polish_never_makes_anything_worse_or_less_valid(
    data: st.DataObject, radio: Radio, moves: int, seed: int
) -> None:
    fleet = data.draw(fleets(largest=16, blocked=data.draw(st.booleans())))
    given_topology = data.draw(topologies(len(fleet)))
    if data.draw(st.booleans()):
        given_topology = correct(given_topology, fleet, radio)
    polished = polish(given_topology, fleet, radio, moves=moves, seed=seed)
    before, after = metrics(given_topology, fleet, radio), metrics(polished, fleet, radio)
    layout = Layout(fleet, radio)
    assert after["throughput"] >= before["throughput"] - 1e-9
    assert after["parity"] >= before["parity"]
    assert after["connected"] >= before["connected"]
    assert after["valid"] >= before["valid"]
    saturated = [(antenna_loads(one, layout) > 1).sum() for one in (given_topology, polished)]
    assert saturated[1] <= saturated[0]
    assert out_of_range(polished, layout).sum() <= out_of_range(given_topology, layout).sum()


def test_polish_survives_stars_of_any_size() -> None:
    rng = np.random.default_rng(2)
    for radio in (Radio(sectors=1, theta_max=np.pi, range=10.0), Radio(unit=1.0, range=1e3)):
        for n in (8, 128):
            fleet = Fleet(np.concatenate([[[-30.0, 0.0]], rng.uniform(-3, 3, (n - 1, 2))]), np.zeros(n))
            star = Topology([(0, k) for k in range(2, n)], [0, 0] + [1] * (n - 2))
            polished = polish(star, fleet, radio, moves=40)
            before, after = metrics(star, fleet, radio), metrics(polished, fleet, radio)
            assert after["throughput"] >= before["throughput"] - 1e-9


def test_bad_thresholds_are_refused_by_name() -> None:
    fleet = draw("box", 5, np.random.default_rng(0))
    raw = Topology([(0, 1)], [0, 1, 0, 1, 0])
    for name in ("tau_interference", "slack"):
        for value in (float("nan"), -1.0):
            with pytest.raises(SolverError, match=name):
                correct(raw, fleet, **{name: value})  # type: ignore[arg-type]


def test_polish_improves_and_repeats_itself() -> None:
    rng = np.random.default_rng(0)
    gains = []
    for family in FAMILIES:
        fleet = draw(family, 16, rng)
        start = correct(solve(fleet, method="mst-greedy"), fleet)
        polished = polish(start, fleet, moves=1500, seed=4)
        assert polish(start, fleet, moves=1500, seed=4) == polished
        gains.append(metrics(polished, fleet)["throughput"] - metrics(start, fleet)["throughput"])
    assert np.mean(gains) > 0.5


def test_a_topology_that_does_not_fit_is_refused() -> None:
    fleet = draw("box", 5, np.random.default_rng(0))
    other = Topology([(0, 1)], [0, 1])
    with pytest.raises(TopologyError, match="2 nodes, the fleet 5"):
        correct(other, fleet)
    with pytest.raises(TopologyError, match="2 nodes, the fleet 5"):
        polish(other, fleet)
