"""What a model exports and the runtime calls: four functions, what each takes and gives, by name and shape.

This is the only place where they are spelled out. The exporter traces each function with inputs of these shapes, the
runtime file holds one graph for each, and the chain checks and feeds them by these names. There are two kinds of
networks: dense ones decide on all pairs of nodes, as matrices; sparse ones on candidate links, as a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Network = Literal["dense", "sparse"]

# The axes that are free in an exported function, and the least length of each; every other axis is the model's own.
FREE_AXES = {
    "batch": 1,
    "nodes": 2,
    "times": 1,
    # Of sparse networks: candidate links; arcs, two a link; antennas in use; most arcs of a node and of an antenna.
    "links": 1,
    "arcs": 2,
    "antennas": 2,
    "node_arcs": 1,
    "antenna_arcs": 1,
}

T = TypeVar("T")


@dataclass(frozen=True)
class Array:
    """An input or output. axes: each a length, or the name of one.

    - optional: whether only some models have it: a layout's pace of the noise, where that is not the same for all
      pairs, and the latent of a variational model. spare: whether a function that does not use it may do without it.
    """

    name: str
    axes: tuple[int | str, ...]
    dtype: str = "float32"
    optional: bool = False
    spare: bool = False


@dataclass(frozen=True)
class Function:
    """inputs, outputs: in the order of the exported function's arguments and results."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


_NODES, _BATCH_NODES = (1, "nodes"), ("batch", "nodes")
# Once a grid of times: what the network makes of each time, whatever that is; and the strides from t back to s, of
# links and of parity, three numbers each: ᾱ(t)/ᾱ(s), what that lacks to 1, and ᾱ(s).
_TIMES = Function(
    (Array("time", ("times",)), Array("earlier", ("times",))),
    (Array("time_condition", ("times", "condition")), Array("strides", ("times", 6))),
)
_TIME = (Array("time_condition", ("condition",)), Array("strides", (6,)))

_PAIRS, _BATCH_PAIRS = (1, "nodes", "nodes"), ("batch", "nodes", "nodes")
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

DENSE = {
    # Once a layout: what its features say, embedded, and the shares of pure noise on it.
    "layout": Function(
        (
            Array("node", (*_NODES, "node_features")),
            Array("pair", (*_PAIRS, "pair_features")),
            Array("sector", _PAIRS, "uint8"),
        ),
        (*_EMBEDDED, *_NOISE, _PACE),
    ),
    "times": _TIMES,
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
            *_TIME,
            *_STATE,
            *_DRAWN,
            Array("temperature", (1,)),
            Array("edge_bias", _PAIRS),
            Array("guide", _PAIRS),
            Array("guide_weight", _PAIRS),
            _PACE,
            Array("latent", (*_BATCH_NODES, "latent"), optional=True),
        ),
        (*_AFTER, Array("edge_shares", _BATCH_PAIRS), Array("parity_shares", _BATCH_NODES)),
    ),
}

_LINKS, _BATCH_LINKS = (1, "links"), ("batch", "links")
# How arcs belong together, by the names of `layout.Arcs`.
_ARCS = (
    *(Array(name, ("arcs",), "int64", spare=True) for name in ("owner", "reverse", "antenna", "link")),
    Array("forward", ("links",), "int64", spare=True),
    Array("arcs_of_node", ("nodes", "node_arcs"), "int64", spare=True),
    Array("node_there", ("nodes", "node_arcs"), spare=True),
    Array("arcs_of_antenna", ("antennas", "antenna_arcs"), "int64", spare=True),
    Array("antenna_there", ("antennas", "antenna_arcs"), spare=True),
    Array("bearings", ("arcs", "bearings"), spare=True),
)
_ARC_EMBEDDING = Array("arc_embedding", ("arcs", "width"))
# Of networks that look at the layout before any step.
_NODE_EMBEDDING = Array("node_embedding", ("nodes", "width"), optional=True)
_NOISE_LINKS = (Array("noise_links", _LINKS), Array("noise_parity", _NODES))
_DRAWN_LINKS = (Array("drawn_links", _BATCH_LINKS), Array("drawn_parity", _BATCH_NODES))
_LINKS_AFTER = (Array("links_after", _BATCH_LINKS), Array("parity_after", _BATCH_NODES))

# The same, on candidate links.
SPARSE = {
    "layout": Function(
        (Array("features", ("arcs", "arc_features")), *_ARCS), (_ARC_EMBEDDING, *_NOISE_LINKS, _NODE_EMBEDDING)
    ),
    "times": _TIMES,
    "noise": Function(
        (
            Array("links", _LINKS),
            Array("parity", _NODES),
            *_NOISE_LINKS,
            Array("time", (1,)),
            *_DRAWN_LINKS,
        ),
        _LINKS_AFTER,
    ),
    "step": Function(
        (
            _ARC_EMBEDDING,
            *_ARCS,
            *_NOISE_LINKS,
            *_TIME,
            Array("links", _BATCH_LINKS),
            Array("parity", _BATCH_NODES),
            *_DRAWN_LINKS,
            Array("temperature", (1,)),
            Array("link_bias", _LINKS),
            Array("guide", _LINKS),
            Array("guide_weight", _LINKS),
            _NODE_EMBEDDING,
        ),
        # And what the network itself says of each link, whatever the temperature, the bias and the guide.
        (
            *_LINKS_AFTER,
            Array("link_shares", _BATCH_LINKS),
            Array("parity_shares", _BATCH_NODES),
            Array("link_chances", _BATCH_LINKS, optional=True),
        ),
    ),
}

CONTRACTS: Mapping[Network, Mapping[str, Function]] = {"dense": DENSE, "sparse": SPARSE}
# Of every network.
FUNCTIONS = tuple(DENSE)


class StepSettings(NamedTuple, Generic[T]):
    """What the predictions of a step are subject to: arrays of NumPy's, in the shape (1, c) for c pairs, or tensors, in
    the shape that the network has for them, (1, n, n) if it is dense.

    - temperature: log-odds are divided by it. link_bias: added to the log-odds of links after that; may be one number.
      guide, guide_weight: links that the predictions are guided to, and how strongly; None: no guide.
    """

    temperature: T
    link_bias: T
    guide: T | None = None
    guide_weight: T | None = None


def plain_settings(c: int, temperature: float, redundancy: float) -> StepSettings[npt.NDArray[np.float32]]:
    """No guide, and the odds of each of c links raised by the same factor."""
    bias, nothing = np.full((1, c), np.log(redundancy), dtype=np.float32), np.zeros((1, c), dtype=np.float32)
    return StepSettings(np.array([temperature], dtype=np.float32), bias, nothing, nothing)
