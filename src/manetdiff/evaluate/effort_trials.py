"""What efforts take and give: samples of every kind, drawn, corrected and searched from with more and more moves, on
layouts that are in no benchmark set. All times are CPU time.

The reference, held to one link an antenna as presets are, and the same local search from priors without a network, are
tried on the same layouts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.data.benchmark import default_radio
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.radios import RANDOM
from manetdiff.data.settings import Settings
from manetdiff.layout import Layout
from manetdiff.measure.ways.priors import PRIORS
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.model import Model
from manetdiff.runtime.refine import FALLBACK_MOVES_A_NODE
from manetdiff.runtime.samples import constructed, draw_samples
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.reference import search
from manetdiff.solvers.workbench import Workbench

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SEED = 31_415
# Steps, and whether they start from the spanning forest, in fleets of at least so many nodes. The larger they are, the
# less samples differ from each other, and the less many of them are worth.
DRAWINGS = {
    2: ((1, True), (2, True), (3, True), (1, False), (2, False), (3, False)),
    64: ((1, True), (2, True), (3, True), (3, False)),
    256: ((1, True), (2, True), (3, True)),
}
# One layout in so many is under a random radio, in fleets of fewer than LARGE nodes: in larger ones, a search under
# steered beams would take longer than all the rest.
RANDOM_IN, LARGE = 3, 128
# Samples of a kind: as many as have so many nodes together, within these limits.
NODES_DRAWN, FEWEST_DRAWN, MOST_DRAWN = 512, 2, 24
# Moves a node of local searches and of the reference.
RUNGS = (10, 30, 100, 300, 1000, 3000)
# Of the longest time, what samples of one kind are searched from for; and seconds, in large fleets.
MOST, LONGEST = 0.6, 9.0
FEWEST_LAYOUTS = 2
# More than any T.
IN_PARTS = 1e12


class Start(NamedTuple):
    """What a search starts from."""

    links: IntArray
    parity: IntArray
    throughput: float
    parts: int


class Climb(NamedTuple):
    """A search from some starts, by its moves a node. throughput: {rung: (k,)}, of the first k starts; whole: whether
    what it found is connected. seconds: {rung: of one search}."""

    throughput: dict[int, FloatArray]
    whole: dict[int, npt.NDArray[np.bool_]]
    seconds: dict[int, float]


class Drawing(NamedTuple):
    """Samples of one kind. merit: (k,) T after correction, less where in parts. first, each: seconds of one sample, and
    of each further one, corrected."""

    merit: FloatArray
    first: float
    each: float
    climb: Climb


class Trial(NamedTuple):
    """All that was measured on a layout.

    - usual: whether under the default radio. once: seconds that are spent however many samples are drawn, and however
      long is searched; tables: before a search begins.
    - drawings: by steps and whether they start from the forest. target: the best T of all.
    """

    usual: bool
    once: float
    tables: float
    drawings: dict[tuple[int, bool], Drawing]
    reference: Climb
    priors: dict[str, Climb]
    target: float

    @property
    def fallback(self) -> float:
        """T of the search that takes over where a network comes out in parts."""
        return float(self.reference.throughput[FALLBACK_MOVES_A_NODE][0])


def trials(bundle: Bundle, n: int, longest: float, seconds: float, most: int) -> Iterable[Trial]:
    """Layouts of n nodes, at most so many, each tried, until so many seconds of CPU time are over.

    - longest: seconds of the last preset.
    """
    began = time.process_time()
    chain, model = Chain(bundle), Model(bundle)
    kinds = [
        Settings(nodes=(n,), count=most, seed=SEED, families_in_turn=True, moves_a_node=1, **asked)
        for asked in (default_radio(n), {"radio": RANDOM})
    ]
    first = draw_layouts(kinds[0], most)[0].layout
    _tried(chain, model, first, 0, {RUNGS[0]: 1}, usual=True)  # what is done once in a process
    starts = _starts_by_rung(first, longest)
    for index in range(most):
        if index >= FEWEST_LAYOUTS and time.process_time() - began > seconds:
            return
        usual = n >= LARGE or index % RANDOM_IN > 0
        layout = draw_layouts(kinds[0 if usual else 1], index)[0].layout
        yield _tried(chain, model, layout, index, starts, usual=usual)


def _starts_by_rung(layout: Layout, longest: float) -> dict[int, int]:
    """How many samples are searched from with so many moves a node: as many as most of the longest time is enough for,
    at least one where all of it is."""
    n, bench = len(layout), Workbench(layout)
    start = _on_bench(bench, *constructed(layout))
    began = time.process_time()
    _searched(bench, start, 0, RUNGS[1] * n)
    pace = (time.process_time() - began) / RUNGS[1]
    room = min(LONGEST, longest) / pace
    return {rung: max(1, int(MOST * room / rung)) for rung in RUNGS if rung <= room}


def _tried(chain: Chain, model: Model, drawn: Layout, seed: int, starts: Mapping[int, int], *, usual: bool) -> Trial:
    """Everything about one layout. starts: by rung, see _starts_by_rung."""
    # Twice: what comes right after the searches on the layout before would take longer than in a stream of calls.
    for _ in range(2):
        layout = Layout(drawn.fleet, drawn.radio)  # without what was computed while it was drawn
        began = time.process_time()
        bench = Workbench(layout)
        tables = time.process_time() - began
        embedded = chain.embed(layout)
        forest = constructed(layout, greedy=False)
        once = time.process_time() - began
    n = len(layout)
    count = int(np.clip(NODES_DRAWN // n, FEWEST_DRAWN, MOST_DRAWN))
    drawings = {}
    for steps, grown in next(kinds for least, kinds in reversed(DRAWINGS.items()) if n >= least):
        how = forest if grown else None
        for _ in range(2):
            begun = time.process_time()
            draw_samples(chain, embedded, Effort(steps, 1, forest=grown), seed, forest=how)
            first = time.process_time() - begun
        many = draw_samples(chain, embedded, Effort(steps, count, forest=grown), seed, forest=how)
        drawn_by = time.process_time()
        each = (drawn_by - begun - 2 * first) / (count - 1)
        corrected = [_on_bench(bench, *sample) for sample in many.samples]
        correction = (time.process_time() - drawn_by) / count
        merit = np.array([one.throughput - IN_PARTS * (one.parts - 1) for one in corrected])
        # By what all samples of the kind say together: an effort with few of them narrows the search a little more.
        narrow = bench
        if many.plausible is not None:
            narrow = Workbench(bench.layout)  # which corrections may have added links to
            narrow.propose_only(np.concatenate([many.plausible, *(one.links for one in corrected)]))
        climb = _climbed(starts, n, [partial(_searched, narrow, one, seed + k) for k, one in enumerate(corrected)])
        drawings[steps, grown] = Drawing(merit, first + correction, each + correction, climb)
    priors = {}
    for name, links_of in PRIORS.items():
        begun = time.process_time()
        start = _on_bench(bench, *links_of(layout))
        made = time.process_time() - begun
        climb = _climbed(starts, n, [partial(_searched, bench, start, seed)])
        priors[name] = climb._replace(seconds={rung: made + spent for rung, spent in climb.seconds.items()})
    reference = _climbed(starts, n, [partial(_referred, layout, seed)])
    every = (*(one.climb for one in drawings.values()), *priors.values(), reference)
    once += _beside(model, drawn, once, drawings[1, True])
    target = max(float((climb.throughput[rung] * climb.whole[rung]).max()) for climb in every for rung in starts)
    return Trial(usual, once, tables, drawings, reference, priors, target)


def _beside(model: Model, drawn: Layout, once: float, one_step: Drawing) -> float:
    """Seconds that a whole call takes beside its parts, by one that draws a sample by one step and does not search."""
    for _ in range(2):
        begun = time.process_time()
        model.generate(drawn.fleet, radio=drawn.radio, steps=1, samples=1, polish=0)
        whole = time.process_time() - begun
    return max(0.0, whole - once - one_step.first)


def _on_bench(bench: Workbench, links: IntArray, parity: IntArray) -> Start:
    """Corrected."""
    correct_onto(bench, links, parity, flip_parts=True)
    return Start(bench.links, bench.parity, bench.throughput, bench.parts)


def _searched(bench: Workbench, start: Start, seed: int, moves: int) -> tuple[float, bool]:
    """T, and whether the network is whole, after a local search as the runtime makes it."""
    bench.put(start.links, start.parity)
    search_on(bench, Meter(Budget(moves=moves)), seed, limit=1, annealing=THOROUGH)
    return bench.throughput, bench.parts == 1


def _referred(layout: Layout, seed: int, moves: int) -> tuple[float, bool]:
    """The same by the reference."""
    found = search(layout, Budget(moves=moves), seed, crowd=1)
    return found.throughput, found.components == 1


def _climbed(starts: Mapping[int, int], n: int, searches: Sequence[Callable[[int], tuple[float, bool]]]) -> Climb:
    """Searches, each from its own start, with the moves of one rung after the other."""
    climb = Climb({}, {}, {})
    for rung, most in starts.items():
        begun = time.process_time()
        found = [search_from(rung * n) for search_from in searches[:most]]
        climb.seconds[rung] = (time.process_time() - begun) / len(found)
        climb.throughput[rung] = np.array([throughput for throughput, _ in found])
        climb.whole[rung] = np.array([whole for _, whole in found])
    return climb
