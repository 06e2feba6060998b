"""Random transitions from one topology to another, every state of them checked in plain Python.

    python scripts/check_transitions.py                            # a thousand, half a minute on one core
    python scripts/check_transitions.py --first 200 --count 100 --largest 24

Fleets of 4 to 64 nodes, each with an old and a new topology made in one of five ways: searched for before and after
the fleet has moved, with other seeds, so that parity differs; the old one corrected and polished where the nodes are
now, as an update would; two short searches for one fleet; some nodes gone, others new; and any links that keep the
rules. Antennas, ranges, parts and orders are worked out here once more, and share nothing with what is checked: for up
to 7 nodes all orders are tried. Exit code 1 if a rule is broken.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from manetdiff import Fleet, Layout, Radio, Topology, Transition, correct, polish, solve, transition
from manetdiff.scenarios import draw, move_by
from manetdiff.topology.parts import unwarned_of_parts

SMALLEST, LARGEST = 4, 64
# Fleets of up to so many nodes have few enough orders to try them all.
EXHAUSTIVE = 7
KINDS = ("moved", "updated", "searched twice", "joined and left", "at random")
MOVES_A_NODE = {"searched twice": 5}

Link = tuple[int, int]
Links = frozenset[Link]
Parity = tuple[int, ...]


class Pair(NamedTuple):
    """An old topology and a new one, and how they were made."""

    old: Topology
    new: Topology
    kind: str


class Row(NamedTuple):
    """What came of a transition. possible: whether an order keeps the network whole, where all were tried."""

    nodes: int
    kind: str
    made: Transition
    possible: bool | None
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="number of the first transition")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--largest", type=int, default=LARGEST, help="fleet")
    asked = parser.parse_args()
    rows, broken = [], 0
    for number in range(asked.first, asked.first + asked.count):
        pair = draw_pair(number, asked.largest)
        began = time.process_time()
        made = transition(pair.old, pair.new, align=number % 7 > 0)
        seconds = time.process_time() - began
        for rule in broken_rules(made, pair.old, pair.new):
            broken += 1
            print(f"transition {number} ({len(pair.new)} nodes, {pair.kind}): {rule}", flush=True)
        possible = can_stay_whole(made) if len(pair.new) <= EXHAUSTIVE else None
        if possible is not None and (possible != made.connected or not made.proven):
            broken += 1
            print(f"transition {number}: connected is {made.connected}, though an order exists: {possible}", flush=True)
        rows.append(Row(len(pair.new), pair.kind, made, possible, seconds))
    report(rows)
    print(f"{broken} rules broken")
    sys.exit(broken > 0)


def report(rows: list[Row]) -> None:
    """Shares and means, by the way in which the topologies were made."""
    print("kind, transitions, connected, proven impossible, limit hit, rounds, changes, turns, seconds: mean, most")
    for kind in (*KINDS, "all"):
        some = [row for row in rows if kind in (row.kind, "all")]
        if not some:
            continue
        made = [row.made for row in some]
        shares = (
            np.mean([one.connected for one in made]),
            np.mean([one.proven and not one.connected for one in made]),
            np.mean([not one.proven for one in made]),
        )
        means = (
            np.mean([len(one.rounds) for one in made]),
            np.mean([one.dropped + one.added for one in made]),
            np.mean([one.turned for one in made]),
        )
        seconds = [row.seconds for row in some]
        print(
            f"{kind:16} {len(some):5}  " + "  ".join(f"{share:6.1%}" for share in shares),
            "  ".join(f"{mean:6.2f}" for mean in means),
            f"{np.mean(seconds):.4f}  {max(seconds):.3f}",
            sep="  ",
        )
    tried = [row for row in rows if row.possible is not None]
    agreed = sum(row.possible == row.made.connected for row in tried)
    whole = sum(row.possible is True for row in tried)
    print(f"up to {EXHAUSTIVE} nodes: {agreed} of {len(tried)} as all orders say, of which {whole} can stay whole")


def draw_pair(number: int, largest: int = LARGEST) -> Pair:
    """An old topology and a new one that keeps the rules: all of it by its number."""
    rng = np.random.default_rng((2026, number))
    n = int(min(largest, SMALLEST * (1 + largest / SMALLEST) ** rng.uniform()))
    kind = KINDS[number % len(KINDS)]
    radio = Radio(sectors=int(rng.choice([3, 4, 4, 6])))
    before = draw("mixed", n + 2, rng)
    after = before if kind == "searched twice" else move_by(before, rng.uniform(0.02, 0.2), rng)
    if kind == "joined and left":
        before, after = before.part(np.arange(n)), after.part(rng.permutation(np.arange(2, n + 2)))
    else:
        before, after = before.part(np.arange(n)), after.part(np.arange(n))
    if kind == "at random":
        old, new = random_links(before, radio, rng), random_links(after, radio, rng)
        return Pair(old, new, kind)
    with unwarned_of_parts():
        moves = MOVES_A_NODE.get(kind, 50) * n
        old = _searched(before, radio, moves, rng)
        if kind == "updated":
            here = Layout(after, radio)
            new = polish(correct(Topology(old.links, old.parity), here, flip_parts=True), here, moves=4 * n)
        else:
            new = _searched(after, radio, moves, rng)
        # A short search may leave two links on an antenna.
        return Pair(old, correct(new), kind)


def random_links(fleet: Fleet, radio: Radio, rng: np.random.Generator, share: float = 1.0) -> Topology:
    """Links that keep the rules, and as many as can be, under any parity; share: of them, how many stay."""
    place, n = Place(fleet, radio), len(fleet)
    parity = rng.integers(0, 2, n)
    links: list[Link] = []
    used: set[tuple[int, int]] = set()
    for i, j in rng.permutation(np.argwhere(np.triu(np.ones((n, n)), 1))).tolist():
        antennas = place.antennas((i, j))
        if parity[i] != parity[j] and place.within_range((i, j)) and antennas.isdisjoint(used):
            links.append((i, j))
            used |= antennas
    some = [link for link in links if rng.uniform() < share]
    return Topology(np.array(some, dtype=np.int64).reshape(-1, 2), parity, layout=Layout(fleet, radio))


def _searched(fleet: Fleet, radio: Radio, moves: int, rng: np.random.Generator) -> Topology:
    return solve(fleet, radio, moves=moves, seed=int(rng.integers(2**31)))


class Place:
    """A fleet in plain numbers."""

    def __init__(self, fleet: Fleet, radio: Radio) -> None:
        self._positions: list[list[float]] = fleet.positions.tolist()
        self._yaw: list[float] = fleet.yaw.tolist()
        self._sectors = radio.sectors
        self._range = radio.range * (fleet.scale if radio.unit is None else radio.unit)

    def antennas(self, link: Link) -> set[tuple[int, int]]:
        """Node and sector at both ends."""
        i, j = link
        return {(i, self._sector(i, j)), (j, self._sector(j, i))}

    def _sector(self, i: int, j: int) -> int:
        (x, y), (to_x, to_y) = self._positions[i][:2], self._positions[j][:2]
        width = 2 * math.pi / self._sectors
        ahead = (math.atan2(to_y - y, to_x - x) - self._yaw[i] + width / 2) % (2 * math.pi)
        return math.floor(ahead / width) % self._sectors

    def within_range(self, link: Link) -> bool:
        """Whether the link is no longer than the radio reaches."""
        return math.dist(self._positions[link[0]], self._positions[link[1]]) <= self._range

    def used(self, links: Collection[Link]) -> list[tuple[int, int]]:
        """The antennas of all links; those with two stand twice."""
        return [antenna for link in links for antenna in self.antennas(link)]


def parts(links: Collection[Link], n: int) -> list[int]:
    """Of each node the one that stands for its part."""
    leader = list(range(n))

    def lead(node: int) -> int:
        while leader[node] != node:
            node = leader[node]
        return node

    for i, j in links:
        leader[lead(i)] = lead(j)
    return [lead(node) for node in range(n)]


def count_parts(links: Collection[Link], n: int) -> int:
    """In how many parts the network is."""
    return len(set(parts(links, n)))


def plain(links: np.ndarray) -> Links:
    """Links (k, 2) as a set."""
    return frozenset((int(i), int(j)) for i, j in links)


def broken_rules(made: Transition, old: Topology, new: Topology) -> Iterator[str]:
    """What is wrong with a transition between two topologies that know their fleets, in words."""
    layout = made.new.on()
    yield from wrong_ends(made, old, new)
    place = Place(layout.fleet, layout.radio)
    yield from wrong_start(made, place)
    n, wanted, final = len(made.new), plain(made.new.links), tuple(made.new.parity.tolist())
    up, parity = plain(made.old.links), list(made.old.parity.tolist())
    allowed = max(count_parts(started(made), n), count_parts(wanted, n))
    whole = True
    dropped: list[Link] = []
    added: list[Link] = []
    states = list(made.states())
    if len(states) != len(made.rounds) or (states and states[-1] != made.new):
        yield "states do not end where they should"
    for number, (one, state) in enumerate(zip(made.rounds, states, strict=True)):
        gone, come, was = plain(one.dropped), plain(one.added), up
        dropped += gone
        added += come
        if not gone <= up or come & (up - gone) or not come <= wanted:
            yield f"round {number}: drops what is not there, or adds what is, or what is not asked for"
        up = (up - gone) | come
        if one.kind == "turn":
            assert one.node is not None
            parity[one.node] = 1 - parity[one.node]
            may = {
                link for link in wanted if one.node in link and _may_be_added(link, was - gone, parity, final, place)
            }
            if gone != {link for link in was if one.node in link} or come != may:
                yield f"round {number}: does not drop what no longer fits, or not add what then does"
            if parity[one.node] != final[one.node]:
                yield f"round {number}: turns a node away from where it belongs"
        elif one.node is not None or (come if one.kind == "drop" else gone):
            yield f"round {number}: is no mere {one.kind}"
        elif not all(_may_be_added(link, was, parity, final, place) for link in come):
            yield f"round {number}: adds what cannot be added"
        if plain(state.links) != up or state.parity.tolist() != parity:
            yield f"state {number} is not what its rounds say"
        if len(set(place.used(up))) < 2 * len(up):
            yield f"state {number}: two links on an antenna"
        if any(parity[i] == parity[j] for i, j in up):
            yield f"state {number}: a link inside one parity"
        if not all(map(place.within_range, up)):
            yield f"state {number}: a link out of range"
        whole = whole and count_parts(up, n) <= allowed
    if len(set(dropped)) < len(dropped) or len(set(added)) < len(added):
        yield "a link is dropped or added twice"
    if whole != made.connected:
        yield f"connected is {made.connected}, but should be {whole}"


def _may_be_added(link: Link, up: Collection[Link], parity: list[int], final: Parity, place: Place) -> bool:
    i, j = link
    ready = parity[i] == final[i] and parity[j] == final[j] and parity[i] != parity[j]
    return ready and place.antennas(link).isdisjoint(place.used(up))


def wrong_ends(made: Transition, old: Topology, new: Topology) -> Iterator[str]:
    """Whether the transition leads from the one topology to the other: nodes are told by their ids."""
    was, then, now = (one.on().fleet.ids for one in (old, new, made.new))

    def named(topology: Topology, ids: tuple[str, ...]) -> set[frozenset[str]]:
        return {frozenset((ids[i], ids[j])) for i, j in topology.links.tolist()}

    if named(made.new, now) != named(new, then):
        yield "other links are reached than were asked for"
    here = {link for link in named(old, was) if link <= set(now)}
    if named(made.old, now) != here or set(map(frozenset, made.gone)) != named(old, was) - here:
        yield "other links are left than were there"
    parity = {name: int(bit) for name, bit in zip(was, old.parity, strict=True)}
    ends = zip(now, made.old.parity, made.new.parity, strict=True)
    if any(parity.get(name, int(end)) != bit for name, bit, end in ends):
        yield "nodes do not start with the parity that they had, or that they are to have"
    asked = {name: int(bit) for name, bit in zip(then, new.parity, strict=True)}
    leaders = parts(plain(made.new.links), len(now))
    for leader in set(leaders):
        nodes = [name for name, one in zip(now, leaders, strict=True) if one == leader]
        reached = {name: int(bit) for name, bit in zip(now, made.new.parity, strict=True) if name in nodes}
        turns = sum(parity.get(name, reached[name]) != reached[name] for name in nodes)
        differ = {reached[name] != asked[name] for name in nodes}
        others = sum(name in parity for name in nodes) - turns
        if len(differ) > 1 or (True in differ and turns >= others):
            yield "a part is not of the parity asked for, nor wholly turned with fewer turns"


def started(made: Transition) -> Links:
    """The links once those that break a rule have gone."""
    first = _forced(made)
    return plain(made.old.links) - (frozenset() if first is None else first)


def _forced(made: Transition) -> Links | None:
    """What is dropped in the first round because it breaks a rule; None where nothing does."""
    layout = made.new.on()
    place, up, parity = Place(layout.fleet, layout.radio), plain(made.old.links), made.old.parity
    sound = {link for link in up if parity[link[0]] != parity[link[1]] and place.within_range(link)}
    if sound == up and len(set(place.used(up))) == 2 * len(up):
        return None
    return plain(made.rounds[0].dropped)


def wrong_start(made: Transition, place: Place) -> Iterator[str]:
    """Whether the first round drops what breaks a rule, and nothing else."""
    forced = _forced(made)
    if forced is None:
        return
    up, wanted, parity = plain(made.old.links), plain(made.new.links), made.old.parity
    kept = up - forced
    for link in forced:
        unsound = parity[link[0]] == parity[link[1]] or not place.within_range(link)
        rivals = [other for other in kept if place.antennas(link) & place.antennas(other)]
        if not unsound and (not rivals or (link in wanted and wanted.isdisjoint(rivals))):
            yield f"link {link} goes first for no reason"


def can_stay_whole(made: Transition) -> bool:
    """Whether any order of single drops, adds and turns keeps the network whole: all of them are tried."""
    layout = made.new.on()
    place, n = Place(layout.fleet, layout.radio), len(made.new)
    wanted, final = plain(made.new.links), tuple(made.new.parity.tolist())
    allowed = max(count_parts(started(made), n), count_parts(wanted, n))
    begin = started(made), tuple(made.old.parity.tolist())
    seen, waiting = {begin}, [begin]
    while waiting:
        up, parity = waiting.pop()
        if (up, parity) == (wanted, final):
            return True
        for state in _next_states(up, parity, wanted, final, place):
            if state not in seen and count_parts(state[0], n) <= allowed:
                seen.add(state)
                waiting.append(state)
    return False


def _next_states(
    up: Links, parity: Parity, wanted: Links, final: Parity, place: Place
) -> Iterator[tuple[Links, Parity]]:
    """After one drop, one turn or one add."""
    for link in up - wanted:
        yield up - {link}, parity
    for node, bit in enumerate(final):
        if parity[node] != bit:
            turned = [*parity[:node], bit, *parity[node + 1 :]]
            left = {(i, j) for i, j in up if turned[i] != turned[j]}
            come = {link for link in wanted if node in link and _may_be_added(link, left, turned, final, place)}
            yield frozenset(left | come), tuple(turned)
    for link in wanted - up:
        if _may_be_added(link, up, list(parity), final, place):
            yield up | {link}, parity


if __name__ == "__main__":
    main()
