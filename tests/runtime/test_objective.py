"""What counts beside T now: links that are kept, where the fleet will be, and uncertain places."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import manetdiff as md
from manetdiff import Fleet, ManetDiffError, Radio, Topology, metrics
from manetdiff.layout import Layout
from manetdiff.runtime.objective import USUAL_SHARE, LoyaltyAsked, layouts_ahead, share_for
from manetdiff.runtime.wary import wary_layouts
from manetdiff.scenarios import draw, move, move_by
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.later import slots_later
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench
from support.strategies import drawn, fleets, radios

MODEL = md.load()


def flown(n: int, seed: int, moments: int = 3) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return move(draw("wedge", n, rng), "gauss-markov", rng, duration=4.0 * (moments - 1), step=4.0)


def t(topology: Topology, fleet: Fleet) -> float:
    return metrics(topology, fleet)["throughput"]


class TestAhead:
    @pytest.mark.parametrize("n", [12, 90])
    @pytest.mark.parametrize("moments", [1, 2])
    @pytest.mark.parametrize("loyal", [False, True])
    def test_a_search_knows_at_every_point_what_its_links_carry_later(self, n: int, moments: int, loyal: bool) -> None:
        now, *later = flown(n, 1, 1 + moments)
        bench = Workbench(Layout(now))
        bench.look_ahead([Layout(one) for one in later])
        start = spanning_forest(bench.layout)
        if loyal:
            bench.be_loyal(Loyalty(start[0], np.ones(n, dtype=np.bool_), 0.5))
        bench.put(*start)
        before = bench.worth
        search_on(bench, Meter(Budget(moves=60 * n)), 1, limit=1, annealing=THOROUGH)
        made = Topology(bench.links, bench.parity)
        mean = np.mean([t(made, fleet) for fleet in (now, *later)])
        kept = int(np.isin(made.links @ [n, 1], start[0] @ [n, 1]).sum())
        paid = 0.5 * (kept - (len(made.links) - kept)) / 2 if loyal else 0.0
        # What is heard from afar in large fleets is known to a search only to some digits.
        assert bench.worth == pytest.approx(mean + paid, rel=1e-9 if n <= 64 else 2e-3)
        assert bench.worth > before

    def test_links_out_of_range_later_are_worth_nothing_there(self) -> None:
        radio = Radio(unit=1.0, range=3.0)
        now = Fleet([(0, 0), (1, 0), (2, 0)], [0, 0, 0])
        later = Fleet([(0, 0), (1, 0), (9, 0)], [0, 0, 0])
        bench = Workbench(Layout(now, radio))
        bench.look_ahead([Layout(later, radio)])
        bench.put(np.array([(0, 1), (1, 2)]), np.array([0, 1, 0]))
        (there,) = bench.ahead
        assert bench.worth == pytest.approx((bench.throughput + there.throughput) / 2)
        assert there.links.tolist() == [[0, 1]]
        slots = slots_later(bench.tables, there.tables)
        assert (slots >= 0).sum() == 2

    @pytest.mark.parametrize("n", [16, 32])
    def test_more_is_carried_later_by_what_knows_where_the_fleet_will_be(self, n: int) -> None:
        with_it: list[float] = []
        without: list[float] = []
        for seed in range(6):
            _, now, later = flown(n, seed)
            for ahead, told in ([later], with_it), ([], without):
                made = MODEL.generate(now, ahead=ahead, seed=seed)
                told.append((t(made, now) + t(made, later)) / 2)
        assert sum(with_it) > 1.005 * sum(without)

    def test_nodes_are_matched_by_id_and_may_come_and_go(self) -> None:
        now = Fleet([(0, 0, 5), (1, 0, 5), (2, 0, 5)], [0, 1, 2], ids=["a", "b", "c"])
        later = Fleet([(7, 7), (3, 1)], [0.5, 0.25], ids=["d", "a"])
        (made,) = layouts_ahead([later], Layout(now))
        assert made.fleet.ids == now.ids
        # Who is not there then goes along with the others.
        assert made.fleet.positions.tolist() == [[3, 1, 5], [4, 1, 5], [5, 1, 5]]
        assert made.fleet.yaw.tolist() == [0.25, 1, 2]

    def test_the_order_of_nodes_does_not_decide_what_is_known_of_them(self) -> None:
        now = Fleet([(0, 0, 5), (9, 0, 7)], [0, 1], ids=["a", "b"], blocked=[[(0.1, 0.2)], []])
        for order in ([0, 1], [1, 0]):
            (made,) = layouts_ahead([Fleet([(1, 1), (8, 1)], [0, 1], ids=["a", "b"]).part(order)], Layout(now))
            assert made.fleet.positions.tolist() == [[1, 1, 5], [8, 1, 7]]
            assert made.fleet.blocked is not None

    def test_fleets_in_degrees_have_frames_of_their_own(self) -> None:
        lat, lon = [48.0, 48.1, 48.2, 48.9], [11.0, 11.1, 11.0, 11.9]
        now = Fleet.from_geodetic(lat, lon, [0, 0, 0, 0], ids=["a", "b", "c", "far"])
        later = Fleet.from_geodetic(lat[:3], lon[:3], [0, 0, 0], ids=["a", "b", "c"])
        (made,) = layouts_ahead([later], Layout(now))
        assert np.allclose(made.fleet.positions, now.positions, atol=1e-3)
        assert np.allclose(made.fleet.yaw, now.yaw, atol=1e-9)

    def test_who_has_left_is_in_nobodys_way(self) -> None:
        now = Fleet([(0, 0), (500, 500), (900, 0)], [0, 0, 0], ids=["a", "b", "c"])
        later = Fleet([(500, 500), (900, 0)], [0, 0], ids=["a", "c"])  # a takes the place of b, which is gone
        (made,) = layouts_ahead([later], Layout(now))
        assert made.fleet.positions[[0, 2]].tolist() == [[500, 500], [900, 0]]
        swap = Fleet([(250, 250), (900, 0)], [0, 0], ids=["b", "c"])
        assert len(layouts_ahead([swap], Layout(now))[0]) == 3

    def test_what_cannot_be_is_refused(self) -> None:
        fleet = drawn(5)
        with pytest.raises(ManetDiffError, match="list of fleets"):
            MODEL.generate(fleet, ahead=fleet)  # type: ignore[call-overload]
        for wrong in (None, 5):
            with pytest.raises(ManetDiffError, match="list of fleets"):
                MODEL.generate(fleet, ahead=wrong)  # type: ignore[call-overload]
        with pytest.raises(ManetDiffError, match="of one fleet"):
            MODEL.generate([fleet, fleet], ahead=[fleet])
        with pytest.raises(ManetDiffError, match="no time is promised"):
            MODEL.generate(fleet, ahead=[fleet], budget_ms=10)
        with pytest.raises(ManetDiffError, match="leave out correct"):
            MODEL.generate(fleet, uncertainty=1.0, correct=False, polish=False)
        with pytest.raises(ManetDiffError, match="give Fleets"):
            MODEL.generate(fleet, ahead=[3])  # type: ignore[list-item]
        with pytest.raises(ManetDiffError, match="shares no node"):
            MODEL.generate(fleet, ahead=[Fleet([(0, 0), (1, 1)], [0, 0], ids=["x", "y"])])

    def test_an_unmoved_fleet_keeps_its_links_unless_it_is_about_to_move(self) -> None:
        now = drawn(10)
        before = md.solve(now, moves=2_000)
        assert MODEL.update(before, now, ahead=[now]) == before
        later = move_by(now, 0.6, np.random.default_rng(2))
        moved = MODEL.update(before, now, ahead=[later], loyalty=0.0)
        assert sum(t(moved, one) for one in (now, later)) > sum(t(before, one) for one in (now, later))


class TestLoyalty:
    def test_the_more_of_it_the_more_is_kept_and_the_less_t(self) -> None:
        same, carried = [], []
        for loyalty in (0.0, 1.0, 1e6):
            made = []
            for seed in range(8):
                now, later = flown(16, seed)[:2]
                before = md.solve(now, moves=4_000, seed=seed)
                after = MODEL.update(before, later, loyalty=loyalty, seed=seed)
                assert after.report.loyalty == pytest.approx(loyalty)
                made.append((md.continuity(before, after), t(after, later)))
            same.append(np.mean([one for one, _ in made]))
            carried.append(np.mean([one for _, one in made]))
        assert same[0] < same[1] < same[2]
        assert carried[0] > carried[1] > carried[2]

    def test_follows_from_how_long_it_takes_to_set_a_link_up(self) -> None:
        assert LoyaltyAsked().share(3.5) == USUAL_SHARE
        assert LoyaltyAsked(elapsed=2.0).share(3.5) == USUAL_SHARE  # nobody says how long it takes
        with pytest.raises(ManetDiffError, match="goes with elapsed"):
            LoyaltyAsked(setup=2.0)
        assert LoyaltyAsked(loyalty=0.7).share(3.5) == pytest.approx(0.2)
        shares = [LoyaltyAsked(setup=setup, elapsed=4.0).share(3.5) for setup in (0.0, 0.5, 2.0, 8.0)]
        assert shares[0] == 0.0 and shares == sorted(shares)
        # No more than what is lost while it is set up, and no more than a link carries.
        assert all(0 < share_for(part) < min(part, 1.0) for part in (0.01, 0.1, 1.0, 10.0, 1e6))

    @pytest.mark.parametrize("name", ["loyalty", "setup", "elapsed", "uncertainty"])
    def test_what_makes_no_sense_is_refused(self, name: str) -> None:
        before = md.solve(drawn(5), moves=100)
        for value in (-1.0, math.nan):
            with pytest.raises(ManetDiffError, match=name):
                MODEL.update(before, move_by(drawn(5), 0.1, np.random.default_rng(0)), **{"elapsed": 1.0, name: value})  # type: ignore[arg-type]

    def test_anew_has_no_use_for_it(self) -> None:
        before = md.solve(drawn(5), moves=100)
        with pytest.raises(ManetDiffError, match="no regard"):
            MODEL.update(before, move_by(drawn(5), 0.1, np.random.default_rng(0)), mode="anew", loyalty=1.0)


class TestUncertainty:
    def test_more_topologies_stay_valid(self) -> None:
        valid, carried = {0.0: 0.0, 0.02: 0.0}, {0.0: 0.0, 0.02: 0.0}
        for seed in range(10):
            fleet = draw("mixed", 16, np.random.default_rng(seed))
            for told in valid:
                made = MODEL.generate(fleet, seed=seed, uncertainty=told * fleet.spread)
                assert metrics(made)["valid"] == 1.0
                rng = np.random.default_rng(seed)
                for _ in range(10):
                    off = rng.normal(0.0, 0.02 * fleet.spread, fleet.positions.shape)
                    found = metrics(made, fleet.replace(fleet.positions + off))
                    valid[told] += found["valid"] / 100
                    carried[told] += found["throughput"]
        assert valid[0.02] > valid[0.0] + 0.2
        assert carried[0.02] > 0.95 * carried[0.0]

    @given(fleets(3, 10), radios())
    @settings(max_examples=20, deadline=None)
    def test_nodes_are_taken_to_be_turned_either_way(self, fleet: Fleet, radio: Radio) -> None:
        layout = Layout(fleet, radio)
        left, right = wary_layouts(layout, 0.01 * fleet.spread)
        off = np.asarray(left.fleet.yaw - fleet.yaw)
        assert np.all((off >= 0) & (off <= math.pi / radio.sectors / 2 + 1e-9))
        assert np.allclose(fleet.yaw - right.fleet.yaw, off)
        assert left.radio.range <= radio.range
        # Twice as uncertain is turned by twice as much, but for what is turned by half a sector already.
        more = np.asarray(wary_layouts(layout, 0.02 * fleet.spread)[0].fleet.yaw - fleet.yaw)
        assert np.allclose(more, np.minimum(2 * off, np.where(np.isfinite(off), math.pi / radio.sectors / 2, 0)))
