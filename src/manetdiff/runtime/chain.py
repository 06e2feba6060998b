"""The denoising chain on ONNX Runtime: a layout is embedded once, a grid of times once, and then only steps are taken.

Everything that is random comes in as draws, and every layout runs by itself, in batches of a fixed size, on one thread:
so its topology depends neither on what else is asked for nor on how many threads there are.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.dense import DenseForm
from manetdiff.runtime.form import Form
from manetdiff.runtime.functions import ExportedFunction
from manetdiff.runtime.sparse import SparseForm
from manetdiff.sampling import Draws, StepSettings, chain_draws, latent_draws
from manetdiff.sampling.contract import FUNCTIONS

Array = npt.NDArray[np.float32]
TimePairs = tuple[tuple[float, float], ...]

# Grids of times that are remembered.
REMEMBERED = 64


class Noise(NamedTuple):
    """Shares of pure noise: links (1, c), parity (1, n)."""

    links: Array
    parity: Array


class States(NamedTuple):
    """b graphs on one layout, of 0 and 1: links (b, c), whether each of c pairs is linked, and parity (b, n)."""

    links: Array
    parity: Array


class Outcome(NamedTuple):
    """Where a chain ends: graphs, and the shares of links and of parity 1 that were predicted last.

    - link_chances: (b, c) what a sparse network said of each link at its first step, of the state that it began with.
    """

    states: States
    link_shares: Array
    parity_shares: Array
    link_chances: Array | None = None


class EmbeddedLayout(NamedTuple):
    """What does not change over the steps.

    - pairs: (c, 2) with i < j, those that the network decides on. arrays: what the function `layout` takes and gives,
      by name. noise: that of the model's own process.
    """

    pairs: npt.NDArray[np.int64]
    arrays: Mapping[str, npt.NDArray[Any]]
    noise: Noise

    @property
    def nodes(self) -> int:
        """How many."""
        return int(self.noise.parity.shape[1])


class Chain:
    """The exported functions of a model."""

    def __init__(self, bundle: Bundle, profile: Path | None = None) -> None:
        """profile: folder in which ONNX Runtime is to account for the time of steps, see `step_seconds`."""
        self.name, self.network, self.digest = bundle.name, bundle.network, bundle.digest
        self.sampling = bundle.sampling
        self._form: Form = SparseForm() if bundle.network == "sparse" else DenseForm()
        self._lock = threading.RLock()
        self._functions = {
            name: ExportedFunction(bundle, name, self._lock, profile if name == "step" else None) for name in FUNCTIONS
        }
        self._grids: dict[TimePairs, Mapping[str, Array]] = {}

    def read(self, layout: Layout) -> Mapping[str, npt.NDArray[Any]]:
        """What the network reads of a layout."""
        return self._form.read(layout)

    def embed(self, layout: Layout) -> EmbeddedLayout:
        """A layout, embedded."""
        pairs, read = self._form.pairs(layout), self.read(layout)
        if len(pairs) == 0:  # nothing can be linked, and no network has a say in that
            nothing, apart = (np.zeros((1, length), dtype=np.float32) for length in (0, len(layout)))
            return EmbeddedLayout(pairs, read, Noise(nothing, apart))
        made = self._functions["layout"](read)
        given = self._form.given(made)
        return EmbeddedLayout(pairs, {**read, **made}, Noise(given["noise_links"], given["noise_parity"]))

    def together(self, layout: EmbeddedLayout) -> int:
        """Graphs that take a step together."""
        return self._form.together(len(layout.pairs))

    def draws(
        self, layout: EmbeddedLayout, streams: Sequence[tuple[int, ...]], rounds: int, *, decide: bool = True
    ) -> Draws:
        """So many rounds for each of the streams, see chain_draws, and a latent, if the model takes one."""
        n = layout.nodes
        drawn = chain_draws(streams, len(layout.pairs), n, rounds, decide=decide)
        latent = self._functions["step"].length("latent")
        return drawn._replace(latent=latent_draws(streams, [n] * len(streams), n, latent)) if latent else drawn

    def noised(self, layout: EmbeddedLayout, noise: Noise, clean: States, time: float, draws: Draws) -> States:
        """Clean graphs at a time of the noise process, by the first round of the draws; at time 1, pure noise. clean:
        of batch 1."""
        if len(layout.pairs) == 0:
            return States(draws.links[0], np.zeros_like(draws.parity[0]))
        known = {
            "links": clean.links,
            "parity": clean.parity,
            "noise_links": noise.links,
            "noise_parity": noise.parity,
            "time": np.array([time], dtype=np.float32),
            "drawn_links": draws.links[0],
            "drawn_parity": draws.parity[0],
        }
        made = self._form.given(self._functions["noise"]({**layout.arrays, **self._form.taken(known)}))
        return States(made["links_after"], made["parity_after"])

    def run(
        self,
        layout: EmbeddedLayout,
        noise: Noise,
        start: States,
        times: Sequence[tuple[float, float]],
        draws: Draws,
        settings: StepSettings[Array],
    ) -> Outcome:
        """All steps of a chain; times: from and to; draws: a round for each step. A model with a latent takes the last
        one only: it decodes its latent whatever the state, and at time 0 that is what is left."""
        if len(layout.pairs) == 0:
            return Outcome(start, start.links, start.parity)
        asked = {name: value for name, value in settings._asdict().items() if value is not None}
        lasting = self._form.taken({"noise_links": noise.links, "noise_parity": noise.parity, **asked})
        known = {**layout.arrays, **lasting}
        first = 0
        if draws.latent is not None:
            first, known["latent"] = len(times) - 1, draws.latent
        grid, step, state, chances = self._grid(tuple(times)), self._functions["step"], start, None
        for k in range(first, len(times)):
            known |= {name: of_times[k] for name, of_times in grid.items()}
            passing = {"links": state.links, "parity": state.parity}
            passing |= {"drawn_links": draws.links[k], "drawn_parity": draws.parity[k]}
            made = self._form.given(step({**known, **self._form.taken(passing)}))
            state = States(made["links_after"], made["parity_after"])
            chances = made.get("link_chances") if k == first else chances
        return Outcome(state, made["link_shares"], made["parity_shares"], chances)

    def step_seconds(self) -> dict[str, float]:
        """What each kind of operator has taken in all steps so far; of a chain that was made with a profile."""
        return self._functions["step"].seconds_by_operator()

    def _grid(self, times: TimePairs) -> Mapping[str, Array]:
        """What the function `times` gives for a grid of times, remembered."""
        with self._lock:
            if times not in self._grids:
                if len(self._grids) >= REMEMBERED:
                    self._grids.clear()
                time, earlier = np.ascontiguousarray(np.array(times, dtype=np.float32).T)
                self._grids[times] = self._functions["times"]({"time": time, "earlier": earlier})
            return self._grids[times]
