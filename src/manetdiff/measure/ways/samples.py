"""Weights on each layout, by PyTorch: one sample, as the network makes it."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from manetdiff.diffusion.generator import AnyGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import Weights
from manetdiff.layout import Layout, pad
from manetdiff.measure.digests import content_digest
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.timing import scored
from manetdiff.model.tensors import Layouts
from manetdiff.sampling import SamplerConfig
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.topology import Topology, unwarned_of_parts
from manetdiff.training.validation import CPU_CHUNK, on_candidates, to_topologies

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Row, Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore
    from manetdiff.radio import Radio

After = Callable[[Topology], Topology]


@spreadable
def sampled(
    store: RowStore,
    weights: Weights,
    layouts: LayoutSet,
    *,
    name: str = "weights",
    radio: Radio | None = None,
    seed: int = 0,
    after: After | None = None,
    code: str = __name__,
    **sampling: Any,
) -> Rows:
    """One sample on each layout; layout k draws from the stream (seed, k).

    - name: for people. radio: another than the weights were trained for; or, of a sparse network, than each layout's
      own. after: what is done to a sample before it is scored, by the module `code`. sampling: instead of the weights'
      own, by the names of SamplerConfig.
    """
    how = dataclasses.replace(weights.sampling, **sampling)
    physics = radio if weights.any_radio else radio or weights.radio
    solved_for = None if physics is None else physics.to_dict()
    what = {"weights": _digest(weights), "sampling": how.to_dict(), "radio": solved_for, "seed": seed}

    together = max(1, CPU_CHUNK * 16**2 // layouts.nodes**2)

    def measure(some: Iterable[SolvedLayout]) -> Iterator[Row]:
        generator = weights.build()
        waiting = iter(some)
        for place, chunk in enumerate(iter(lambda: list(islice(waiting, together)), [])):
            on = [Layout.of(one.layout, physics) for one in chunk]
            draw = _sampler(generator, on, [(seed, one.index) for one in chunk])
            if place == 0:
                # Loaded before it is timed.
                rehearse()
                draw(dataclasses.replace(how, steps=1))
            began = time.perf_counter()
            made = draw(how)
            if after is not None:
                with unwarned_of_parts():
                    made = [after(one) for one in made]
            seconds = (time.perf_counter() - began) / len(chunk)
            yield from (scored(one, solved, seconds) for one, solved in zip(made, chunk, strict=True))

    return store.rows(name, what, layouts, measure, code=code, together=together)


def _sampler(
    generator: AnyGenerator, layouts: Sequence[Layout], seeds: Sequence[tuple[int, ...]]
) -> Callable[[SamplerConfig], list[Topology]]:
    """What samples on layouts whose features are made: these are not the network's time."""
    if isinstance(generator, SparseGenerator):
        for layout in layouts:
            _ = layout.arcs  # kept by the layout
        return lambda sampling: on_candidates(generator.sample(layouts, seeds, sampling), layouts)
    padded = Layouts.from_numpy(pad([one.features for one in layouts]))
    return lambda sampling: to_topologies(generator.sample(padded, seeds, sampling), layouts)


def _digest(weights: Weights) -> str:
    """Of what is sampled from, not of the card."""
    described = json.dumps([weights.config.to_dict(), weights.process.to_dict()]).encode()
    return content_digest(described, *(tensor.numpy().tobytes() for _, tensor in sorted(weights.tensors.items())))
