"""How fast this machine is: measured outside of all calls, and remembered for it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
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
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.samples import Sample, constructed, draw_samples
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.user_cache import user_cache

Item = TypeVar("Item")

SIZES, OTHER_SIZE = (8, 16, 32, 64), 11
FLEETS, TIMES = 3, 3
# Samples of a small and of a larger batch, which tell what a step costs once and what for each sample.
FEW, MANY = 1, 6
MOVES_A_NODE = 20
# Of a call beside its parts, in seconds: arguments are checked, and the topology is put together.
OVERHEAD = 2e-4


def measured(chain: Chain, radio: Radio) -> Calibration:
    """What the parts cost on this machine, now. chain: of the network that presets use; radio: of its weights."""
    kinds = [dataclasses.replace(radio, pattern=pattern) for pattern in ("cone", "parabolic")]
    other = _layouts(OTHER_SIZE, radio)[0]
    of_network = {n: _network_costs(chain, _layouts(n, radio), other) for n in SIZES}
    return Calibration(*(tuple(_costs(chain, _layouts(n, kind), of_network[n]) for n in SIZES) for kind in kinds))


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
    rng = np.random.default_rng(n)
    return [Layout(Fleet(rng.normal(size=(n, 2)), rng.uniform(-3, 3, n)), radio) for _ in range(FLEETS)]


def _network_costs(chain: Chain, layouts: Sequence[Layout], other: Layout) -> dict[str, float]:
    """Those that no radio changes. other: of another size, run before each: a network that has just seen the same size
    is faster than one that has not."""
    others = chain.embed(other.features)
    embedded = [chain.embed(layout.features) for layout in layouts]

    def disturb() -> None:
        chain.embed(other.features)
        draw_samples(chain, others, Effort(1), 0)

    def sampling(samples: int) -> float:
        return _seconds(embedded, lambda layout: draw_samples(chain, layout, Effort(1, samples), 0), disturb)

    embedding = _seconds(layouts, lambda layout: chain.embed(layout.features), disturb)
    few, many = sampling(FEW), sampling(MANY)
    sample_step = max(0.0, many - few) / (MANY - FEW)
    return {"embedding": embedding, "step": max(0.0, few - FEW * sample_step), "sample_step": sample_step}


def _costs(chain: Chain, layouts: Sequence[Layout], of_network: Mapping[str, float]) -> Costs:
    n = len(layouts[0])
    # Made anew each time: a layout computes what follows from it once.
    tables = _seconds(layouts, lambda layout: Layout(layout.fleet, layout.radio).tables)
    features = _seconds(layouts, lambda layout: _prepared(Layout(layout.fleet, layout.radio))) - tables
    samples = [draw_samples(chain, chain.embed(layout.features), Effort(1), 0)[0] for layout in layouts]
    drawn = list(zip(map(Workbench, layouts), samples, strict=True))

    def corrected(bench: Workbench, sample: Sample) -> None:
        correct_onto(bench, *sample, flip_parts=True)

    budget = Budget(moves=MOVES_A_NODE * n)
    return Costs(
        nodes=n,
        tables=tables,
        features=max(0.0, features),
        **of_network,
        correction=_seconds(drawn, lambda one: corrected(*one)),
        forest=_seconds(layouts, lambda layout: corrected(Workbench(layout), constructed(layout, greedy=False))),
        greedy=_seconds(layouts, lambda layout: corrected(Workbench(layout), constructed(layout, greedy=True))),
        move=_seconds(drawn, lambda one: search_on(one[0], Meter(budget), 0, limit=1, annealing=THOROUGH))
        / (MOVES_A_NODE * n),
        overhead=OVERHEAD,
    )


def _prepared(layout: Layout) -> object:
    return layout.tables, layout.features


def _seconds(items: Sequence[Item], part: Callable[[Item], object], before: Callable[[], object] = int) -> float:
    """The mean over items, each the median of several times: now and then the machine does something else.

    - before: done before each time, off the clock.
    """

    def once(item: Item) -> float:
        before()
        began = time.perf_counter()
        part(item)
        return time.perf_counter() - began

    return float(np.mean([np.median([once(item) for _ in range(TIMES)]) for item in items]))
