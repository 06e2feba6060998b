"""A fleet under a radio: what follows from the two is computed once, and a topology knows what it was made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manetdiff as md
from manetdiff import Fleet, Radio, Topology, metrics, solve
from manetdiff.errors import FleetError, RadioError, TopologyError
from manetdiff.layout import Layout
from manetdiff.layout.choosing import CANDIDATE, LINKABLE, PINNED
from manetdiff.layout.tables import BY_DISTANCE, DISTANCE, GRADE, NEAREST, OWNER, PEER
from manetdiff.scenarios import draw, move_by
from support.pairs import linkable

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
        assert layout.choice is layout.choice
        assert layout.candidates is layout.candidates

    def test_lists_candidates_nearest_first(self) -> None:
        layout = Layout(FLEET, Radio(range=1.0))
        tables = layout.tables
        for i in range(len(layout)):
            own = tables.lists[BY_DISTANCE, tables.starts[NEAREST, i] : tables.starts[NEAREST, i + 1]]
            assert (tables.ints[OWNER, own] == i).all()
            # So few nodes are all looked at: whoever is in range is among them.
            assert sorted(tables.ints[PEER, own]) == np.flatnonzero(linkable(FLEET, layout.radio)[i]).tolist()
            assert (np.diff(tables.floats[DISTANCE, own]) >= 0).all()

    def test_with_pins_leaves_the_one_without_alone(self) -> None:
        layout = Layout(FLEET)
        i, j = layout.candidates[0]
        avoid = np.zeros((8, 8), dtype=np.bool_)
        avoid[i] = avoid[:, i] = True
        avoid[i, j] = avoid[j, i] = False
        pinned = layout.pinned(np.array([[i, j]]), avoid)
        grade, own = pinned.tables.ints[GRADE], pinned.tables.ints[OWNER] == i
        assert (grade == PINNED).sum() == 2  # in both directions
        assert grade[own & (pinned.tables.ints[PEER] == j)].tolist() == [PINNED]
        assert (grade[own] >= LINKABLE).sum() == 1
        assert not (layout.tables.ints[GRADE] == PINNED).any()
        assert (layout.tables.ints[GRADE, layout.tables.ints[OWNER] == i] >= CANDIDATE).sum() > 1
        assert pinned.placement is layout.placement

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
        model = md.load()
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
