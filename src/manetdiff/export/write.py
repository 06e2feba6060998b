"""PyTorch's exporter, applied to the functions of the contract."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.export import Dim

from manetdiff.diffusion.generator import VariationalGenerator
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import ModelError
from manetdiff.export.functions import functions
from manetdiff.layout import NODE_FEATURES, PAIR_FEATURES
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.graphs import RefusedGraphError, check_graph
from manetdiff.sampling.contract import FREE_AXES, FUNCTIONS, Array

OPSET = 20
# The lengths of the free axes when the functions are traced; none of them stays in the file.
TRACED = {"batch": 3, "nodes": 5, "times": 4}
FREE = {name: Dim(name, min=least) for name, least in FREE_AXES.items()}


def exported(name: str, weights: Weights) -> Bundle:
    """The weights as a runtime file."""
    generator = weights.build()
    for parameter in generator.parameters():
        parameter.requires_grad_(False)
    lengths = {**TRACED, "node_features": len(NODE_FEATURES), "pair_features": len(PAIR_FEATURES)}
    # Examples of what the functions before have given, and of optional inputs that this model has.
    known: dict[str, Tensor] = {}
    if isinstance(generator, VariationalGenerator):
        known["latent"] = torch.rand(TRACED["batch"], TRACED["nodes"], generator.config.latent)
    graphs = {}
    for function, module in functions(generator).items():
        taken = [array for array in FUNCTIONS[function].inputs if array.name in known or not array.optional]
        inputs = {array: known[array.name] if array.name in known else _example(array, lengths) for array in taken}
        given = module.eval()(**{array.name: example for array, example in inputs.items()})
        outputs = FUNCTIONS[function].outputs[: len(given)]  # optional ones come last
        for array, tensor in zip(outputs, given, strict=True):
            known[array.name] = tensor[0] if array.axes[0] == "times" else tensor
        graphs[function] = _onnx(module, inputs, [array.name for array in outputs])
    return Bundle(name, weights.radio, weights.sampling, weights.card, graphs)


def _example(array: Array, lengths: Mapping[str, int]) -> Tensor:
    shape = [lengths[axis] if isinstance(axis, str) else axis for axis in array.axes]
    dtype: torch.dtype = getattr(torch, array.dtype)
    return torch.rand(shape).to(dtype)


def _onnx(module: nn.Module, inputs: Mapping[Array, Tensor], outputs: list[str]) -> bytes:
    """inputs: an example of each."""
    names = [array.name for array in inputs]
    free = {array.name: {k: FREE[axis] for k, axis in enumerate(array.axes) if axis in FREE} for array in inputs}
    # It tells of operators of packages that are not here and not needed.
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module,
            kwargs=dict(zip(names, inputs.values(), strict=True)),
            dynamo=True,
            verbose=False,
            input_names=names,
            output_names=outputs,
            dynamic_shapes=free,
            opset_version=OPSET,
        )
    assert program is not None
    content = bytes(program.model_proto.SerializeToString())
    try:
        check_graph(content)
    except RefusedGraphError as error:
        raise ModelError(
            f"the exported graph {error}, and the runtime would refuse it; what it takes is in runtime/graphs.py"
        ) from None
    return content
