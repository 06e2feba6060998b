"""The denoising chain on ONNX Runtime: a layout is embedded once, a grid of times once, and then only steps are taken.

Everything that is random comes in as draws, and every layout runs by itself, in batches of a fixed size, on one thread:
so its topology depends neither on what else is asked for nor on how many threads there are.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import CheckpointError
from manetdiff.features import LayoutFeatures
from manetdiff.runtime.bundle import EMBEDDED, GRAPHS, PACE, PACED, SHARES, Bundle
from manetdiff.sampling import Draws

Array = npt.NDArray[np.float32]
TimePairs = tuple[tuple[float, float], ...]

# Graphs that take a step together. More would fall out of the core's cache; fewer cost more calls.
TOGETHER = 8
# Grids of times that are remembered.
REMEMBERED = 64


class Controls(NamedTuple):
    """What the predictions of a chain are subject to.

    heat: the temperature. favour: (1, n, n), added to the log-odds of edges. guide, guide_weight: (1, n, n), edges to
    be guided to, and how strongly.
    """

    heat: float
    favour: Array
    guide: Array
    guide_weight: Array

    @classmethod
    def plain(cls, n: int, temperature: float, redundancy: float) -> Controls:
        """No guide, and no pair favoured over another."""
        nothing = np.zeros((1, n, n), dtype=np.float32)
        return cls(temperature, nothing + np.float32(np.log(redundancy)), nothing, nothing)


class Noise(NamedTuple):
    """Shares of pure noise: edges (1, n, n), parity (1, n)."""

    edges: Array
    parity: Array


class States(NamedTuple):
    """b graphs on one layout, of 0 and 1: edges (b, n, n), parity (b, n)."""

    edges: Array
    parity: Array


class Outcome(NamedTuple):
    """Where a chain ends: graphs, and the shares of edges and of parity 1 that were predicted last."""

    states: States
    edge_shares: Array
    parity_shares: Array


class EmbeddedLayout(NamedTuple):
    """What does not change over the steps; noise: that of the model's own process; pace: of it on each pair, where that
    is not the same for all."""

    inputs: Mapping[str, Array]
    noise: Noise
    pace: Mapping[str, Array]


class Chain:
    """The exported functions of a model, loaded."""

    def __init__(self, bundle: Bundle) -> None:
        import onnxruntime as ort  # here, so that commands which run no network do not wait for it

        self.name, self.sampling = bundle.name, bundle.sampling
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._sessions = {
                name: ort.InferenceSession(bundle.graphs[name], options, providers=["CPUExecutionProvider"])
                for name in GRAPHS
            }
        except Exception as error:  # ONNX Runtime's errors have no common base of their own
            raise CheckpointError(f"{bundle.name}: its graphs cannot be loaded: {error}") from None
        paced = {PACE} if PACE in {made.name for made in self._sessions["layout"].get_outputs()} else set()
        for name, session in self._sessions.items():
            wanted = set(GRAPHS[name]) | (paced if name in PACED else set())
            if {given.name for given in session.get_inputs()} != wanted:
                raise CheckpointError(f"{bundle.name}: its function {name!r} does not take what it should")
        self._moments: dict[TimePairs, tuple[Array, Array]] = {}
        self._lock = threading.Lock()

    def embed(self, features: LayoutFeatures) -> EmbeddedLayout:
        """A layout, embedded."""
        feed = {"node": features.node[None], "pair": features.pair[None], "sector": features.sector[None]}
        session = self._sessions["layout"]
        made = dict(zip((entry.name for entry in session.get_outputs()), session.run(None, feed), strict=True))
        inputs = {name: made[name] for name in EMBEDDED}
        pace = {PACE: made[PACE]} if PACE in made else {}
        return EmbeddedLayout(inputs, Noise(*(made[name] for name in SHARES)), pace)

    def noised(
        self,
        layout: EmbeddedLayout,
        noise: Noise,
        clean: States,
        time: float,
        drawn_edges: Array,
        drawn_parity: Array,
    ) -> States:
        """Clean graphs at a time of the noise process; at time 1, pure noise. clean: of batch 1."""
        feed = {
            **layout.pace,
            "edges": clean.edges,
            "parity": clean.parity,
            "noise_edges": noise.edges,
            "noise_parity": noise.parity,
            "time": np.array([time], dtype=np.float32),
            "drawn_edges": drawn_edges,
            "drawn_parity": drawn_parity,
        }
        return States(*self._sessions["noise"].run(None, feed))

    def run(
        self,
        layout: EmbeddedLayout,
        noise: Noise,
        start: States,
        pairs: Sequence[tuple[float, float]],
        draws: Draws,
        controls: Controls,
    ) -> Outcome:
        """All steps of a chain; draws: a round for each of them."""
        films, strides = self._moment(tuple(pairs))
        feed = {
            **layout.inputs,
            **layout.pace,
            "noise_edges": noise.edges,
            "noise_parity": noise.parity,
            "heat": np.array([controls.heat], dtype=np.float32),
            "favour": controls.favour,
            "guide": controls.guide,
            "guide_weight": controls.guide_weight,
        }
        edges, parity = start
        step = self._sessions["step"]
        edge_shares, parity_shares = edges, parity
        for k in range(len(pairs)):
            feed |= {
                "films": films[k],
                "strides": strides[k],
                "edges": edges,
                "parity": parity,
                "drawn_edges": draws.edges[k],
                "drawn_parity": draws.parity[k],
            }
            edges, parity, edge_shares, parity_shares = step.run(None, feed)
        return Outcome(States(edges, parity), edge_shares, parity_shares)

    def _moment(self, pairs: TimePairs) -> tuple[Array, Array]:
        with self._lock:
            if pairs not in self._moments:
                if len(self._moments) >= REMEMBERED:
                    self._moments.clear()
                time, earlier = np.array(pairs, dtype=np.float32).T
                feed = {"time": np.ascontiguousarray(time), "earlier": np.ascontiguousarray(earlier)}
                self._moments[pairs] = tuple(self._sessions["times"].run(None, feed))
            return self._moments[pairs]
