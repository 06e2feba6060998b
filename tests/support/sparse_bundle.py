"""A sparse network that is no network: a few operators whose answers anyone can work out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from manetdiff import Radio
from manetdiff.runtime.bundle import Bundle
from manetdiff.sampling import SamplerConfig
from manetdiff.sampling.contract import FUNCTIONS, SPARSE

# A link is predicted if it would carry more than this alone, in bit/s/Hz; below time 1, also if it is there.
LEAST_RATE = 1.5
MEMORY = 8.0
# Of what the functions can do without, what ours uses.
USED = {"forward", "node_there"}

NUMBERS: Mapping[str, Any] = {
    "zero": 0.0,
    "one": 1.0,
    "two": 2.0,
    "half": 0.5,
    "noise": 0.2,
    "least": LEAST_RATE,
    "memory": MEMORY,
    "six": np.zeros((1, 6)),
    "first": np.array([0], dtype=np.int64),
    "last": np.array([1], dtype=np.int64),
}


def _drawn(of: str) -> list[NodeProto]:
    """States from what was drawn and shares."""
    return [
        helper.make_node("Less", [f"drawn_{of}", f"{of}_share"], [f"{of}_is"]),
        helper.make_node("Cast", [f"{of}_is"], [f"{of}_after"], to=TensorProto.FLOAT),
    ]


def _noised(of: str) -> list[NodeProto]:
    return [
        helper.make_node("Sub", [f"noise_{of}", of], [f"{of}_off"]),
        helper.make_node("Mul", [f"{of}_off", "time"], [f"{of}_way"]),
        helper.make_node("Add", [of, f"{of}_way"], [f"{of}_share"]),
        *_drawn(of),
    ]


def _sided(name: str) -> list[NodeProto]:
    """-1 and 1 instead of 0 and 1."""
    return [
        helper.make_node("Mul", [name, "two"], [f"{name}_doubled"]),
        helper.make_node("Sub", [f"{name}_doubled", "one"], [f"{name}_side"]),
    ]


NODES = {
    "layout": [
        helper.make_node("Gather", ["features", "first"], ["arc_embedding"], axis=1),
        helper.make_node("Gather", ["arc_embedding", "forward"], ["of_link"], axis=0),
        helper.make_node("Transpose", ["of_link"], ["rates"]),
        helper.make_node("Mul", ["rates", "zero"], ["no_rates"]),
        helper.make_node("Add", ["no_rates", "noise"], ["noise_links"]),
        helper.make_node("ReduceSum", ["node_there", "last"], ["of_node"], keepdims=1),
        helper.make_node("Transpose", ["of_node"], ["degrees"]),
        helper.make_node("Mul", ["degrees", "zero"], ["no_degrees"]),
        helper.make_node("Add", ["no_degrees", "half"], ["noise_parity"]),
    ],
    "times": [
        helper.make_node("Unsqueeze", ["time", "last"], ["time_condition"]),
        helper.make_node("Unsqueeze", ["earlier", "last"], ["before"]),
        helper.make_node("Add", ["before", "six"], ["strides"]),
    ],
    "noise": [*_noised("links"), *_noised("parity")],
    "step": [
        helper.make_node("Gather", ["arc_embedding", "forward"], ["of_link"], axis=0),
        helper.make_node("Transpose", ["of_link"], ["rates"]),
        helper.make_node("Sub", ["rates", "least"], ["alone"]),
        helper.make_node("Sub", ["one", "time_condition"], ["settled"]),
        helper.make_node("Mul", ["settled", "memory"], ["weight"]),
        *_sided("links"),
        helper.make_node("Mul", ["links_side", "weight"], ["remembered"]),
        *_sided("guide"),
        helper.make_node("Mul", ["guide_side", "guide_weight"], ["guided"]),
        helper.make_node("Sum", ["alone", "remembered", "guided"], ["odds"]),
        helper.make_node("Div", ["odds", "temperature"], ["sharper"]),
        helper.make_node("Add", ["sharper", "link_bias"], ["biased"]),
        helper.make_node("Sigmoid", ["biased"], ["links_share"]),
        helper.make_node("Identity", ["links_share"], ["link_shares"]),
        helper.make_node("Identity", ["parity"], ["parity_share"]),
        helper.make_node("Identity", ["parity"], ["parity_shares"]),
        *_drawn("links"),
        *_drawn("parity"),
    ],
}


def graph(
    name: str,
    nodes: Sequence[NodeProto],
    spare: Set[str] = USED,
    *,
    without: Sequence[str] = (),
    more: Sequence[str] = (),
) -> bytes:
    """A function of the contract.

    - spare: inputs that it could do without, and has. without: such that it lacks; more: such that it should not have.
    """
    function = SPARSE[name]
    dtypes = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
    inputs = [
        helper.make_tensor_value_info(array.name, dtypes[array.dtype], [None] * len(array.axes))
        for array in function.inputs
        if array.name not in without and not array.optional and (not array.spare or array.name in spare)
    ]
    inputs += [helper.make_tensor_value_info(extra, TensorProto.FLOAT, [None]) for extra in more]
    outputs = [
        helper.make_tensor_value_info(array.name, TensorProto.FLOAT, None)
        for array in function.outputs
        if not array.optional
    ]
    taken = {given for node in nodes for given in node.input}
    constants = [
        numpy_helper.from_array(np.asarray(value, dtype=np.int64 if key in ("first", "last") else np.float32), key)
        for key, value in NUMBERS.items()
        if key in taken
    ]
    made = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return bytes(model.SerializeToString())


def sparse_bundle(**graphs: bytes) -> Bundle:
    """The functions as a runtime file; graphs: other ones in their place."""
    made = {name: graph(name, NODES[name]) for name in FUNCTIONS}
    sampling = SamplerConfig(temperature=0.5, redundancy=1.0)
    return Bundle("made by hand", Radio(), sampling, {}, {**made, **graphs}, network="sparse")
