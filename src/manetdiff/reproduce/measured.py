"""Rows of models and solvers: sampled or solved on each layout, and scored by the project's metrics."""

from __future__ import annotations

import dataclasses
import hashlib
import time
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from manetdiff.data import SolvedLayout
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.reproduce.drawn import set_name
from manetdiff.reproduce.rows import Row, Rows
from manetdiff.reproduce.study import Setting, UnavailableError
from manetdiff.solvers import correct, solve
from manetdiff.topology import Topology, metrics
from manetdiff.training.validation import make_trials, sample_topologies
from manetdiff.weights import WEIGHTS_FILE, known

Layouts = Sequence[SolvedLayout]


@lru_cache(maxsize=4)
def weights_of(name: str) -> Weights:
    """Weights of the package or of the sources' folder `studies`, read once."""
    if name not in known(WEIGHTS_FILE):
        raise UnavailableError(f"the weights {name} come with the sources (folder studies), not with the package")
    return find_weights(name)


def sampled(
    setting: Setting,
    name: str,
    layouts: Layouts,
    *,
    radio: Radio | None = None,
    corrected: bool = False,
    tag: str = "",
    **sampling: Any,
) -> Rows:
    """One sample of packaged weights on each layout: raw, or after the paper's correction.

    radio: another than the weights were trained for. tag: what sets these layouts apart from the benchmark's own.
    sampling: instead of the weights' own, by the names of SamplerConfig.
    """
    weights = weights_of(name)
    chosen, judged_by = dataclasses.replace(weights.sampling, **sampling), radio or weights.radio
    what = {
        "model": name,
        "set": set_name(layouts, tag),
        "weights": _digest(weights),
        "sampling": chosen.to_dict(),
        "radio": judged_by.to_dict(),
        "corrected": corrected,
    }

    def make() -> list[Row]:
        trials = make_trials(layouts, judged_by)
        began = time.perf_counter()
        made = sample_topologies(weights.build(), trials, chosen, 0, "cpu")
        seconds = (time.perf_counter() - began) / len(layouts)
        return scored(
            layouts,
            [_corrected(one, layout.fleet, judged_by) for one, layout in zip(made, layouts, strict=True)]
            if corrected
            else made,
            judged_by,
            seconds,
        )

    return setting.store.rows(what, make)


def solved(
    setting: Setting,
    method: str,
    layouts: Layouts,
    *,
    seconds: float | None = None,
    moves: int | None = None,
    radio: Radio | None = None,
    tag: str = "",
) -> Rows:
    """A solver on each layout."""
    chosen = radio or Radio()
    # The omnidirectional protocol is scored by its own physics.
    judged_by = chosen.omnidirectional() if method == "omni" else chosen
    what = {
        "method": method,
        "set": set_name(layouts, tag),
        "seconds": seconds,
        "moves": moves,
        "radio": chosen.to_dict(),
    }
    return timed(
        setting,
        what,
        layouts,
        lambda fleet, index: solve(fleet, chosen, method, seconds, seed=index, moves=moves),
        judged_by,
    )


def timed(
    setting: Setting,
    what: dict[str, Any],
    layouts: Layouts,
    make_one: Callable[[Fleet, int], Topology],
    radio: Radio | None = None,
) -> Rows:
    """Any way of making topologies, one layout after the other. what: all that its rows depend on."""

    def make() -> list[Row]:
        with warnings.catch_warnings():
            # A method that leaves a network in parts shows it in its share of connected layouts.
            warnings.simplefilter("ignore", DisconnectedWarning)
            make_one(layouts[0].fleet, 0)
            rows = []
            for index, layout in enumerate(layouts):
                began = time.perf_counter()
                topology = make_one(layout.fleet, index)
                rows += scored([layout], [topology], radio or Radio(), time.perf_counter() - began)
        return rows

    return setting.store.rows(what, make)


def targets(layouts: Layouts) -> Rows:
    """The sets' own topologies."""
    return Rows([{**layout.metrics, "target": layout.metrics["throughput"]} for layout in layouts])


def scored(layouts: Layouts, topologies: Sequence[Topology], radio: Radio, seconds: float) -> list[Row]:
    """All metrics of each topology, the set's own T there, and the time it took."""
    return [
        {
            **metrics(topology, layout.fleet, radio),
            "target": layout.metrics["throughput"],
            "milliseconds": 1e3 * seconds,
        }
        for layout, topology in zip(layouts, topologies, strict=True)
    ]


def _corrected(topology: Topology, fleet: Fleet, radio: Radio) -> Topology:
    return correct(topology, fleet, radio, flip_parts=True)


@lru_cache(maxsize=32)
def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _digest(weights: Weights) -> str:
    return _digest_of(b"".join(tensor.numpy().tobytes() for _, tensor in sorted(weights.tensors.items())))
