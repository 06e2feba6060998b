"""The denoising chain on ONNX Runtime: a layout is embedded once, a grid of times once, and then only steps are taken.

Everything that is random comes in as draws, and every layout runs by itself, in batches of a fixed size, on one thread:
so its topology depends neither on what else is asked for nor on how many threads there are.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import CheckpointError
from manetdiff.layout import LayoutFeatures
from manetdiff.messages import one_line
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.graphs import check_graph
from manetdiff.runtime.memory import bound_memory
from manetdiff.runtime.onnx import onnx_runtime
from manetdiff.sampling import Draws, StepSettings, chain_draws, latent_draws
from manetdiff.sampling.contract import FUNCTIONS, default_inputs

Array = npt.NDArray[np.float32]
TimePairs = tuple[tuple[float, float], ...]

# Graphs that take a step together. More would fall out of the core's cache; fewer cost more calls.
TOGETHER = 8
# Of a variational model's latent; a file that asks for more is forged.
LONGEST_LATENT = 4096
# Grids of times that are remembered.
REMEMBERED = 64


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
    """What does not change over the steps. arrays: what the function `layout` gives, by name; noise: that of the
    model's own process."""

    arrays: Mapping[str, Array]
    noise: Noise


class Chain:
    """The exported functions of a model."""

    def __init__(self, bundle: Bundle) -> None:
        self.name, self.sampling, self.digest = bundle.name, bundle.sampling, bundle.digest
        self._lock = threading.RLock()
        self._functions = {name: _ExportedFunction(bundle, name, self._lock) for name in FUNCTIONS}
        self._grids: dict[TimePairs, Mapping[str, Array]] = {}

    def embed(self, features: LayoutFeatures) -> EmbeddedLayout:
        """A layout, embedded."""
        arrays = self._functions["layout"](
            {"node": features.node[None], "pair": features.pair[None], "sector": features.sector[None]}
        )
        return EmbeddedLayout(arrays, Noise(arrays["noise_edges"], arrays["noise_parity"]))

    def draws(self, streams: Sequence[tuple[int, ...]], n: int, rounds: int, *, decide: bool = True) -> Draws:
        """So many rounds for each of the streams, see chain_draws, and a latent, if the model takes one."""
        drawn, latent = chain_draws(streams, n, rounds, decide=decide), self._functions["step"].length("latent")
        return drawn._replace(latent=latent_draws(streams, [n] * len(streams), n, latent)) if latent else drawn

    def noised(self, layout: EmbeddedLayout, noise: Noise, clean: States, time: float, draws: Draws) -> States:
        """Clean graphs at a time of the noise process, by the first round of the draws; at time 1, pure noise. clean:
        of batch 1."""
        made = self._functions["noise"](
            {
                **layout.arrays,
                "noise_edges": noise.edges,
                "noise_parity": noise.parity,
                "edges": clean.edges,
                "parity": clean.parity,
                "time": np.array([time], dtype=np.float32),
                "drawn_edges": draws.edges[0],
                "drawn_parity": draws.parity[0],
            }
        )
        return States(made["edges_after"], made["parity_after"])

    def run(
        self,
        layout: EmbeddedLayout,
        noise: Noise,
        start: States,
        pairs: Sequence[tuple[float, float]],
        draws: Draws,
        settings: StepSettings[Array],
    ) -> Outcome:
        """All steps of a chain; draws: a round for each of them. A model with a latent takes the last one only: it
        decodes its latent whatever the state, and at time 0 that is what is left."""
        known = {
            **default_inputs("step", noise.parity.shape[1]),
            **layout.arrays,
            "noise_edges": noise.edges,
            "noise_parity": noise.parity,
            **{name: value for name, value in settings._asdict().items() if value is not None},
        }
        first = 0
        if draws.latent is not None:
            first, known["latent"] = len(pairs) - 1, draws.latent
        grid, step, state = self._grid(tuple(pairs)), self._functions["step"], start
        for k in range(first, len(pairs)):
            known |= {name: of_times[k] for name, of_times in grid.items()}
            known |= {"edges": state.edges, "parity": state.parity}
            known |= {"drawn_edges": draws.edges[k], "drawn_parity": draws.parity[k]}
            made = step(known)
            state = States(made["edges_after"], made["parity_after"])
        return Outcome(state, made["edge_shares"], made["parity_shares"])

    def _grid(self, pairs: TimePairs) -> Mapping[str, Array]:
        """What the function `times` gives for a grid of times, remembered."""
        with self._lock:
            if pairs not in self._grids:
                if len(self._grids) >= REMEMBERED:
                    self._grids.clear()
                time, earlier = np.ascontiguousarray(np.array(pairs, dtype=np.float32).T)
                self._grids[pairs] = self._functions["times"]({"time": time, "earlier": earlier})
            return self._grids[pairs]


class _ExportedFunction:
    """One function of the contract; its session is opened when it is first needed."""

    def __init__(self, bundle: Bundle, name: str, lock: threading.RLock) -> None:
        self._bundle, self._name, self._lock = bundle, name, lock
        self._opened: _Opened | None = None

    def __call__(self, known: Mapping[str, npt.NDArray[Any]]) -> dict[str, Array]:
        """Its outputs. known: its inputs, by their names in the contract; others beside them are left aside."""
        opened = self._opened or self._open()
        feed = {in_file: known[name] for name, in_file in opened.names.items() if name in known}
        if feed.keys() != opened.lengths.keys():
            raise self._refused("does not take what it should")
        try:
            made = opened.session.run(None, feed)
        except Exception as error:  # ONNX Runtime's errors have no common base of their own
            raise self._refused(f"cannot be run: {_shortened(error)}") from None
        self._check_shapes(dict(zip(opened.outputs, made, strict=True)), known)
        return dict(zip(opened.outputs, made, strict=True))

    def length(self, name: str) -> int:
        """Of the last axis of an input; 0 where the function has no such input."""
        opened = self._opened or self._open()
        length = opened.lengths.get(opened.names[name], 0)
        if not isinstance(length, int) or not 0 <= length <= LONGEST_LATENT:
            raise self._refused(f"takes a {name} of no sensible length")
        return length

    def _open(self) -> _Opened:
        with self._lock:
            if self._opened is not None:
                return self._opened
            ort = onnx_runtime()
            options = ort.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            bound_memory(ort, options)
            graph = self._bundle.graphs[self._name]
            try:
                check_graph(graph)
                session = ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # ONNX Runtime's errors have no common base of their own
                told = f"{self._name!r} {_shortened(error)}"
                raise CheckpointError(f"{self._bundle.name}: its graphs cannot be loaded: {told}") from None
            contract, in_file = FUNCTIONS[self._name], self._bundle.name_in_file
            names = {array.name: in_file(array.name) for array in contract.inputs}
            lengths = {given.name: given.shape[-1] if given.shape else 0 for given in session.get_inputs()}
            found = {made.name for made in session.get_outputs()}
            outputs = [array.name for array in contract.outputs if not array.optional or in_file(array.name) in found]
            if [in_file(name) for name in outputs] != [made.name for made in session.get_outputs()]:
                raise self._refused("does not give what it should")
            self._opened = _Opened(session, names, lengths, outputs)
            return self._opened

    def _check_shapes(self, made: Mapping[str, Any], known: Mapping[str, npt.NDArray[Any]]) -> None:
        """Raise unless everything made is an array of the shape that the contract says, for what was given."""
        contract = FUNCTIONS[self._name]
        lengths: dict[int | str, int] = {}
        for array in contract.inputs:
            if array.name in known:
                lengths.update(zip(array.axes, known[array.name].shape, strict=False))
        for array in contract.outputs:
            if array.name in made:
                shape = getattr(made[array.name], "shape", ())
                # A condition is whatever the network makes of a time, of any shape.
                fixed = len(array.axes) - ("condition" in array.axes)
                wanted = [axis if isinstance(axis, int) else lengths.get(axis) for axis in array.axes[:fixed]]
                fits = len(shape) == fixed if fixed == len(array.axes) else len(shape) >= fixed
                if not fits or any(right not in (None, length) for length, right in zip(shape, wanted, strict=False)):
                    raise self._refused(f"gives {array.name} in the shape {shape}")

    def _refused(self, why: str) -> CheckpointError:
        return CheckpointError(f"{self._bundle.name}: its function {self._name!r} {why}")


def _shortened(error: Exception) -> str:
    """What ONNX Runtime says, which may quote the file at any length."""
    return one_line(str(error), 160)


class _Opened(NamedTuple):
    """session: of ONNX Runtime. names: of the contract's inputs, in the file. lengths: of the last axis of the inputs
    that the session has, by name in the file. outputs: by their names in the contract, in the session's order."""

    session: Any
    names: Mapping[str, str]
    lengths: Mapping[str, Any]
    outputs: Sequence[str]
