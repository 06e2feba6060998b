"""A layout's search state and what goes with it, made once and used for one topology after another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.solvers.budget import Meter
from manetdiff.solvers.moves import LEAST_GAIN, anneal, descend
from manetdiff.solvers.state import new_state, read_links, reset, total
from manetdiff.solvers.walks import count_parts

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# A time budget is looked at after so many moves a node, a deadline after as many moves as there are nodes: the one is
# kept to about a millisecond, the other to a fraction of it.
MOVES_A_LOOK = 10


class Workbench:
    """state: of the topology on the bench. label: (n,) and occupied: (n, Q), room for components and for links on each
    antenna. scale: MHz of bandwidth, which temperatures and penalties grow with."""

    def __init__(self, layout: Layout) -> None:
        n = len(layout)
        self.layout, self.tables, self.scale = layout, layout.tables, layout.tables.megahertz
        self.state = new_state(self.tables, np.empty((0, 2), dtype=np.int64), np.zeros(n, dtype=np.int64))
        self.label = np.empty(n, dtype=np.int64)
        self.occupied = np.zeros((n, layout.radio.sectors), dtype=np.int64)
        # Moves after which a search looks at its budget.
        self.look = MOVES_A_LOOK * n

    def put(self, links: IntArray, parity: IntArray) -> None:
        """Put a topology on the bench: links (m, 2) of opposite parity (n,), within range."""
        reset(self.tables, self.state, links, parity)

    def anneal(self, rng: FloatArray, moves: int, hot: float, cold: float, limit: int, penalty: float) -> None:
        """So many random moves while it cools down. limit: most links on an antenna; penalty: what a part costs."""
        anneal(self.tables, self.state, rng, *self.layout.peers, moves, hot, cold, limit, penalty)

    def cool(
        self, meter: Meter, rng: FloatArray, moves: int, hot: float, cold: float, limit: int, penalty: float
    ) -> None:
        """The same within a budget: as far as the clock goes, where there is one to look at."""
        look = self._look(meter, moves)
        done, before = 0, hot
        while done < moves and not meter.late:
            step = min(look, moves - done)
            after = cold if done + step == moves else hot * (cold / hot) ** ((done + step) / moves)
            self.anneal(rng, step, before, after, limit, penalty)
            done, before = done + step, after
            meter.moves += step

    def descend(self, meter: Meter, limit: int, penalty: float) -> None:
        """Try every candidate pair until nothing improves, or as far as the budget goes."""
        least, cursor = self.scale * LEAST_GAIN, np.zeros(2, dtype=np.int64)
        while (left := meter.moves_left(at_least=self.look)) > 0:
            most = min(left, self._look(meter, left))
            tried = descend(self.tables, self.state, *self.layout.peers, limit, penalty, least, most, cursor)
            meter.moves += tried
            if tried < most:
                return

    def _look(self, meter: Meter, moves: int) -> int:
        """Of so many moves, how many to make before the clock is looked at."""
        if not meter.watches_clock:
            return moves
        return self.look if meter.budget.deadline is None else len(self.layout)

    @property
    def links(self) -> IntArray:
        """Those of the topology on the bench."""
        return read_links(self.state)

    @property
    def parity(self) -> IntArray:
        """A copy of the parity on the bench."""
        return self.state.parity.copy()

    @property
    def throughput(self) -> float:
        """T of the topology on the bench."""
        return float(total(self.state))

    @property
    def parts(self) -> int:
        """Components of the topology on the bench."""
        return int(count_parts(self.state))
