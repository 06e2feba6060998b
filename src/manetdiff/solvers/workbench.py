"""A layout's search state and what goes with it, made once and used for one topology after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from manetdiff.errors import SolverError
from manetdiff.layout import Layout
from manetdiff.layout.tables import FAR_AWAY, OWNER, PEER, REVERSE, narrowed
from manetdiff.radio.pairs import EVERY_PAIR, MEGAHERTZ
from manetdiff.solvers.budget import Meter
from manetdiff.solvers.far_field import FarField
from manetdiff.solvers.far_harm import FarHarm
from manetdiff.solvers.later import Later, slots_later
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.moves import LEAST_GAIN, anneal, anneal_by_regions, descend
from manetdiff.solvers.scoring import compute_rates, put_links
from manetdiff.solvers.state import (
    AIRTIME,
    HARM,
    PLACE,
    SearchState,
    clear,
    empty_state,
    find_slots,
    read_links,
    total,
)
from manetdiff.solvers.walks import count_parts, know_parts

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# A time budget is looked at after so many moves a node, a deadline after as many moves as there are nodes: the one is
# kept to about a millisecond, the other to a fraction of it.
MOVES_A_LOOK = 10
# Nodes of a neighbourhood that a search stays in for a while.
REGION = 48
# In large fleets: moves a node between two looks at what is heard from afar, at least and for each node (a look takes
# time in proportion to n²), and the most looks of one annealing.
MOVES_A_LOOK_AFAR, MORE_A_NODE = 20, 0.2
LOOKS_AFAR = 40


def looks_afar(n: int, moves: int) -> int:
    """Into how many parts, with a look at what is heard from afar between them, an annealing of so many moves falls."""
    return max(1, min(LOOKS_AFAR, int(moves / (n * max(MOVES_A_LOOK_AFAR, MORE_A_NODE * n)))))


class Workbench:
    """state: of the topology on the bench. label: (n,) room for components. scale: MHz of bandwidth, which what counts
    as a gain grows with. prices: (p,) of slots, what a link costs beside what it carries,
    half of it at either end; None: nothing. ahead: benches of the same nodes where they
    will be later, on which the same links lie."""

    def __init__(self, layout: Layout) -> None:
        n = len(layout)
        self.loyalties: tuple[Loyalty, ...] = ()
        self.prices: FloatArray | None = None
        self.ahead: tuple[Workbench, ...] = ()
        self.crowding: tuple[float, ...] = ()
        self.later: tuple[Later, ...] | None = None
        self.label = np.empty(n, dtype=np.int64)
        # Moves after which a search looks at its budget.
        self.look = MOVES_A_LOOK * n
        self.nodes = np.arange(n)
        self.region = np.empty(min(n, REGION), dtype=np.int64)
        self._set_up(layout)

    def _set_up(self, layout: Layout) -> None:
        self.layout, self.tables = layout, layout.tables
        self.scale = float(self.tables.constants[MEGAHERTZ])
        self.state = empty_state(self.tables)
        self.far_field = FarField(layout)
        self.far_harm = None if self.far_field.empty else FarHarm(layout, self.far_field.mute)
        # (p,) one of the two slots of each pair.
        self.forward_slots = self.tables.ints[OWNER] < self.tables.ints[PEER]
        if self.loyalties:
            self.be_loyal(*self.loyalties)
        if self.ahead:
            self.look_ahead([bench.layout for bench in self.ahead], self.crowding)

    def look_ahead(self, layouts: Sequence[Layout], crowding: Sequence[float] = ()) -> None:
        """From the next topology that is put on the bench on, T that is raised is the mean over now and these layouts
        of the same nodes.

        - crowding: what each link costs in each of these layouts that is not the only one on an antenna, in Mbit/s.
        """
        candidates = self.layout.candidates
        self.crowding = tuple(crowding) or (0.0,) * len(layouts)
        self.ahead = tuple(Workbench(layout.including(candidates)) for layout in layouts)
        # T of all is added up, and the prices with it.
        made = [
            Later(bench.tables, bench.state, slots_later(self.tables, bench.tables), (1 + len(layouts)) * price)
            for bench, price in zip(self.ahead, self.crowding, strict=True)
        ]
        self.later = tuple(made) or None

    def be_loyal(self, *loyalties: Loyalty) -> None:
        """From the next topology that is put on the bench on, what is raised is T and what kept links are worth."""
        self.loyalties = loyalties
        self.prices = np.sum([loyalty.prices(self.tables) for loyalty in loyalties], axis=0)
        # Prices are looked up as if there were somebody far away.
        constants = self.tables.constants.copy()
        constants[FAR_AWAY] = 1
        self.tables = self.tables._replace(constants=constants)

    def propose_only(self, links: IntArray) -> None:
        """From now on, until links are included, searches propose to link and to drop only these of the candidates,
        (m, 2); others can only be pushed off."""
        slots = self.slots(links)
        slots = slots[slots >= 0]
        wanted = np.zeros(self.tables.slots, dtype=np.bool_)
        wanted[slots] = wanted[self.tables.ints[REVERSE, slots]] = True
        self.tables = narrowed(self.tables, wanted)

    def include(self, links: IntArray) -> bool:
        """Take links (m, 2) that may be linked into the tables; whether that changed anything. What is on the bench
        stays there."""
        layout = self.layout.including(links)
        if layout is self.layout:
            return False
        held, parity = self.links, self.parity
        self._set_up(layout)
        self.put(held, parity)
        return True

    @property
    def holds_all(self) -> bool:
        """Whether every pair that may be linked can be put on the bench."""
        return self.far_field.empty

    def slots(self, links: IntArray) -> IntArray:
        """(m,) slots of links (m, 2); -1 for those that the tables do not hold."""
        slots = np.empty(len(links), dtype=np.int64)
        # A copy, because numba would compile the kernel anew for links that are read-only or ordered otherwise.
        find_slots(self.tables, np.array(links, order="C"), slots)
        return slots

    def put(self, links: IntArray, parity: IntArray) -> None:
        """Put a topology on the bench, computed from scratch: links (m, 2) of opposite parity (n,), within range."""
        slots = self.slots(links)
        if (slots < 0).any():
            i, j = links[slots.argmin()]
            raise SolverError(f"link ({i}, {j}) is not among the pairs that this search can hold")
        self.put_slots(slots, parity)

    def put_slots(self, slots: IntArray, parity: IntArray) -> None:
        """The same by slots (m,)."""
        state = self.state
        clear(state)
        state.parity[:] = parity
        put_links(self.tables, state, slots)
        for bench, later in zip(self.ahead, self.later or (), strict=True):
            there = later.slots[slots]
            bench.put_slots(there[there >= 0], parity)
        self.look_afar()
        know_parts(self.tables, state)

    def kept(self) -> list[SearchState]:
        """A copy of all that is on the bench, for `put_back`."""
        return [SearchState._make(array.copy() for array in bench.state) for bench in (self, *self.ahead)]

    def put_back(self, kept: list[SearchState]) -> None:
        """Put what was kept back: in large fleets with what it heard from afar, because a look takes long; in others
        computed from scratch, so that no rounding adds up."""
        for bench, was in zip((self, *self.ahead), kept, strict=True):
            for name in SearchState._fields:
                getattr(bench.state, name)[:] = getattr(was, name)
        if self.holds_all:
            self.put(self.links, self.parity)

    def look_afar(self) -> None:
        """Bring what nodes hear from afar up to date, and all rates with it."""
        self.far_field.look(self.state)
        compute_rates(self.tables, self.state)
        if self.far_harm is not None:
            self.far_harm.weigh(self.state)
        if self.prices is not None:
            if self.far_harm is None:
                self.state.floats[HARM:] = 0.0
            # As much for every moment, because T of all is added up.
            self.state.floats[HARM:] += (1 + len(self.ahead)) * self.prices
        for bench in self.ahead:
            bench.look_afar()

    def anneal(self, rng: FloatArray, moves: int, hot: float, cold: float, limit: int, penalty: float) -> None:
        """So many random moves while it cools down. limit: most links on an antenna; penalty: what a part costs."""
        if len(self.layout) <= EVERY_PAIR:
            anneal(self.tables, self.state, self.later, rng, self.nodes, moves, hot, cold, limit, penalty)
        else:
            anneal_by_regions(self.tables, self.state, self.later, rng, self.region, moves, hot, cold, limit, penalty)

    def cool(
        self, meter: Meter, rng: FloatArray, moves: int, hot: float, cold: float, limit: int, penalty: float
    ) -> None:
        """The same within a budget: as far as the clock goes, where there is one to look at. Large fleets are listened
        to from afar now and then."""
        afar = 1 if self.holds_all else looks_afar(len(self.layout), moves)
        look = min(self._look(meter, moves), -(-moves // afar))
        done, looks, before = 0, 0, hot
        while done < moves and not meter.late:
            step = min(look, moves - done)
            after = cold if done + step == moves else hot * (cold / hot) ** ((done + step) / moves)
            self.anneal(rng, step, before, after, limit, penalty)
            done, before = done + step, after
            meter.moves += step
            if done < moves and done * afar // moves > looks:
                looks = done * afar // moves
                self.look_afar()

    def descend(self, meter: Meter, limit: int, penalty: float) -> None:
        """Try every candidate pair until nothing improves, or as far as the budget goes."""
        least, cursor = self.scale * LEAST_GAIN, np.zeros(2, dtype=np.int64)
        while (left := meter.moves_left(at_least=self.look)) > 0:
            most = min(left, self._look(meter, left))
            tried = descend(self.tables, self.state, self.later, limit, penalty, least, most, cursor)
            meter.moves += tried
            if tried < most:
                return

    def _look(self, meter: Meter, moves: int) -> int:
        """Of so many moves, how many to make before the clock is looked at."""
        if not meter.watches_clock:
            return moves
        return self.look if meter.budget.deadline is None else len(self.layout)

    def worth_of_a_link(self, throughput: float, links: int) -> float:
        """What one of so many links carries, in Mbit/s; where none carries anything, one bit a hertz. Temperatures and
        penalties of searches are shares of it, so that they suit any radio."""
        return throughput / max(1, links) or self.scale

    @property
    def links(self) -> IntArray:
        """Those of the topology on the bench."""
        links: IntArray = read_links(self.tables, self.state)
        return links

    @property
    def parity(self) -> IntArray:
        """A copy of the parity on the bench."""
        return self.state.parity.copy()

    @property
    def throughput(self) -> float:
        """T of the topology on the bench, by the interference as the search knows it."""
        return float(total(self.state))

    @property
    def worth(self) -> float:
        """What a search raises, as it is after a look afar: T, the mean over now and what lies ahead, less what links
        cost."""
        mean = sum(bench.throughput for bench in (self, *self.ahead)) / (1 + len(self.ahead))
        for bench, price in zip(self.ahead, self.crowding, strict=True):
            mean -= price * int((bench.state.load - 1).clip(min=0).sum())
        if self.prices is None:
            return mean
        airtime = self.state.floats[AIRTIME]
        return mean - float((airtime * self.prices)[self.state.ints[PLACE] >= 0].sum())

    @property
    def parts(self) -> int:
        """Components of the topology on the bench."""
        return int(count_parts(self.tables, self.state))
