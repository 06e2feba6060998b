"""The local search: heat in proportion to what links carry, annealings equally long, and how far each strays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from manetdiff import Radio
from manetdiff.layout import Layout
from manetdiff.scenarios import draw
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.local_search import GENTLE, THOROUGH, Annealing, search_on
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench

DEFAULT = Radio()


def started(n: int, seed: int, radio: Radio = DEFAULT) -> Workbench:
    layout = Layout(draw("mixed", n, np.random.default_rng((41, seed))), radio)
    bench = Workbench(layout)
    correct_onto(bench, *mst_greedy_links(layout), flip_parts=True)
    return bench


def searched(bench: Workbench, moves: int, annealing: Annealing) -> Meter:
    meter = Meter(Budget(moves=moves))
    search_on(bench, meter, 3, limit=1, annealing=annealing)
    return meter


@pytest.mark.parametrize("annealing", [GENTLE, THOROUGH])
@pytest.mark.parametrize("radio", [DEFAULT, Radio(sigma2=20.0), Radio(sigma2=0.01, bandwidth=40e6)])
def test_heat_and_the_price_of_a_part_are_shares_of_what_a_link_carries(
    radio: Radio, annealing: Annealing, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = started(16, 0, radio)
    worth = bench.throughput / len(bench.links)
    given: list[tuple[Any, ...]] = []
    cool = bench.cool

    def note(meter: Meter, rng: Any, moves: int, *heat: Any) -> None:
        given.append((moves, *heat))
        cool(meter, rng, moves, *heat)

    monkeypatch.setattr(bench, "cool", note)
    searched(bench, 20_000, annealing)
    shares = (annealing.hot, annealing.cold, annealing.penalty)
    for _, hot, cold, limit, penalty in given:
        assert limit == 1
        assert (hot / worth, cold / worth, penalty / worth) == pytest.approx(shares)


@pytest.mark.parametrize(("n", "longer"), [(16, 1.0), (32, 1.0), (128, 2.0)])
def test_annealings_are_about_equally_long_and_longer_and_cooler_in_large_fleets(
    n: int, longer: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = started(n, 0)
    annealing = dataclasses.replace(THOROUGH, moves_a_node=20)
    usual, made, temperatures = 20 * n * longer, list[int](), list[float]()
    hot = annealing.hot * bench.worth_of_a_link(bench.throughput, len(bench.links)) / longer**0.5

    def note(meter: Meter, rng: Any, moves: int, *heat: Any) -> None:
        made.append(moves)
        temperatures.append(heat[0])
        meter.moves += moves

    monkeypatch.setattr(bench, "cool", note)
    searched(bench, int(30 * usual), annealing)
    assert all(0.6 * usual <= moves <= 1.6 * usual for moves in made[:5])
    assert temperatures == pytest.approx([hot] * len(made))


@pytest.mark.parametrize("n", [4, 16, 70])
@pytest.mark.parametrize("moves", [1, 7, 1_000])
def test_all_moves_are_made_and_nothing_gets_worse(n: int, moves: int) -> None:
    for annealing in (GENTLE, THOROUGH):
        bench = started(n, 1)
        before, parts = bench.throughput, bench.parts
        assert searched(bench, moves, annealing).moves == moves
        assert bench.throughput >= before * (1 - 1e-12)
        assert bench.parts <= parts
        assert bench.state.load.max() == 1


def test_the_thorough_one_finds_more_and_the_gentle_one_stays_nearer() -> None:
    found, kept = [], []
    for seed in range(8):
        for annealing in (GENTLE, THOROUGH):
            bench = started(24, seed, Radio(sigma2=0.1))
            before = {tuple(link) for link in bench.links.tolist()}
            searched(bench, 300 * 24, annealing)
            found.append(bench.throughput)
            kept.append(len(before & {tuple(link) for link in bench.links.tolist()}) / len(before))
    gentle, thorough = (np.array(found)[first::2].mean() for first in (0, 1))
    assert thorough > gentle
    assert np.mean(kept[::2]) > np.mean(kept[1::2])


def test_where_no_link_carries_anything_a_link_is_worth_one_bit_a_hertz() -> None:
    bench = Workbench(Layout(draw("mixed", 6, np.random.default_rng(0)), Radio(bandwidth=20e6)))
    assert bench.worth_of_a_link(0.0, 0) == bench.worth_of_a_link(0.0, 5) == 20.0
    assert bench.worth_of_a_link(60.0, 5) == 12.0


class TestLoyalty:
    @staticmethod
    def to_what_is_there(bench: Workbench, worth: float) -> Loyalty:
        return Loyalty(bench.links, np.ones(len(bench.layout), dtype=np.bool_), worth)

    @pytest.mark.parametrize("n", [16, 100])
    @pytest.mark.parametrize(("worth", "there"), [(0.0, True), (1e9, False)], ids=["nothing", "nobody was there"])
    def test_that_is_worth_nothing_is_none(self, n: int, worth: float, there: bool) -> None:
        plain, loyal = started(n, 1), started(n, 1)
        links = loyal.links if there else loyal.links[:0]
        loyal.be_loyal(Loyalty(links, np.full(n, there), worth))
        for bench in (plain, loyal):
            bench.put(bench.links, bench.parity)
            bench.descend(Meter(Budget(moves=20_000)), 1, 1e6)
        assert np.array_equal(plain.links, loyal.links)
        assert loyal.worth == loyal.throughput

    @pytest.mark.parametrize("n", [16, 100])
    @pytest.mark.parametrize("radio", [DEFAULT, Radio(sigma2=0.05, sectors=6, bandwidth=20e6)])
    def test_the_more_loyalty_the_fewer_links_change(self, n: int, radio: Radio) -> None:
        changed, worth = [], []
        for share in (0.0, 0.15, 1e6):
            bench = started(n, 2, radio)
            old = bench.links @ [n, 1]
            loyalty = share * bench.worth_of_a_link(bench.throughput, len(bench.links))
            bench.be_loyal(self.to_what_is_there(bench, loyalty))
            bench.put(bench.links, bench.parity)
            start = bench.worth
            searched(bench, 40 * n, THOROUGH)
            kept = int(np.isin(bench.links @ [n, 1], old).sum())
            new = len(bench.links) - kept
            changed.append(new + len(old) - kept)
            worth.append(bench.worth - start)
            assert bench.worth == pytest.approx(bench.throughput + loyalty * (kept - new) / 2)
        assert changed[0] > changed[1] >= changed[2] == 0
        assert min(worth) >= 0

    def test_what_is_on_the_bench_is_worth_the_same_when_it_is_put_back(self) -> None:
        bench = started(100, 3)
        bench.put(bench.links, bench.parity)
        links, total, there = bench.links, bench.throughput, bench.kept()
        bench.anneal(seeded(0, 0), 500, 1.0, 0.1, 1, 1.0)
        assert not np.array_equal(bench.links, links)
        bench.put_back(there)
        assert np.array_equal(bench.links, links)
        assert bench.throughput == total


@pytest.mark.parametrize("n", [12, 40, 90])
def test_a_search_links_nothing_but_what_it_is_to_propose_and_what_was_there(n: int) -> None:
    bench, free = started(n, 1), started(n, 1)
    for one in (bench, free):
        correct_onto(one, *spanning_forest(one.layout), flip_parts=True)
    there = {tuple(pair) for pair in bench.links.tolist()}
    pairs = bench.layout.candidates
    some = pairs[np.random.default_rng(n).random(len(pairs)) < 0.4]
    bench.propose_only(np.concatenate([some, bench.links]))
    before = bench.throughput
    for one in (bench, free):
        searched(one, 200 * n, THOROUGH)
    found = {tuple(pair) for pair in bench.links.tolist()}
    assert before < bench.throughput < free.throughput
    assert found <= there | {tuple(pair) for pair in some.tolist()}
    assert found - there


def test_with_nothing_to_propose_a_search_leaves_things_as_they_are() -> None:
    bench = started(16, 2)
    before = bench.links
    bench.propose_only(np.empty((0, 2), dtype=np.int64))
    searched(bench, 5_000, THOROUGH)
    assert np.array_equal(bench.links, before)
