from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio
from manetdiff.layout import ARC_FEATURES, Arcs, Layout
from manetdiff.layout.features import LEAK, RATE
from support.strategies import fleets, radios


def _by_nodes(arcs: Arcs) -> dict[tuple[int, int], np.ndarray]:
    """What is told of each arc, by its two nodes."""
    peer = arcs.owner[arcs.reverse]
    return dict(zip(zip(arcs.owner.tolist(), peer.tolist(), strict=True), arcs.features, strict=True))


@given(fleets(), radios())
@settings(max_examples=60)
def test_arcs_are_the_candidates_in_both_directions(fleet: Fleet, radio: Radio) -> None:
    layout = Layout(fleet, radio)
    arcs, links = layout.arcs, layout.candidates
    assert sorted(arcs.links.tolist()) == arcs.links.tolist()
    assert {tuple(pair) for pair in arcs.links.tolist()} == {tuple(pair) for pair in links.tolist()}
    peer = arcs.owner[arcs.reverse]
    assert np.array_equal(arcs.reverse[arcs.reverse], np.arange(len(arcs.owner)))
    assert np.array_equal(arcs.links[arcs.link], np.sort(np.stack([arcs.owner, peer], axis=1), axis=1))
    assert np.array_equal(np.stack([arcs.owner, peer], axis=1)[arcs.forward], arcs.links)


@given(fleets(), radios())
@settings(max_examples=60)
def test_arcs_of_an_antenna_belong_together(fleet: Fleet, radio: Radio) -> None:
    layout = Layout(fleet, radio)
    arcs = layout.arcs
    of_arc = layout.pairs(arcs.links).sector
    sector = np.where(arcs.owner == arcs.links[arcs.link, 0], of_arc[arcs.link, 0], of_arc[arcs.link, 1])
    together: dict[tuple[int, int], set[int]] = {}
    for arc, key in enumerate(zip(arcs.owner.tolist(), sector.tolist(), strict=True)):
        together.setdefault(key, set()).add(arc)
    there = arcs.antenna_there > 0
    rows = [set(row[seen].tolist()) for row, seen in zip(arcs.arcs_of_antenna, there, strict=True)]
    assert sorted(map(sorted, rows)) == sorted(map(sorted, together.values()))
    for node, (row, seen) in enumerate(zip(arcs.arcs_of_node, arcs.node_there > 0, strict=True)):
        assert row[seen].tolist() == np.flatnonzero(arcs.owner == node).tolist()


@given(fleets(), radios(), st.floats(-3.1, 3.1), st.floats(0.05, 20))
@settings(max_examples=60)
def test_features_know_no_frame_no_scale_and_no_numbering(
    fleet: Fleet, radio: Radio, turn: float, scale: float
) -> None:
    order = np.random.default_rng(int(1e6 * abs(turn))).permutation(len(fleet))
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    factor = 1.0 if radio.unit is not None else scale
    other = Fleet((fleet.positions @ rotation * factor)[order], fleet.yaw[order] + turn)
    one, moved = _by_nodes(Layout(fleet, radio).arcs), _by_nodes(Layout(other, radio).arcs)
    assert {(int(order[i]), int(order[j])) for i, j in moved} == set(one)
    for (i, j), features in moved.items():
        assert np.allclose(features, one[int(order[i]), int(order[j])], rtol=2e-3, atol=2e-3)


@given(fleets(), radios())
@settings(max_examples=60)
def test_a_mirror_changes_only_the_sines_of_the_bearings(fleet: Fleet, radio: Radio) -> None:
    mirrored = Fleet(fleet.positions * [1, -1], -fleet.yaw)
    turned = Radio.from_dict({**radio.to_dict(), "boresight": -radio.boresight})
    one, other = Layout(fleet, radio).arcs, Layout(mirrored, turned).arcs
    if not np.array_equal(one.links, other.links):
        return  # a peer on the border of two sectors is on the other side of it in the mirror
    there, back = _by_nodes(one), _by_nodes(other)
    for nodes, features in there.items():
        assert np.allclose(features[:4], back[nodes][:4], rtol=1e-4, atol=1e-4)
    half = one.bearings.shape[1] // 2
    order = [sorted(there).index(key) for key in there], [sorted(back).index(key) for key in back]
    ours, theirs = np.empty_like(one.bearings), np.empty_like(other.bearings)
    ours[order[0]], theirs[order[1]] = one.bearings, other.bearings
    assert np.allclose(ours[:, :half], theirs[:, :half], atol=1e-4)
    assert np.allclose(ours[:, half:], -theirs[:, half:], atol=1e-4)


@pytest.mark.parametrize("radio", [Radio(), Radio(pattern="parabolic", beamwidth=0.6, floor_db=13.0, sectors=6)])
def test_rates_and_spilled_power_are_those_of_every_pair(radio: Radio) -> None:
    rng = np.random.default_rng(3)
    layout = Layout(Fleet(rng.normal(size=(20, 2)), rng.uniform(-3, 3, 20)), radio)
    every, arcs = layout.features.pair, layout.arcs
    peer = arcs.owner[arcs.reverse]
    for name, column in (("rate", RATE), ("spilled", LEAK)):
        told = arcs.features[:, ARC_FEATURES.index(name)]
        assert np.allclose(told, every[arcs.owner, peer, column], rtol=1e-4, atol=1e-4)


def test_nodes_out_of_reach_have_no_arcs() -> None:
    alone = Layout(Fleet([(0, 0), (1e6, 0)], [0, 0]), Radio(unit=1.0)).arcs
    assert len(alone.owner) == len(alone.links) == 0
    assert alone.arcs_of_node.shape == (2, 1)
    assert not alone.node_there.any()
