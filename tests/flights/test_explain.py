"""Why links were dropped, added and held back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FleetError, TopologyError
from manetdiff.flights import Change, Explanation, explain
from manetdiff.layout import Layout
from manetdiff.scenarios import draw, move_by
from manetdiff.topology import carried_over, count_components, unwarned_of_parts

# Four sectors, of which the first looks to where the node points, by default to the east; 250 m of range.
RADIO = Radio(unit=100.0, range=2.5)
Places = dict[str, tuple[float, float]]


def of(places: Places, links: str, parity: str, yaw: float = 0.0) -> Topology:
    """Nodes named by letters; links as pairs of letters; a bit for each node."""
    names = "".join(places)
    layout = Layout(Fleet(list(places.values()), np.full(len(names), yaw), list(names)), RADIO)
    pairs = [(names.index(link[0]), names.index(link[1])) for link in links.split()]
    return Topology(np.array(pairs, dtype=np.int64).reshape(-1, 2), [int(bit) for bit in parity], layout=layout)


def polar(degrees: float, metres: float = 100.0) -> tuple[float, float]:
    return metres * math.cos(math.radians(degrees)), metres * math.sin(math.radians(degrees))


def the(explanation: Explanation, kind: str, what: str) -> Change:
    """The one change of a kind of a link, or of a node."""
    found = [
        change
        for change in explanation.changes
        if change.kind == kind and (change.node == what if change.link is None else "".join(change.link) == what)
    ]
    assert len(found) == 1, explanation.lines()
    return found[0]


def throughput(topology: Topology, *ahead: Layout) -> float:
    """T, the mean over the topology's own layout and others."""
    return float(np.mean([md.metrics(topology, layout)["throughput"] for layout in (topology.on(), *ahead)]))


def names(topology: Topology) -> set[frozenset[str]]:
    ids = topology.on().fleet.ids
    return {frozenset((ids[i], ids[j])) for i, j in topology.links}


def relinked(topology: Topology, links: Iterable[frozenset[str]]) -> Topology:
    """Other links under the same parity."""
    ids = topology.on().fleet.ids
    pairs = [sorted(ids.index(name) for name in link) for link in links]
    return Topology(np.array(pairs, dtype=np.int64).reshape(-1, 2), topology.parity, layout=topology.layout)


def sector(fleet: Fleet, radio: Radio, name: str, peer: str) -> int:
    """By the definition, with nothing of the package."""
    i, j = fleet.ids.index(name), fleet.ids.index(peer)
    east, north = (fleet.positions[j] - fleet.positions[i])[:2]
    ahead = math.atan2(north, east) - fleet.yaw[i] - radio.boresight
    width = 2 * math.pi / radio.sectors
    return int(((ahead + width / 2) % (2 * math.pi)) / width) % radio.sectors


def antennas(layout: Layout, link: frozenset[str]) -> set[tuple[str, int]]:
    first, second = sorted(link)
    fleet, radio = layout.fleet, layout.radio
    return {(first, sector(fleet, radio, first, second)), (second, sector(fleet, radio, second, first))}


def put_in(topology: Topology, link: frozenset[str]) -> Topology:
    """With one more link, and without those that hold its antennas."""
    held = antennas(topology.on(), link)
    free = {one for one in names(topology) if not antennas(topology.on(), one) & held}
    return relinked(topology, free | {link})


LINE: Places = {"A": (0, 0), "B": (100, 10), "C": (200, -10), "D": (300, 5)}


def test_it_is_public() -> None:
    assert md.explain is explain


def test_nothing_changed() -> None:
    old = of(LINE, "AB BC CD", "0101")
    found = explain(old, old, loyalty=1.0)
    assert (found.changes, found.continuity, found.lines()) == ((), 1.0, [])
    assert found.throughput == found.before == md.metrics(old)["throughput"]


def test_dropped_because_a_node_is_gone() -> None:
    found = explain(of(LINE, "AB BC CD", "0101"), of({name: LINE[name] for name in "ABC"}, "AB BC", "010"))
    assert the(found, "dropped", "CD") == Change("dropped", "node gone", ("C", "D"), forced=True)
    assert found.lines() == ["dropped C–D: node gone"]


def test_dropped_because_it_is_out_of_range() -> None:
    found = explain(of(LINE, "AB BC CD", "0101"), of({**LINE, "D": (460, 0)}, "AB BC", "0101"))
    assert found.changes == (Change("dropped", "out of range", ("C", "D"), forced=True),)
    assert found.lines() == ["dropped C–D: out of range"]


def test_a_blocked_direction_is_out_of_range() -> None:
    old, new = of(LINE, "AB BC CD", "0101"), of(LINE, "AB BC", "0101")
    fleet = new.on().fleet
    mast = Fleet(fleet.positions, fleet.yaw, fleet.ids, blocked=[[], [], [(-0.5, 0.5)], []])
    found = explain(old, Topology(new.links, new.parity, layout=Layout(mast, RADIO)))
    assert (the(found, "dropped", "CD").reason, the(found, "dropped", "CD").forced) == ("out of range", True)


STAR: Places = {"A": (0, 0), "B": polar(0), "C": polar(60, 120)}


def test_dropped_because_its_sector_was_left() -> None:
    # Seen from A, C comes from the northern sector into the eastern one, where B is.
    old, new = of(STAR, "AB AC", "011"), of({**STAR, "C": polar(30, 120)}, "AB", "011")
    change = the(explain(old, new), "dropped", "AC")
    assert (change.reason, change.forced) == ("sector left", True)
    assert change.gain == pytest.approx(throughput(new) - throughput(relinked(new, [frozenset("AC")])))


def test_what_shared_an_antenna_before_has_not_left_its_sector() -> None:
    near = {**STAR, "C": polar(30, 120)}
    change = the(explain(of(near, "AB AC", "011"), of(near, "AB", "011")), "dropped", "AC")
    assert (change.reason, change.forced) == ("by choice", False)


def test_a_fleet_that_has_turned_under_its_links() -> None:
    # Nobody has moved, but all point elsewhere: the seam between two sectors is no longer between B and C.
    change = the(explain(of(STAR, "AB AC", "011"), of(STAR, "AB", "011", yaw=math.radians(30))), "dropped", "AC")
    assert change.reason == "sector left"


def test_dropped_for_parity_and_turned() -> None:
    old, new = of(LINE, "AB BC CD", "0101"), of({**LINE, "D": (150, 120)}, "BD CD AD", "0001")
    found = explain(old, new)
    for link in ("AB", "BC"):
        assert (the(found, "dropped", link).reason, the(found, "dropped", link).gain) == ("parity", None)
    assert the(found, "turned", "B") == Change("turned", "to link B–D", node="B")
    assert "turned B: to link B–D" in found.lines()
    assert len(found.changes) == 5


PAIR: Places = {"A": (0, 0), "B": (100, 0), "C": (80, 40)}


def test_pushed_off_by_what_takes_its_place() -> None:
    old, new = of(PAIR, "AB", "011"), of(PAIR, "AC", "011")
    found = explain(old, new)
    gain = throughput(new) - throughput(old)
    dropped, added = the(found, "dropped", "AB"), the(found, "added", "AC")
    assert (dropped.reason, dropped.forced) == ("pushed off", False)
    assert dropped.gain == pytest.approx(gain)
    assert added.reason == "takes the place of A–B"
    assert added.gain == pytest.approx(throughput(new))
    assert found.lines()[0].startswith("added A–C (+")
    assert found.lines()[0].endswith(" Mbit/s): takes the place of A–B")
    assert found.before == pytest.approx(throughput(old))
    assert found.continuity == 0.0


def test_a_place_may_be_that_of_a_node_that_is_gone() -> None:
    found = explain(of(PAIR, "AB", "011"), of({name: PAIR[name] for name in "AC"}, "AC", "01"))
    assert the(found, "added", "AC").reason == "takes the place of A–B"


def test_it_may_take_the_place_of_several() -> None:
    square: Places = {"A": (0, 0), "B": (100, 20), "C": (110, -15), "D": (10, -20)}
    found = explain(of(square, "AC BD", "0110"), of(square, "AB", "0110"))
    assert the(found, "added", "AB").reason == "takes the place of A–C, B–D"


def test_dropped_by_choice() -> None:
    old, new = of(LINE, "AB BC CD", "0101"), of(LINE, "AB CD", "0101")
    change = the(explain(old, new), "dropped", "BC")
    assert change == Change("dropped", "by choice", ("B", "C"), gain=change.gain)
    assert change.gain == pytest.approx(throughput(new) - throughput(old))
    assert str(change).startswith("dropped B–C (−")


def test_added_because_a_node_joined() -> None:
    old, new = of({name: LINE[name] for name in "ABC"}, "AB BC", "010"), of(LINE, "AB BC CD", "0101")
    change = the(explain(old, new), "added", "CD")
    assert change.reason == "node joined"
    assert change.gain == pytest.approx(throughput(new) - throughput(relinked(new, names(old))))


def test_added_because_it_joins_parts() -> None:
    found = explain(of(LINE, "AB CD", "0101"), of(LINE, "AB BC CD", "0101"))
    assert the(found, "added", "BC").reason == "joins parts"


def test_what_old_links_would_have_joined_was_not_added_to_join_parts() -> None:
    square: Places = {"A": (0, 0), "B": (100, 10), "C": (90, 110), "D": (-10, 100)}
    # Without A–D the network falls apart, but so it does only because C–D was dropped.
    change = the(explain(of(square, "AB BC CD", "0101"), of(square, "AB BC AD", "0101")), "added", "AD")
    assert change.reason == "sector free"
    # Where C–D could not stay, it does join parts, because nothing of before would.
    far = {**square, "D": (-10.0, -180.0)}
    change = the(explain(of(square, "AB BC CD", "0101"), of(far, "AB BC AD", "0101")), "added", "AD")
    assert change.reason == "joins parts"


def test_added_because_its_sectors_are_free() -> None:
    square: Places = {"A": (0, 0), "B": (100, 10), "C": (90, 110), "D": (-10, 100)}
    old, new = of(square, "AB BC CD", "0101"), of(square, "AB BC CD AD", "0101")
    change = the(explain(old, new), "added", "AD")
    assert change.reason == "sector free"
    assert change.gain == pytest.approx(throughput(new) - throughput(old))


def test_added_by_choice_beside_a_link_that_was_kept() -> None:
    # A–C shares A's antenna with A–B, and neither parts nor places explain it: B–C joins them already.
    places: Places = {"A": (0, 0), "B": (100, 0), "C": (80, 40), "D": (120, 90)}
    change = the(explain(of(places, "AB BD CD", "0110"), of(places, "AB BD CD AC", "0110")), "added", "AC")
    assert change.reason == "by choice"


def test_a_flip_of_everybody_is_no_turn() -> None:
    old = of(LINE, "AB BC CD", "0101")
    assert explain(old, of(LINE, "AB BC CD", "1010")).changes == ()
    assert explain(old, of(LINE, "AB CD", "0110")).lines()[1:] == []  # each part for itself
    assert explain(old, of(LINE, "", "1111")).changes[3:] == ()  # alone a node has no surroundings


def test_of_equal_halves_the_one_with_the_first_node_stays() -> None:
    old = of(LINE, "AB CD", "0101")
    for parity in ("0110", "1001"):
        found = explain(old, of(LINE, "AB BD CD", parity))
        assert [change.node for change in found.changes if change.kind == "turned"] == ["C", "D"]
        assert the(found, "turned", "C").reason == "with its neighbours"
        assert the(found, "turned", "D").reason == "to link B–D"


def test_what_was_forced_comes_first_then_what_is_worth_most() -> None:
    orders = []
    for seed in range(4):
        found = explain(*moved_pair(seed, 11))
        orders.append([(not change.forced, change.gain is None, -abs(change.gain or 0)) for change in found.changes])
    assert all(order == sorted(order) for order in orders)
    assert any(order[0][0] is False and len(order) > 5 for order in orders)


def test_gains_are_means_over_what_is_ahead() -> None:
    old, new = of(PAIR, "AB", "011"), of(PAIR, "AC", "011")
    ahead = [Layout(Fleet([[0.0, 0.0], [x, 5.0], [70.0, x]], [0, 0, 0], list("ABC")), RADIO) for x in (120.0, 180.0)]
    found = explain(old, new, ahead=ahead)
    assert found.throughput == pytest.approx(throughput(new, *ahead))
    assert found.before == pytest.approx(throughput(old, *ahead))
    assert the(found, "added", "AC").gain == pytest.approx(throughput(new, *ahead))
    assert the(found, "dropped", "AB").gain == pytest.approx(throughput(new, *ahead) - throughput(old, *ahead))
    # Fleets are looked at under the topology's radio.
    assert explain(old, new, ahead=[layout.fleet for layout in ahead]) == found


def test_held_back() -> None:
    # F is nearer to E than G is, and in the same sector; G is linked to F by another of its antennas.
    old = of({"E": (0, 0), "F": (90, 0), "G": (80, 10), "H": (60, 120)}, "EG GH FH", "0110")
    new = of({"E": (0, 0), "F": (60, 0), "G": (110, 30), "H": (60, 120)}, "EG GH FH", "0110")
    gain = throughput(put_in(new, frozenset("EF"))) - throughput(new)
    assert gain > 0
    found = explain(old, new, loyalty=2 * gain)
    assert found.changes == ()
    assert [(change.kind, change.link, change.reason) for change in found.held_back] == [
        ("held back", ("E", "F"), "would push off E–G")
    ]
    assert found.held_back[0].gain == pytest.approx(gain)
    assert found.lines()[0].startswith("held back: E–F (+")
    assert found.lines()[0].endswith(" Mbit/s) would push off E–G")
    # What gains more than loyalty pays was held back by nothing; nor does anybody without loyalty hold back.
    assert explain(old, new, loyalty=gain / 2).held_back == explain(old, new).held_back == ()
    # A link that must stay is not pushed off.
    kept = Topology(new.links, new.parity, layout=new.on().pinned(new.links[:1], np.zeros((4, 4), dtype=np.bool_)))
    assert explain(old, kept, loyalty=2 * gain).held_back == ()
    # If E–F was there before, as many links would be kept with it as without.
    both = of({"E": (0, 0), "F": (90, 0), "G": (80, 10), "H": (60, 120)}, "EG EF GH FH", "0110")
    assert explain(both, new, loyalty=2 * gain).held_back == ()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_back_is_all_that_there_is_to_tell(seed: int) -> None:
    rng = np.random.default_rng((7, seed))
    fleet = draw("mixed", 10, rng)
    old = md.solve(fleet, Radio(), moves=3000, seed=seed)
    new = carried_over(old, Layout(move_by(fleet, 0.3, rng), Radio()))
    loyalty, here, ids = 0.5, throughput(new), new.on().fleet.ids
    parts, wanted = count_components(new.links, 10), {}
    for i, j in new.on().candidates:
        link = frozenset((ids[i], ids[j]))
        if link in names(new) or new.parity[i] == new.parity[j]:
            continue
        other = put_in(new, link)
        gain, lost = throughput(other) - here, len(names(new) - names(other))
        if 1e-9 < gain < loyalty * lost and count_components(other.links, 10) <= parts:
            wanted[link] = gain
    found = explain(old, new, loyalty=loyalty).held_back
    gains = [change.gain for change in found]
    assert gains == pytest.approx(sorted(wanted.values(), reverse=True)[:10])
    assert all(wanted[frozenset(change.link or ())] == pytest.approx(change.gain) for change in found)


def test_in_large_fleets_few_are_scored_but_those_exactly() -> None:
    rng = np.random.default_rng(3)
    fleet = draw("mixed", 80, rng)
    old = md.solve(fleet, moves=40_000, seed=0)
    new = carried_over(old, Layout(move_by(fleet, 0.05, rng)))
    found = explain(old, new, loyalty=1.0).held_back
    assert 0 < len(found) <= 10
    for change in found[:3]:
        other = put_in(new, frozenset(change.link or ()))
        assert change.gain == pytest.approx(throughput(other) - throughput(new))
        assert count_components(other.links, 80) == count_components(new.links, 80)


def moved_pair(seed: int, nodes: int) -> tuple[Topology, Topology]:
    """Topologies before and after a fleet has moved, lost its first node, gained another and changed its order."""
    rng = np.random.default_rng((11, seed, nodes))
    fleet = draw("mixed", nodes, rng)
    moved = move_by(fleet, 0.2, rng)
    before, after = fleet.part(np.arange(nodes - 1)), moved.part(rng.permutation(np.arange(1, nodes)))
    radio = Radio(unit=fleet.scale, range=1.5)
    with unwarned_of_parts():
        return md.solve(before, radio, moves=1500, seed=seed), md.solve(after, radio, moves=1500, seed=seed + 1)


@settings(max_examples=12)
@given(st.integers(0, 999), st.integers(6, 11))
def test_every_link_that_differs_is_told_once_and_what_was_forced_is_true(seed: int, nodes: int) -> None:
    old, new = moved_pair(seed, nodes)
    found = explain(old, new)
    told = {
        kind: [frozenset(one.link or ()) for one in found.changes if one.kind == kind] for kind in ("dropped", "added")
    }
    assert len(told["dropped"]) == len(set(told["dropped"])) and set(told["dropped"]) == names(old) - names(new)
    assert len(told["added"]) == len(set(told["added"])) and set(told["added"]) == names(new) - names(old)
    before, after = old.on(), new.on()
    present, kept = set(after.fleet.ids), names(old) & names(new)
    for change in found.changes:
        if change.link is None:
            continue
        link = frozenset(change.link)
        if change.kind == "added":
            assert not change.forced
            assert (change.reason == "node joined") == (not link <= set(before.fleet.ids))
            without = relinked(new, names(new) - {link})
            assert change.gain == pytest.approx(throughput(new) - throughput(without), abs=1e-9)
            continue
        reason = "node gone" if not link <= present else None
        if reason is None:
            first, second = (after.fleet.positions[after.fleet.ids.index(end)] for end in link)
            if math.dist(first, second) > after.radio.range * after.unit:
                reason = "out of range"
            elif any(
                antennas(after, link) & antennas(after, one) and not antennas(before, link) & antennas(before, one)
                for one in kept
            ):
                reason = "sector left"
        assert change.forced == (reason is not None)
        assert reason is None or change.reason == reason
        opposite = link <= present and len({new.parity[after.fleet.ids.index(end)] for end in link}) == 2
        if reason in ("node gone", "out of range") or not opposite:
            assert change.gain is None
        else:
            worth = throughput(new) - throughput(put_in(new, link))
            assert change.gain == pytest.approx(worth, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_nodes_is_no_matter(seed: int) -> None:
    old, new = moved_pair(seed, 9)
    order = np.random.default_rng(seed).permutation(len(new))
    reordered = carried_over(new, Layout(new.on().fleet.part(order), new.on().radio))
    first, second = explain(old, new, loyalty=1.0), explain(old, reordered, loyalty=1.0)
    assert first.throughput == pytest.approx(second.throughput)
    assert first.before == pytest.approx(second.before)
    assert first.continuity == second.continuity
    for one, other in ((first.changes, second.changes), (first.held_back, second.held_back)):
        told = [{(c.kind, c.node, frozenset(c.link or ())): c for c in changes} for changes in (one, other)]
        assert told[0].keys() == told[1].keys()
        for key, change in told[0].items():
            assert (change.forced, change.gain is None) == (told[1][key].forced, told[1][key].gain is None)
            assert change.gain is None or change.gain == pytest.approx(told[1][key].gain, abs=1e-9)
            assert change.reason.split()[:2] == told[1][key].reason.split()[:2]


def test_all_of_it_can_be_written_as_json() -> None:
    found = explain(*moved_pair(1, 9), loyalty=1.0)
    told = found.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert list(told) == ["throughput", "before", "continuity", "changes", "held_back"]
    assert len(told["changes"]) == len(found.changes)
    assert Change("turned", "by choice", node="A").to_dict() == {
        "kind": "turned", "node": "A", "reason": "by choice", "forced": False, "gain": None,
    }  # fmt: skip
    assert Change("added", "by choice", ("A", "B"), gain=1.0).to_dict()["link"] == ["A", "B"]


def test_a_line_is_a_line_whatever_the_ids() -> None:
    change = Change("dropped", "by choice", ("A\n", "B"), gain=1e-9)
    assert str(change) == r"dropped A\n–B (±0 Mbit/s): by choice"
    assert str(Change("added", "sector free", ("A", "B"), gain=3.1)) == "added A–B (+3.1 Mbit/s): sector free"


def test_what_cannot_be_explained() -> None:
    old, new = of(LINE, "AB BC CD", "0101"), of(LINE, "AB BC", "0101")
    with pytest.raises(TopologyError, match="loyalty must be a finite number of at least 0, not -1"):
        explain(old, new, loyalty=-1)
    with pytest.raises(FleetError, match="shares no node"):
        explain(old, new, ahead=[Fleet([(0.0, 0.0), (1.0, 1.0)], [0.0, 0.0], ids=["X", "Y"])])
    with pytest.raises(TopologyError, match="does not know its fleet"):
        explain(Topology(old.links, old.parity), new)
    with pytest.raises(TopologyError, match="share no node"):
        explain(old, of({"X": (0, 0), "Y": (50, 0)}, "XY", "01"))
