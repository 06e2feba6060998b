"""The presets of generate on whole benchmark sets: how good, how valid, how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manetdiff.data import load_benchmark
from manetdiff.errors import ModelError
from manetdiff.evaluate.baselines import TARGET
from manetdiff.evaluate.scores import Score, first_of, score, stored
from manetdiff.radio import Radio
from manetdiff.runtime.effort import PRESETS
from manetdiff.runtime.model import load


def preset_scores(
    benchmark: str,
    presets: Sequence[str],
    *,
    layouts: int | None = None,
    seed: int = 0,
    report: Callable[[str], None] = lambda label: None,
) -> list[Score]:
    """The set's own topologies, then those of each preset, on one core. seed: of the first layout, the next has the
    next one."""
    for preset in presets:
        if preset not in PRESETS:
            raise ModelError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    chosen = first_of(load_benchmark(benchmark), layouts)
    model = load(threads=1)
    # Everything that a preset may need is compiled and loaded before any is timed.
    model.generate(chosen[0].fleet, preset="thorough")
    rows = [stored(TARGET, chosen)]
    for preset in presets:
        report(f"{benchmark}: {preset}")
        rows.append(
            score(
                preset,
                chosen,
                lambda fleet, index, preset=preset: model.generate(fleet, preset=preset, seed=seed + index),  # type: ignore[misc]
                Radio(),
            )
        )
    return rows
