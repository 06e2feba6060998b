"""Runtime files on each layout, by ONNX Runtime: one sample, as the network makes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from manetdiff.layout import Layout
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.runtime import bundle_digest
from manetdiff.measure.ways.timing import timed
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.samples import from_pure_noise, samples_of
from manetdiff.topology import Topology

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore


@spreadable
def sampled_bundle(
    store: RowStore, bundle: Bundle, layouts: LayoutSet, *, name: str, seed: int = 0, **sampling: Any
) -> Rows:
    """One sample on each layout; layout k draws from the stream (seed, k), as samples of the weights by PyTorch do.

    - name: for people. sampling: instead of the bundle's own, by the names of SamplerConfig.
    """
    chain, how = Chain(bundle), dataclasses.replace(bundle.sampling, **sampling)

    def ready(solved: SolvedLayout) -> Callable[[], Topology]:
        layout = Layout.of(solved.layout, None if bundle.any_radio else bundle.radio)

        def sample() -> Topology:
            embedded = chain.embed(layout)
            drawn = from_pure_noise(chain, embedded, how, [(seed, solved.index)])
            return Topology(*samples_of(drawn, embedded.pairs)[0], layout=layout)

        return sample

    what = {"bundle": bundle_digest(bundle), "sampling": how.to_dict(), "seed": seed}
    return store.rows(name, what, layouts, lambda some: timed(some, ready), code=__name__)
