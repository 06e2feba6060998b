"""What an exported graph may hold: arithmetic on its inputs and on numbers of its own, and nothing else.

ONNX Runtime would also read other files that a graph names, run loops without end and load code of other domains. So a
graph is looked through before it gets there, by a reader of the few kinds of messages that ours consist of: what they
never hold is refused, whatever it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

# Whatever the exporter makes of every kind of model that there is; the exporter checks its own work by this list.
# fmt: off
OPERATORS = frozenset({
    "Abs", "Add", "And", "Atan", "Cast", "Clip", "Concat", "ConstantOfShape", "Cos", "Div", "Einsum", "Equal",
    "Exp", "Expand", "Floor", "Gather", "Gelu", "Gemm", "Greater", "GreaterOrEqual", "Identity", "IsNaN",
    "LayerNormalization", "Less", "LessOrEqual", "Log", "MatMul", "Max", "Min", "Mul", "Neg", "Not", "Or", "Pow",
    "Range", "Reciprocal", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Relu", "Reshape",
    "Shape", "Sigmoid", "Sin", "Slice", "Softmax", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tanh", "Transpose",
    "Trilu", "Unsqueeze", "Where",
})
# fmt: on
DOMAINS = ("", "ai.onnx")
MOST_NODES = 20_000
# Bytes of a number, by ONNX's code of its type.
NUMBER_BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8}

# Fields of ONNX's messages: those that are looked into, and those that are names and notes. All others are refused.
GRAPH, OPSET = 7, 8
MODEL_NOTES = {1, 2, 3, 4, 5, 6, 14}
NODE, INITIALIZER = 1, 5
GRAPH_NOTES = {2, 10, 11, 12, 13, 16}
NODE_INPUT, OP_TYPE, ATTRIBUTE, DOMAIN = 1, 4, 5, 7
NODE_NOTES = {2, 3, 6, 9}
# Numbers and text; no graphs, tensors, types or references.
ATTRIBUTE_NOTES = {1, 2, 3, 4, 7, 8, 13, 20}
DIMS, DATA_TYPE, TENSOR_NAME, RAW_DATA = 1, 2, 8, 9
TENSOR_NOTES = {12, 16}
OPSET_DOMAIN, OPSET_VERSION = 1, 2

# How a field is written.
VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5


class RefusedGraphError(ValueError):
    """What a graph holds that no graph of ours does."""


def check_graph(content: bytes) -> None:
    """Raise a RefusedGraphError unless the graph is one as ours are. content: an ONNX model."""
    graphs = 0
    for field, value in _fields(content):
        if field == GRAPH:
            graphs += 1
            _check_nodes(_message(value))
        elif field == OPSET:
            _check_domain(dict(_fields(_message(value))).get(OPSET_DOMAIN, b""))
        elif field not in MODEL_NOTES:
            raise RefusedGraphError(f"holds more than a graph (field {field} of a model)")
    if graphs != 1:
        raise RefusedGraphError("is not one graph")


def _check_nodes(graph: bytes) -> None:
    taken: list[set[bytes]] = []
    constants = {b""}  # an input that is left out
    for field, value in _fields(graph):
        if field == NODE:
            taken.append(_checked_node(_message(value)))
        elif field == INITIALIZER:
            constants.add(_checked_tensor(_message(value)))
        elif field not in GRAPH_NOTES:
            raise RefusedGraphError(f"holds more than arithmetic (field {field} of a graph)")
    if len(taken) > MOST_NODES:
        raise RefusedGraphError(f"has {len(taken)} operators; at most {MOST_NODES} are read")
    # The exporter has done so already, and has written what came out; this would be done while the file is loaded.
    if any(inputs <= constants for inputs in taken):
        raise RefusedGraphError("computes with constants alone, of any size")


def _checked_node(node: bytes) -> set[bytes]:
    """The names of its inputs."""
    operator, inputs = "", set()
    for field, value in _fields(node):
        if field == NODE_INPUT:
            inputs.add(_message(value))
        elif field == OP_TYPE:
            operator = _text(value)
        elif field == DOMAIN:
            _check_domain(value)
        elif field == ATTRIBUTE:
            for inner, _ in _fields(_message(value)):
                if inner not in ATTRIBUTE_NOTES:
                    raise RefusedGraphError(f"holds a graph or a tensor inside of an operator (field {inner})")
        elif field not in NODE_NOTES:
            raise RefusedGraphError(f"holds more than operators (field {field} of a node)")
    if operator not in OPERATORS:
        raise RefusedGraphError(f"holds the operator {operator[:40]!r}, which none of ours does")
    return inputs


def _check_domain(value: int | bytes) -> None:
    name = _text(value)
    if name not in DOMAINS:
        raise RefusedGraphError(f"holds operators of the domain {name[:40]!r}")


def _checked_tensor(tensor: bytes) -> bytes:
    """Its name. Its numbers must be in it, all of them: neither elsewhere nor made on the way."""
    dims: list[int] = []
    name, numbers, kind = b"", 0, 0
    for field, value in _fields(tensor):
        if field == DIMS:
            dims += [value] if isinstance(value, int) else _varints(_message(value))
        elif field == DATA_TYPE and isinstance(value, int):
            kind = value
        elif field == RAW_DATA:
            numbers = len(_message(value))
        elif field == TENSOR_NAME:
            name = _message(value)
        elif field not in TENSOR_NOTES:
            raise RefusedGraphError(f"holds numbers that are not in it (field {field} of a tensor)")
    if kind not in NUMBER_BYTES or math.prod(dims) * NUMBER_BYTES[kind] != numbers:
        raise RefusedGraphError("holds numbers of another shape than it says")
    return name


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message of Protocol Buffers: the number of each, and its value, or its bytes."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        field, how = key >> 3, key & 7
        if how == VARINT:
            value, at = _varint(message, at)
            yield field, value
            continue
        if how == BYTES:
            length, at = _varint(message, at)
        elif how in (FIXED_32, FIXED_64):
            length = 4 if how == FIXED_32 else 8
        else:
            raise RefusedGraphError("is torn, or not an ONNX file")
        if length > end - at:
            raise RefusedGraphError("is torn, or not an ONNX file")
        yield field, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where the next thing does."""
    if at < len(message) and message[at] < 128:  # nearly all of them
        return message[at], at + 1
    number = 0
    for shift in range(0, 64, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise RefusedGraphError("is torn, or not an ONNX file")


def _varints(message: bytes) -> Iterator[int]:
    at = 0
    while at < len(message):
        number, at = _varint(message, at)
        yield number


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise RefusedGraphError("is torn, or not an ONNX file")
    return value


def _text(value: int | bytes) -> str:
    if isinstance(value, int):
        raise RefusedGraphError("is torn, or not an ONNX file")
    return value.decode(errors="replace")
