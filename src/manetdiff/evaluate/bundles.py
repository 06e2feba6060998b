"""Networks on the benchmark sets: raw samples, scored as they are; of runtime files without PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from manetdiff.data import benchmark_dataset
from manetdiff.data.settings import first_difference
from manetdiff.errors import CheckpointError
from manetdiff.measure.rows import TARGET, Rows, targets
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.bundles import sampled_bundle
from manetdiff.radio import Radio


def raw_rows(
    sample: Callable[..., Rows],
    store: RowStore,
    benchmark: str,
    networks: Mapping[str, Any],
    *,
    sampling: Mapping[str, Any] | None = None,
    layouts: int | None = None,
    seed: int = 0,
) -> dict[str, Rows]:
    """The set's own topologies, then one raw sample of each network on each layout.

    - sample: of a network of this kind. sampling: values to sample with instead of each network's own, by the names of
      SamplerConfig.
    """
    chosen = benchmark_set(benchmark).first(layouts)
    rows = {TARGET: targets(chosen)}
    for name, network in networks.items():
        if not network.any_radio:
            check_trained_for(benchmark, name, network.radio)
        rows[name] = sample(store, network, chosen, name=name, seed=seed, **(sampling or {}))
    return rows


# Of runtime files, without PyTorch.
bundle_rows = partial(raw_rows, sampled_bundle)


def check_trained_for(benchmark: str, name: str, radio: Radio) -> None:
    """Raise unless the network was trained for the radio that the set was solved with."""
    solved_for = benchmark_dataset(benchmark).settings.radio
    if not isinstance(solved_for, Radio):
        raise CheckpointError(f"{name}: trained for one radio; {benchmark} was solved for several")
    difference = first_difference(radio.to_dict(), solved_for.to_dict())
    if difference:
        field, trained, solved = difference
        raise CheckpointError(
            f"{name}: trained for a radio with {field} = {trained!r}; {benchmark} was solved with {solved!r}"
        )
