"""A fleet under a radio: what follows from the two is computed once, and a topology knows what it was made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manetdiff as md
from manetdiff import Fleet, Radio, Topology, metrics, solve
from manetdiff.errors import FleetError, RadioError, TopologyError
from manetdiff.layout import Layout
from manetdiff.scenarios import draw, move_by

FLEET = draw("escort", 8, np.random.default_rng(3))
QUIET = Radio(sigma2=0.1)


class TestALayout:
    def test_has_the_default_radio_unless_told_otherwise(self) -> None:
        assert Layout(FLEET).radio == Radio()
        assert Layout.of(FLEET, QUIET).radio == QUIET

    def test_stays_itself_unless_another_radio_is_asked_for(self) -> None:
        layout = Layout(FLEET, QUIET)
        assert Layout.of(layout) is layout
        assert Layout.of(layout, Radio(sigma2=0.1)) is layout
        assert Layout.of(layout, Radio()).radio == Radio()

    def test_computes_its_tables_once(self) -> None:
        layout = Layout(FLEET)
        assert layout.tables is layout.tables
        assert layout.peers is layout.peers

    def test_lists_candidates_nearest_first(self) -> None:
        layout = Layout(FLEET, Radio(range=1.0))
        nearest, start = layout.peers
        for i in range(len(layout)):
            own = nearest[start[i] : start[i + 1]]
            assert sorted(own) == np.flatnonzero(layout.tables.candidate[i]).tolist()
            assert (np.diff(layout.tables.distance[i, own]) >= 0).all()

    def test_with_pins_leaves_the_one_without_alone(self) -> None:
        layout = Layout(FLEET)
        i, j = np.argwhere(np.triu(layout.tables.candidate))[0]
        avoid = np.zeros((8, 8), dtype=np.bool_)
        avoid[i] = avoid[:, i] = True
        avoid[i, j] = avoid[j, i] = False
        pinned = layout.pinned(np.array([[i, j]]), avoid)
        assert pinned.tables.pinned[i, j]
        assert pinned.tables.candidate[i].sum() == 1
        assert not layout.tables.pinned.any()
        assert layout.tables.candidate[i].sum() > 1

    @pytest.mark.parametrize(
        ("given", "error"), [((None,), FleetError), (([[0, 1]],), FleetError), ((FLEET, "wide"), RadioError)]
    )
    def test_of_anything_else_is_refused(self, given: tuple[Any, ...], error: type[Exception]) -> None:
        with pytest.raises(error, match=r"must be a Radio|give a Fleet"):
            Layout(*given)


class TestATopologyKnowsItsLayout:
    def test_and_is_scored_by_it(self) -> None:
        made = solve(FLEET, QUIET, moves=500)
        assert made.on().radio == QUIET
        assert metrics(made) == metrics(made, FLEET) == metrics(made, FLEET, QUIET)
        assert metrics(made)["throughput"] > metrics(made, FLEET, Radio())["throughput"]

    def test_whatever_made_or_changed_it(self) -> None:
        model = md.load(threads=1)
        made = model.generate(FLEET, radio=QUIET)
        moved = move_by(FLEET, 0.2, np.random.default_rng(1))
        # An update goes on under the radio that the topology was made for.
        updated = model.update(made, moved)
        assert updated == model.update(made, moved, radio=QUIET)
        for one in (md.correct(made), md.polish(made, moves=50), md.greedy(FLEET, QUIET), updated):
            assert one.on().radio == QUIET
        assert updated.on().fleet is moved

    def test_and_gives_the_very_one_for_its_own_fleet(self) -> None:
        made = solve(FLEET, QUIET, moves=500)
        assert made.on(FLEET) is made.on(FLEET, QUIET) is made.layout
        other = Layout(FLEET, QUIET)
        assert made.on(other) is other

    def test_unless_nobody_told_it(self) -> None:
        made = Topology([(0, 1)], [0, 1])
        with pytest.raises(TopologyError, match="does not know its fleet"):
            metrics(made)
        pair = Fleet([[0, 0], [1, 0]], [0, 0])
        assert metrics(made, pair) == metrics(made, pair, Radio())

    def test_and_refuses_one_of_another_size(self) -> None:
        with pytest.raises(TopologyError, match="the topology has 2 nodes, the fleet 8"):
            Topology([(0, 1)], [0, 1], layout=Layout(FLEET))
        with pytest.raises(TopologyError, match="the topology has 2 nodes, the fleet 8"):
            Topology([(0, 1)], [0, 1]).on(FLEET)
