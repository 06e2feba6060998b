"""What a model exports and the runtime calls: four functions, what each takes and gives, by name and shape.

This is the only place where they are spelled out. The exporter traces each function with inputs of these shapes, the
runtime file holds one graph for each, and the chain checks and feeds them by these names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

# The axes that are free in an exported function, and the least length of each; every other axis is the model's own.
FREE_AXES = {"batch": 1, "nodes": 2, "times": 1}

T = TypeVar("T")


@dataclass(frozen=True)
class Array:
    """An input or output. axes: each a length, or the name of one.

    - optional: whether only some models have it: a layout's pace of the noise, where that is not the same for all
      pairs, and the latent of a variational model. default: what an input is filled with where nothing is asked for.
    """

    name: str
    axes: tuple[int | str, ...]
    dtype: str = "float32"
    optional: bool = False
    default: float | None = None


@dataclass(frozen=True)
class Function:
    """inputs, outputs: in the order of the exported function's arguments and results."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


_PAIRS, _NODES = (1, "nodes", "nodes"), (1, "nodes")
_BATCH_PAIRS, _BATCH_NODES = ("batch", "nodes", "nodes"), ("batch", "nodes")
_EMBEDDED = (
    Array("node_embedding", (*_NODES, "width")),
    Array("edge_embedding", (*_PAIRS, "width")),
    # Which antenna of the first node faces the second.
    Array("antenna_onehot", (*_PAIRS, "sectors")),
)
_NOISE = (Array("noise_edges", _PAIRS), Array("noise_parity", _NODES))
_PACE = Array("pace", _PAIRS, optional=True)
_STATE = (Array("edges", _BATCH_PAIRS), Array("parity", _BATCH_NODES))
_DRAWN = (Array("drawn_edges", _BATCH_PAIRS), Array("drawn_parity", _BATCH_NODES))
_AFTER = (Array("edges_after", _BATCH_PAIRS), Array("parity_after", _BATCH_NODES))

FUNCTIONS = {
    # Once a layout: what its features say, embedded, and the shares of pure noise on it.
    "layout": Function(
        (
            Array("node", (*_NODES, "node_features")),
            Array("pair", (*_PAIRS, "pair_features")),
            Array("sector", _PAIRS, "uint8"),
        ),
        (*_EMBEDDED, *_NOISE, _PACE),
    ),
    # Once a grid of times: what the network makes of each time, whatever that is; and the strides from t back to s, of
    # edges and of parity, three numbers each: ᾱ(t)/ᾱ(s), what that lacks to 1, and ᾱ(s).
    "times": Function(
        (Array("time", ("times",)), Array("earlier", ("times",))),
        (Array("time_condition", ("times", "condition")), Array("strides", ("times", 6))),
    ),
    # Once a chain: clean graphs, noised to a time; at time 1, pure noise.
    "noise": Function(
        (
            Array("edges", _PAIRS),
            Array("parity", _NODES),
            *_NOISE,
            Array("time", (1,)),
            *_DRAWN,
            _PACE,
        ),
        _AFTER,
    ),
    # Every step: the graphs at the earlier time, and the predicted shares of edges and of parity 1 when clean.
    "step": Function(
        (
            *_EMBEDDED,
            *_NOISE,
            Array("time_condition", ("condition",)),
            Array("strides", (6,)),
            *_STATE,
            *_DRAWN,
            Array("temperature", (1,), default=1.0),
            Array("edge_bias", _PAIRS, default=0.0),
            Array("guide", _PAIRS, default=0.0),
            Array("guide_weight", _PAIRS, default=0.0),
            _PACE,
            Array("latent", (*_BATCH_NODES, "latent"), optional=True),
        ),
        (*_AFTER, Array("edge_shares", _BATCH_PAIRS), Array("parity_shares", _BATCH_NODES)),
    ),
}


def default_inputs(function: str, nodes: int) -> dict[str, npt.NDArray[np.float32]]:
    """The inputs that have a default, filled with it."""
    return {
        array.name: np.full([nodes if axis == "nodes" else int(axis) for axis in array.axes], array.default, np.float32)
        for array in FUNCTIONS[function].inputs
        if array.default is not None
    }


class StepSettings(NamedTuple, Generic[T]):
    """What the predictions of a step are subject to; arrays of NumPy's or tensors, by their names in the contract.

    - temperature: log-odds are divided by it. edge_bias: (1, n, n), or one number, added to the log-odds of edges after
      that. guide, guide_weight: (1, n, n), edges that the predictions are guided to, and how strongly; None: no guide.
    """

    temperature: T
    edge_bias: T
    guide: T | None = None
    guide_weight: T | None = None


def plain_settings(n: int, temperature: float, redundancy: float) -> StepSettings[npt.NDArray[np.float32]]:
    """No guide, and the odds of every link raised by the same factor. n: nodes."""
    bias = np.full((1, n, n), np.log(redundancy), dtype=np.float32)
    return StepSettings(np.array([temperature], dtype=np.float32), bias)
