"""The presets of generate on whole benchmark sets: how good, how valid, how long."""

from __future__ import annotations

from collections.abc import Sequence

from manetdiff.errors import ModelError
from manetdiff.evaluate.scores import Score
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.target_rows import TARGET, targets
from manetdiff.measure.ways.runtime import generated
from manetdiff.runtime.effort import PRESETS


def preset_scores(
    store: RowStore, benchmark: str, presets: Sequence[str], *, layouts: int | None = None, seed: int = 0
) -> list[Score]:
    """The set's own topologies, then those of each preset, on one core. seed: of the first layout, the next has the
    next one."""
    for preset in presets:
        if preset not in PRESETS:
            raise ModelError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    chosen = benchmark_set(benchmark).first(layouts)
    made = {preset: generated(store, chosen, first_seed=seed, preset=preset) for preset in presets}
    return [Score.of(TARGET, targets(chosen)), *(Score.of(preset, rows) for preset, rows in made.items())]
