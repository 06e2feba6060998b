"""Transitions: every state keeps the rules, and the network stays whole wherever any order lets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from check_transitions import broken_rules, can_stay_whole, draw_pair, random_links
from manetdiff import Fleet, Layout, Radio, Topology, transition
from manetdiff.errors import FormatError, TopologyError
from manetdiff.flights import Transition, ordering
from manetdiff.flights.between import Between
from manetdiff.flights.impossible import is_impossible
from manetdiff.flights.schedule import link_events, schedule_text, write_transition
from manetdiff.flights.transition_start import start_of
from support.strategies import fleets, topologies

# On a grid, every node has an antenna to the east, north, west and south.
RADIO = Radio(unit=1.0, range=10.0)
# Two rows of four: a at the bottom, b at the top.
ROWS = {f"{row}{k}": (float(k), float(y)) for y, row in enumerate("ab") for k in range(4)}
PARITY = {"a0": 1, "a1": 0, "a2": 1, "a3": 0, "b0": 0, "b1": 1, "b2": 0, "b3": 1}
TOP = ["b0 b1", "b1 b2", "b2 b3"]
COLUMNS = [f"a{k} b{k}" for k in range(4)]


def made_of(links: list[str], places: dict[str, tuple[float, float]], parity: dict[str, int]) -> Topology:
    """Links such as "a0 b0" among nodes that all look east."""
    ids = list(places)
    fleet = Fleet(list(places.values()), np.zeros(len(ids)), ids)
    pairs = [[ids.index(name) for name in link.split()] for link in links]
    return Topology(
        np.array(pairs, dtype=np.int64).reshape(-1, 2), [parity[k] for k in ids], layout=Layout(fleet, RADIO)
    )


def told(made: Transition) -> list[tuple[str, list[str], list[str], str | None]]:
    """Of each round its kind, what it drops and adds, and who turns."""

    def named(links: list[list[str]]) -> list[str]:
        return sorted(" ".join(sorted(link)) for link in links)

    return [
        (one["kind"], named(one["drop"]), named(one["add"]), one["turn"] and one["turn"]["node"])
        for one in made.to_dict()["rounds"]
    ]


def on_rows(links: list[str]) -> Topology:
    return made_of(links, ROWS, PARITY)


def test_a_link_is_swapped_for_another_on_the_same_antenna() -> None:
    old, new = on_rows([*TOP, *COLUMNS, "a0 a1"]), on_rows([*TOP, *COLUMNS, "a0 a3"])
    made = transition(old, new, setup=2.5)
    assert told(made) == [("drop", ["a0 a1"], [], None), ("add", [], ["a0 a3"], None)]
    assert (made.connected, made.proven, made.gone) == (True, True, ())
    assert (made.times(), made.seconds) == ((0.0, 0.0), 2.5)
    assert [state == new for state in made.states()] == [False, True]
    assert all(state.on() is made.new.on() for state in made.states())
    assert list(broken_rules(made, old, new)) == []


def test_both_links_that_are_in_the_way_go_first() -> None:
    old, new = on_rows([*TOP, *COLUMNS, "a0 a1", "a2 a3"]), on_rows([*TOP, *COLUMNS, "a0 a3"])
    made = transition(old, new)
    assert told(made) == [("drop", ["a0 a1", "a2 a3"], [], None), ("add", [], ["a0 a3"], None)]
    assert made.connected


def test_links_go_one_after_the_other_where_the_network_needs_one_of_them() -> None:
    # Without its column, a1 hangs on a0; once a0 a3 and a1 a2 are up, nothing hangs on a2 a3 any more.
    old = on_rows([*TOP, "a0 b0", "a2 b2", "a3 b3", "a0 a1"])
    new = on_rows([*TOP, "a0 b0", "a2 b2", "a3 b3", "a0 a3", "a1 a2"])
    made = transition(old, new)
    assert told(made) == [
        ("add", [], ["a1 a2"], None),
        ("drop", ["a0 a1"], [], None),
        ("add", [], ["a0 a3"], None),
    ]
    assert made.connected
    assert can_stay_whole(made)


def test_what_is_in_nobodys_way_stays_to_the_end() -> None:
    old, new = on_rows([*TOP, "a0 b0", "a1 b1", "a0 a1"]), on_rows([*TOP, "a0 b0", "a0 a1", "a2 b2"])
    made = transition(old, new)
    assert told(made) == [("add", [], ["a2 b2"], None), ("drop", ["a1 b1"], [], None)]


def test_where_no_order_can_the_network_is_whole_again_at_once() -> None:
    # a0 has one link, and its new one leaves from the same antenna.
    old, new = on_rows([*TOP, *COLUMNS[1:], "a0 a1"]), on_rows([*TOP, *COLUMNS[1:], "a0 a3"])
    made = transition(old, new)
    assert (made.connected, made.proven) == (False, True)
    assert told(made) == [("drop", ["a0 a1"], [], None), ("add", [], ["a0 a3"], None)]
    assert not can_stay_whole(made)


# x is above b1 and b2, and can be linked with either over its southern antenna.
WITH_X = {"b0": (0.0, 0.0), "b1": (1.0, 0.0), "b2": (2.0, 0.0), "x": (1.4, 1.0)}


def test_a_node_turns_in_a_round_of_its_own() -> None:
    parity = {"b0": 0, "b1": 1, "b2": 0, "x": 0}
    old = made_of(["b0 b1", "b1 b2", "b1 x"], WITH_X, parity)
    new = made_of(["b0 b1", "b1 b2", "b2 x"], WITH_X, {**parity, "x": 1})
    made = transition(old, new, setup=3)
    assert told(made) == [("turn", ["b1 x"], ["b2 x"], "x")]
    assert (made.connected, made.seconds, made.turned) == (True, 3.0, 1)
    assert made.to_dict()["rounds"][0]["turn"] == {"node": "x", "parity": 1}


def test_a_link_that_stays_goes_and_comes_again_where_both_of_its_nodes_turn() -> None:
    places = {"p": (0.0, 0.0), "q": (1.0, 0.0)}
    old, new = (made_of(["p q"], places, {"p": k, "q": 1 - k}) for k in (0, 1))
    made = transition(old, new, align=False)
    assert told(made) == [("turn", ["p q"], [], "p"), ("turn", [], ["p q"], "q")]
    assert (made.connected, made.proven, made.new) == (False, True, new)
    aligned = transition(old, new)
    assert (aligned.rounds, aligned.new) == ((), old)


def test_only_whole_parts_are_aligned_and_only_where_that_saves_turns() -> None:
    places = {name: (float(k), 0.0) for k, name in enumerate("pqrstu")}
    old = made_of(["p q", "r s"], places, dict(zip("pqrstu", (0, 1, 0, 1, 0, 0), strict=True)))
    # Of p, q and t two would have to turn; of r and s one; u would for itself.
    new = made_of(["p q", "q t", "r s"], places, dict(zip("pqrstu", (1, 0, 0, 1, 1, 1), strict=True)))
    made = transition(old, new)
    assert made.new.parity.tolist() == [0, 1, 0, 1, 0, 0]
    assert transition(old, new, align=False).new.parity.tolist() == [1, 0, 0, 1, 1, 1]
    # A tie stays as it was asked for.
    pair = {"p": (0.0, 0.0), "q": (1.0, 0.0)}
    apart, linked = made_of([], pair, {"p": 0, "q": 0}), made_of(["p q"], pair, {"p": 1, "q": 0})
    assert told(transition(apart, linked)) == [("turn", [], ["p q"], "p")]


def test_between_equal_topologies_there_is_nothing_to_do() -> None:
    topology = on_rows([*TOP, *COLUMNS])
    made = transition(topology, topology, setup=1.0)
    assert (made.rounds, made.times(), made.seconds, list(made.states())) == ((), (), 0.0, [])
    assert (made.connected, made.proven, made.new) == (True, True, topology)


def test_nodes_that_left_take_their_links_along_and_those_that_joined_have_none_yet() -> None:
    old = on_rows([*TOP, "a0 b0", "a3 b3"])
    there = {name: ROWS[name] for name in ("b2", "b1", "a1", "a0", "b0")}
    there["new"] = (1.0, 2.0)
    new = made_of(["b0 b1", "b1 b2", "a0 b0", "b1 new"], there, {**PARITY, "new": 0})
    made = transition(old, new)
    assert made.gone == (("a3", "b3"), ("b2", "b3"))
    assert told(made) == [("add", [], ["b1 new"], None)]
    assert made.old.on().fleet.ids == tuple(there)
    assert made.to_dict()["gone"] == [["a3", "b3"], ["b2", "b3"]]
    assert list(broken_rules(made, old, new)) == []


def test_old_links_that_break_a_rule_where_the_nodes_are_now_go_first() -> None:
    # In a diamond, d has a link on each antenna. Then it moves to the west, and all others are to its east.
    diamond = {"n": (0.0, 1.0), "e": (1.0, 0.0), "s": (0.0, -1.0), "w": (-1.0, 0.0), "d": (0.0, 0.0)}
    parity = {**dict.fromkeys("nesw", 1), "d": 0}
    old = made_of(["n d", "e d", "s d", "w d"], diamond, parity)
    moved = {**diamond, "d": (-8.0, 0.1)}
    new = made_of(["s d"], moved, parity)
    made = transition(old, new)
    assert told(made) == [("drop", ["d e", "d n", "d w"], [], None)]
    # Nothing of the new one among them: the nearest stays until it is in the way. Then two links are on one antenna,
    # one is too long, and one is of one parity.
    assert told(transition(old, made_of([], moved, parity)))[0] == ("drop", ["d e", "d n", "d s"], [], None)
    far = {**diamond, "e": (20.0, 0.0)}
    one_parity = Topology(old.links, [1, 1, 0, 1, 0], layout=old.layout)
    left = transition(one_parity, made_of(["n d"], far, {**parity, "s": 0}))
    assert told(left) == [("drop", ["d e", "d s"], [], None), ("drop", ["d w"], [], None)]


def test_of_links_that_share_an_antenna_one_that_joins_parts_stays() -> None:
    # From c, x and y are to the east. x is nearer, but linked with c by way of m.
    places = {"c": (0.0, 0.0), "x": (2.0, 0.1), "y": (3.0, -0.1), "m": (0.0, 2.0)}
    parity = {"c": 0, "x": 1, "y": 1, "m": 1, "k": 0}
    places["k"] = (2.0, 2.1)
    old = made_of(["c x", "c y", "c m", "k m", "k x"], places, parity)
    new = made_of(["c m", "k m", "k x"], places, parity)
    assert told(transition(old, new)) == [("drop", ["c x"], [], None), ("drop", ["c y"], [], None)]


@pytest.mark.parametrize(
    ("links", "moved", "message"),
    [
        (["a0 a1", "a0 a3"], {}, "2 links on antenna 0 of 'a0'"),
        (["a0 a2"], {}, "'a0' and 'a2', which have one parity"),
        (["a0 a1"], {"a1": (30.0, 0.0)}, "'a0' and 'a1', which is not possible where they are now"),
    ],
)
def test_a_new_topology_that_breaks_a_rule_is_refused(
    links: list[str], moved: dict[str, tuple[float, float]], message: str
) -> None:
    with pytest.raises(TopologyError, match=message):
        transition(on_rows([]), made_of(links, {**ROWS, **moved}, PARITY))


def test_what_cannot_be_matched_is_refused() -> None:
    old, new = on_rows(TOP), on_rows([*TOP, *COLUMNS])
    with pytest.raises(TopologyError, match="share no node"):
        transition(made_of(["p q"], {"p": (0, 0), "q": (1, 0)}, {"p": 0, "q": 1}), new)
    with pytest.raises(TopologyError, match=r"has 2 nodes, the new one 8: nodes can be matched by id only"):
        transition(Topology([(0, 1)], [0, 1]), new)
    with pytest.raises(TopologyError, match="only one of them has 'a0', 'zz'"):
        other = Fleet(list(ROWS.values()), np.zeros(8), ["zz", *list(ROWS)[1:]])
        transition(old, new, other)
    with pytest.raises(TopologyError, match="does not know its fleet"):
        transition(old, Topology(new.links, new.parity))
    for setup in (-1.0, float("nan")):
        with pytest.raises(TopologyError, match="setup must be a finite number of at least 0"):
            transition(old, new, setup=setup)
    with pytest.raises(TopologyError, match="align must be true or false"):
        transition(old, new, align="no")  # type: ignore[arg-type]


def test_the_present_fleet_says_who_shares_an_antenna_in_whatever_order_its_nodes_come() -> None:
    old, new = on_rows([*TOP, *COLUMNS, "a0 a1"]), on_rows([*TOP, *COLUMNS, "a0 a3"])
    expected = told(transition(old, new))
    order = [5, 2, 7, 0, 1, 6, 4, 3]
    fleet = new.on().fleet.part(order)
    made = transition(old, new, fleet)
    assert told(made) == expected
    assert made.new.on().fleet.ids == fleet.ids and made.new.on().radio == RADIO
    # Plain topologies are matched by index, and get their fleet from the call.
    plain = transition(Topology(old.links, old.parity), Topology(new.links, new.parity), new.on())
    assert told(plain) == expected
    # Where a3 has flown to the north of a0, nothing is in the way.
    places = np.array(list(ROWS.values()))
    places[3] = (0.3, 5.0)
    moved = on_rows([*TOP, "a0 b3", "a1 b1"]), on_rows([*TOP, "a0 a3", "a1 b1"])
    assert told(transition(*moved, new.on().fleet.replace(places)))[0][0] == "drop"


@st.composite
def pairs(draw: st.DrawFn, largest: int, any_old: bool) -> tuple[Topology, Topology]:
    """Any two topologies for a fleet; any_old: the old one may break rules."""
    fleet = draw(fleets(2, largest))
    radio = Radio(sectors=draw(st.sampled_from([1, 2, 3, 4, 6])), range=draw(st.sampled_from([1.5, 2.5, 10.0])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    new = random_links(fleet, radio, rng, draw(st.sampled_from([1.0, 0.8])))
    if any_old:
        old = draw(topologies(len(fleet)))
        return Topology(old.links, old.parity, layout=new.layout), new
    return random_links(fleet, radio, rng, draw(st.sampled_from([1.0, 0.8]))), new


@settings(max_examples=400)
@given(pairs(6, any_old=False), st.booleans())
def test_the_network_stays_whole_exactly_where_some_order_lets_it(pair: tuple[Topology, Topology], align: bool) -> None:
    made = transition(*pair, align=align)
    assert list(broken_rules(made, *pair)) == []
    assert made.proven
    assert made.connected == can_stay_whole(made)
    assert align or made.new == pair[1]


@settings(max_examples=150)
@given(pairs(5, any_old=True))
def test_whatever_the_old_links_are_every_state_keeps_the_rules(pair: tuple[Topology, Topology]) -> None:
    made = transition(*pair)
    assert list(broken_rules(made, *pair)) == []
    assert made.connected == can_stay_whole(made)


@settings(max_examples=60)
@given(pairs(40, any_old=False), st.booleans())
def test_the_rules_are_kept_in_larger_fleets(pair: tuple[Topology, Topology], align: bool) -> None:
    assert list(broken_rules(transition(*pair, align=align), *pair)) == []


def test_searched_topologies_of_fleets_that_move_gain_and_lose_nodes() -> None:
    for number in range(25):
        pair = draw_pair(number, largest=24)
        assert list(broken_rules(transition(pair.old, pair.new), pair.old, pair.new)) == [], number


def test_a_proof_that_no_order_exists_is_never_wrong() -> None:
    proven = impossible = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 7))
        fleet = Fleet(rng.normal(size=(n, 2)), rng.uniform(-3, 3, n))
        radio = Radio(sectors=int(rng.integers(2, 5)))
        old, new = (random_links(fleet, radio, rng, 0.8) for _ in range(2))
        between = Between.of(start_of(old, new, None, align=False))
        if can_stay_whole(transition(old, new, align=False)):
            assert not is_impossible(between, between.goals), seed
        else:
            impossible += 1
            proven += is_impossible(between, between.goals)
    # Or nothing would be tested.
    assert proven > impossible / 2 > 5


def test_with_one_state_to_look_at_the_rules_are_kept_but_nothing_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FEW_STATES", 1), ("FEW_FOR_EACH", 0), ("MOST_STATES", 1), ("MOST_FOR_EACH", 0)):
        monkeypatch.setattr(ordering, name, value)
    monkeypatch.setattr(ordering, "is_impossible", lambda between, goals: False)
    broke = 0
    for number in range(4, 64, 5):
        pair = draw_pair(number, largest=24)
        made = transition(pair.old, pair.new)
        assert list(broken_rules(made, pair.old, pair.new)) == [], number
        assert made.proven == made.connected
        broke += not made.connected
    assert broke > 0


def test_broken_rules_are_seen() -> None:
    old, new = on_rows([*TOP, *COLUMNS, "a0 a1"]), on_rows([*TOP, *COLUMNS, "a0 a3"])
    made = transition(old, new)

    def seen(**entries: object) -> str:
        return "; ".join(broken_rules(Transition(**{**made.__dict__, **entries}), old, new))

    drop, add = made.rounds
    assert "two links on an antenna" in seen(rounds=(add, drop))
    assert "adds what cannot be added" in seen(rounds=(add, drop))
    assert "states do not end" in seen(rounds=(drop,))
    assert "connected is False" in seen(connected=False)
    assert "dropped or added twice" in seen(rounds=(drop, add, drop))
    assert "other links are reached" in seen(new=old)


def test_a_schedule_is_written_with_ids_and_times(tmp_path: Path) -> None:
    old, new = on_rows([*TOP, *COLUMNS, "a0 a1"]), on_rows([*TOP, *COLUMNS, "a0 a3", "a1 a2"])
    made = transition(old, new, setup=2)
    assert json.loads(schedule_text(made)) == made.to_dict()
    write_transition(made, tmp_path / "rounds.json")
    assert (tmp_path / "rounds.json").read_text(encoding="utf-8") == schedule_text(made)
    with pytest.raises(FormatError, match=r"rounds.txt: a transition is written into .json, or for EMANE into .eel"):
        write_transition(made, tmp_path / "rounds.txt")


EVENT = re.compile(r"(\d+\.\d{6}) nem:(\d+) pathloss nem:(\d+),(\d+\.\d{6}),(\d+\.\d{6})")


@pytest.mark.parametrize("begin", [0.0, 10.0])
def test_link_events_lead_from_the_old_links_to_the_new_ones(begin: float, tmp_path: Path) -> None:
    pair = next(pair for number in range(3, 100, 5) if len((pair := draw_pair(number, 16)).new) > 6)
    made = transition(pair.old, pair.new, setup=1.5)
    ids = made.new.on().fleet.ids
    lines = link_events(made, up_db=70.0, down_db=150.0, begin=begin).splitlines()
    assert lines[: len(ids)] == [f'# nem:{k} is "{name}"' for k, name in enumerate(ids, start=1)]
    events = [EVENT.fullmatch(line) for line in lines[len(ids) :]]
    seconds = [float(event[1]) for event in events if event]
    assert len(seconds) == len(events) and seconds == sorted(seconds)
    assert set(seconds) <= {0.0, *(begin + at for at in made.times())}
    loss: dict[tuple[int, int], str] = {}
    for event in events:
        assert event and event[4] == event[5]
        loss[int(event[2]) - 1, int(event[3]) - 1] = event[4]
    up = {link for link, value in loss.items() if value == "70.000000"}
    assert up == set(map(tuple, made.new.links.tolist()))
    assert {value for link, value in loss.items() if link not in up} <= {"150.000000"}
    write_transition(made, tmp_path / "rounds.eel")
    assert (tmp_path / "rounds.eel").read_text(encoding="utf-8") == link_events(made)
    with pytest.raises(FormatError, match="up_db must be a finite number"):
        link_events(made, up_db=-1.0)


def test_it_is_public() -> None:
    assert md.transition is transition
    assert md.Transition is Transition


@pytest.mark.parametrize("seed", range(6))
def test_the_schedule_alone_says_how_to_get_there(seed: int) -> None:
    """Also where the slots of a part are swapped as a whole, and where nodes join."""
    rng = np.random.default_rng(seed)
    fleet = md.scenarios.draw("mixed", 9, rng)
    old = md.correct(md.solve(fleet.part(range(8)), moves=500, seed=seed), flip_parts=True)
    new = md.correct(md.solve(md.scenarios.move_by(fleet, 0.3, rng), moves=500, seed=seed + 1), flip_parts=True)
    plan = transition(old, Topology(new.links, 1 - new.parity, layout=new.layout))
    told = json.loads(json.dumps(plan.to_dict()))
    ids = old.on().fleet.ids
    up = {tuple(sorted((ids[i], ids[j]))) for i, j in old.links.tolist()}
    parity = dict(zip(ids, old.parity.tolist(), strict=True))
    for name, bit in told["parity"].items():
        parity.setdefault(name, bit)  # who has joined
    for one in told["rounds"]:
        up -= {tuple(sorted(link)) for link in one["drop"]}
        if one["turn"]:
            parity[one["turn"]["node"]] = one["turn"]["parity"]
        up |= {tuple(sorted(link)) for link in one["add"]}
        assert all(parity[a] != parity[b] for a, b in up)
    assert parity == told["parity"]
    reached = plan.new.on().fleet.ids
    assert up == {tuple(sorted((reached[i], reached[j]))) for i, j in plan.new.links.tolist()}
