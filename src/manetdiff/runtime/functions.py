"""The exported functions of a model as sessions of ONNX Runtime: opened when first needed, fed and checked by the names
and shapes of the contract."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import CheckpointError
from manetdiff.messages import one_line
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.graphs import check_graph
from manetdiff.runtime.memory import bound_memory
from manetdiff.runtime.onnx import onnx_runtime
from manetdiff.sampling.contract import CONTRACTS

Array = npt.NDArray[np.float32]

# Of a variational model's latent; a file that asks for more is forged.
LONGEST_LATENT = 4096


class ExportedFunction:
    """One function of the contract; its session is opened when it is first needed."""

    def __init__(self, bundle: Bundle, name: str, lock: threading.RLock, profile: Path | None = None) -> None:
        """profile: folder in which ONNX Runtime is to account for its time."""
        self._bundle, self._name, self._lock, self._profile = bundle, name, lock, profile
        self._contract = CONTRACTS[bundle.network][name]
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
        length = opened.lengths.get(opened.names.get(name, ""), 0)
        if not isinstance(length, int) or not 0 <= length <= LONGEST_LATENT:
            raise self._refused(f"takes a {name} of no sensible length")
        return length

    def seconds_by_operator(self) -> dict[str, float]:
        """What each kind of operator has taken so far, of a function that was made with a profile, which ends here."""
        opened = self._opened or self._open()
        events = json.loads(Path(opened.session.end_profiling()).read_text(encoding="utf-8"))
        spent: dict[str, float] = {}
        for event in events:
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                kind = event["args"]["op_name"]
                spent[kind] = spent.get(kind, 0.0) + 1e-6 * event["dur"]
        return spent

    def _open(self) -> _Opened:
        with self._lock:
            if self._opened is not None:
                return self._opened
            ort = onnx_runtime()
            options = ort.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            # A pattern would be worked out for every layout anew, which takes longer than it saves.
            options.enable_mem_pattern = False
            if self._profile is not None:
                options.enable_profiling = True
                options.profile_file_prefix = str(self._profile / self._name)
            bound_memory(ort, options)
            graph = self._bundle.graphs[self._name]
            try:
                check_graph(graph)
                session = ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # ONNX Runtime's errors have no common base of their own
                told = f"{self._name!r} {_shortened(error)}"
                raise CheckpointError(f"{self._bundle.name}: its graphs cannot be loaded: {told}") from None
            contract, in_file = self._contract, self._bundle.name_in_file
            lengths = {given.name: given.shape[-1] if given.shape else 0 for given in session.get_inputs()}
            names = {
                array.name: in_file(array.name)
                for array in contract.inputs
                if not array.spare or in_file(array.name) in lengths
            }
            found = {made.name for made in session.get_outputs()}
            outputs = [array.name for array in contract.outputs if not array.optional or in_file(array.name) in found]
            if [in_file(name) for name in outputs] != [made.name for made in session.get_outputs()]:
                raise self._refused("does not give what it should")
            self._opened = _Opened(session, names, lengths, outputs)
            return self._opened

    def _check_shapes(self, made: Mapping[str, Any], known: Mapping[str, npt.NDArray[Any]]) -> None:
        """Raise unless everything made is an array of the shape that the contract says, for what was given."""
        lengths: dict[int | str, int] = {}
        for array in self._contract.inputs:
            if array.name in known:
                lengths.update(zip(array.axes, known[array.name].shape, strict=False))
        for array in self._contract.outputs:
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
    """session: of ONNX Runtime. names: of the contract's inputs that it should have, in the file. lengths: of the last
    axis of the inputs that it has, by name in the file. outputs: by their names in the contract, in its order."""

    session: Any
    names: Mapping[str, str]
    lengths: Mapping[str, Any]
    outputs: Sequence[str]
