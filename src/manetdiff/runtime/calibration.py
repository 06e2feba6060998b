"""How fast this machine is: measured outside of all calls, and remembered for it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import numpy as np

from manetdiff.cores import processor_name
from manetdiff.errors import ManetDiffError
from manetdiff.files import write_whole
from manetdiff.fleet import Fleet
from manetdiff.json_settings import parsed_json
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.costs import Calibration, Costs
from manetdiff.runtime.effort import Effort, preset_effort
from manetdiff.runtime.presets import PRESETS
from manetdiff.runtime.samples import Drawn, Sample, constructed, draw_samples
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.user_cache import user_cache

Item = TypeVar("Item")

SIZES, OTHER_SIZE = (8, 16, 32, 64), 11
# Of a sparse network, which serves much larger fleets; one fleet says enough there.
LARGE_SIZES = (256, 1000)
FLEETS, TIMES = 3, 3
# Seconds: what takes longer is measured once.
LONG = 0.05
# Samples of a small and of a larger batch, which tell what a step costs once and what for each sample.
FEW, MANY = 1, 6
# Of the local search: the first moves a node, which descend, take longer than those that follow.
MOVES, FEWEST_A_NODE = 6_400, 20
# Of a call beside its parts, in seconds: arguments are checked, and the topology is put together.
OVERHEAD = 2e-4


def measured(chain: Chain, radio: Radio) -> Calibration:
    """What the parts cost on this machine, now. chain: of the network that presets use; radio: of its weights."""
    kinds = [dataclasses.replace(radio, pattern=pattern) for pattern in ("cone", "parabolic")]
    other = _layouts(OTHER_SIZE, radio)[0]
    sizes = (*SIZES, *LARGE_SIZES) if chain.network == "sparse" else SIZES
    of_network = {n: _network_costs(chain, _layouts(n, radio), other) for n in sizes}
    return Calibration(*(tuple(_costs(chain, _layouts(n, kind), of_network[n]) for n in sizes) for kind in kinds))


def remembered(chain: Chain) -> Calibration | None:
    """What was measured on this machine before."""
    path = _path(chain)
    if path is not None:
        with suppress(OSError, ValueError):  # ManetDiffError is a ValueError
            return Calibration.from_dict(parsed_json(path.read_bytes()))
    return None


def remember(chain: Chain, calibration: Calibration) -> None:
    """Keep it for the next process, if there is a place for it."""
    path = _path(chain)
    if path is not None:
        with suppress(OSError, ManetDiffError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, json.dumps(calibration.to_dict(), indent=1).encode())


def _path(chain: Chain) -> Path | None:
    """Of what was measured with this network on this machine by these libraries."""
    folder = user_cache()
    if folder is None:
        return None
    try:
        versions = [version(name) for name in ("numba", "numpy", "onnxruntime")]
    except PackageNotFoundError:  # one of them is installed under another name, as builds for other devices are
        return None
    known = [chain.digest, processor_name(), *versions]
    return folder / "calibration" / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.json"


def _layouts(n: int, radio: Radio) -> list[Layout]:
    rng, unit = np.random.default_rng(n), radio.unit or 1.0
    if n in LARGE_SIZES:
        # As far apart as 16 nodes are that are scattered over a square of spread 1: so are large fleets, and in their
        # own spread nearly all of their nodes would be within range of each other.
        places = rng.uniform(0, math.sqrt(12 * n / 16), (n, 2))
        return [Layout(Fleet(unit * places, rng.uniform(-3, 3, n)), dataclasses.replace(radio, unit=unit))]
    return [Layout(Fleet(unit * rng.normal(size=(n, 2)), rng.uniform(-3, 3, n)), radio) for _ in range(FLEETS)]


def _network_costs(chain: Chain, layouts: Sequence[Layout], other: Layout) -> dict[str, float]:
    """Those that no radio changes. other: of another size, run before each: a network that has just seen the same size
    is faster than one that has not."""
    others = chain.embed(other)
    embedded = [chain.embed(layout) for layout in layouts]

    def disturb() -> None:
        chain.embed(other)
        draw_samples(chain, others, Effort(1), 0)

    def sampling(samples: int) -> float:
        return _seconds(embedded, lambda layout: draw_samples(chain, layout, Effort(1, samples), 0), disturb)

    embedding = _seconds(layouts, lambda layout: chain.embed(layout), disturb)
    few = sampling(FEW)
    if all(chain.together(one) == 1 for one in embedded):
        return {"embedding": embedding, "step": 0.0, "sample_step": few}
    many = sampling(MANY)
    sample_step = max(0.0, many - few) / (MANY - FEW)
    return {"embedding": embedding, "step": max(0.0, few - FEW * sample_step), "sample_step": sample_step}


def _costs(chain: Chain, layouts: Sequence[Layout], of_network: Mapping[str, float]) -> Costs:
    n = len(layouts[0])
    # Made anew each time: a layout computes what follows from it once.
    tables = _seconds(layouts, lambda layout: Layout(layout.fleet, layout.radio).tables)
    features = _seconds(layouts, lambda layout: _prepared(chain, Layout(layout.fleet, layout.radio))) - tables
    drawn = [(Workbench(layout), _drawn(chain, layout)) for layout in layouts]

    def corrected(bench: Workbench, sample: Sample) -> None:
        correct_onto(bench, *sample, flip_parts=True)

    correction = _seconds(drawn, lambda one: corrected(one[0], one[1].samples[0]))
    for bench, (_, plausible) in drawn:
        if plausible is not None:
            bench.propose_only(np.concatenate([plausible, bench.links]))
    moves = max(MOVES, FEWEST_A_NODE * n)
    return Costs(
        nodes=n,
        tables=tables,
        features=max(0.0, features),
        **of_network,
        correction=correction,
        forest=_seconds(layouts, lambda layout: corrected(Workbench(layout), constructed(layout, greedy=False))),
        greedy=_seconds(layouts, lambda layout: corrected(Workbench(layout), constructed(layout, greedy=True))),
        move=_seconds(drawn, lambda one: search_on(one[0], Meter(Budget(moves=moves)), 0, limit=1, annealing=THOROUGH))
        / moves,
        overhead=OVERHEAD,
    )


def _drawn(chain: Chain, layout: Layout) -> Drawn:
    """A sample as the fastest preset draws it: how much there is to correct depends on that."""
    fastest = preset_effort(next(iter(PRESETS)), len(layout))
    forest = constructed(layout, greedy=False) if fastest.forest and chain.network == "sparse" else None
    once = dataclasses.replace(fastest, samples=1)
    return draw_samples(chain, chain.embed(layout), once, 0, forest=forest)


def _prepared(chain: Chain, layout: Layout) -> object:
    return layout.tables, chain.read(layout)


def _seconds(items: Sequence[Item], part: Callable[[Item], object], before: Callable[[], object] = int) -> float:
    """The mean over items, each the median of several times: now and then the machine does something else.

    - before: done before each time, off the clock.
    """

    def once(item: Item) -> float:
        before()
        began = time.perf_counter()
        part(item)
        return time.perf_counter() - began

    def typical(item: Item) -> float:
        first = once(item)
        return first if first > LONG else float(np.median([first, *(once(item) for _ in range(TIMES - 1))]))

    return float(np.mean([typical(item) for item in items]))
