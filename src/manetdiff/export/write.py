"""PyTorch's exporter, applied to the functions of the contract."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import warnings
from collections.abc import Mapping

import torch
from onnx import ModelProto
from torch import Tensor, nn
from torch.export import Dim

from manetdiff.diffusion.generator import VariationalGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import ModelError
from manetdiff.export.functions import functions
from manetdiff.fleet import Fleet
from manetdiff.layout import NODE_FEATURES, PAIR_FEATURES, Layout
from manetdiff.runtime.bundle import Bundle
from manetdiff.runtime.graphs import RefusedGraphError, check_graph
from manetdiff.sampling.contract import CONTRACTS, FREE_AXES, Array, Network

OPSET = 20
# The lengths of the free axes when the functions are traced; none of them stays in the file.
TRACED = {"batch": 3, "nodes": 5, "times": 4}
# What a sparse network is traced on: a layout on which no two of these lengths are the same.
TRACED_FLEET = Fleet([(0, 0), (1, 0.1), (2, 0), (0.1, 1), (1.1, 1.2)], [0.0, 0.3, 0.6, 0.9, 1.2])
FREE = {name: Dim(name, min=least) for name, least in FREE_AXES.items()}


def exported(name: str, weights: Weights) -> Bundle:
    """The weights as a runtime file."""
    generator = weights.build()
    for parameter in generator.parameters():
        parameter.requires_grad_(False)
    network: Network = "sparse" if isinstance(generator, SparseGenerator) else "dense"
    lengths = {**TRACED, "node_features": len(NODE_FEATURES), "pair_features": len(PAIR_FEATURES)}
    # Examples of what the functions before have given, and of inputs that random numbers will not do for.
    known: dict[str, Tensor] = {}
    if isinstance(generator, SparseGenerator):
        arcs = Layout(TRACED_FLEET).arcs._asdict()
        lengths["links"] = len(arcs.pop("links"))
        known |= {name: torch.from_numpy(part) for name, part in arcs.items()}
    if isinstance(generator, VariationalGenerator):
        known["latent"] = torch.rand(TRACED["batch"], TRACED["nodes"], generator.config.latent)
    graphs = {}
    for function, module in functions(generator).items():
        contract, spared = CONTRACTS[network][function], inspect.signature(module.forward).parameters
        taken = [
            array
            for array in contract.inputs
            if (array.name in known or not array.optional) and (array.name in spared or not array.spare)
        ]
        inputs = {array: known[array.name] if array.name in known else _example(array, lengths) for array in taken}
        given = module.eval()(**{array.name: example for array, example in inputs.items()})
        outputs = contract.outputs[: len(given)]  # optional ones come last
        for array, tensor in zip(outputs, given, strict=True):
            known[array.name] = tensor[0] if array.axes[0] == "times" else tensor
        graphs[function] = _onnx(module, inputs, [array.name for array in outputs])
    return Bundle(name, weights.radio, weights.sampling, weights.card, graphs, network=network)


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
    content = bytes(without_origins(program.model_proto).SerializeToString())
    try:
        check_graph(content)
    except RefusedGraphError as error:
        raise ModelError(
            f"the exported graph {error}, and the runtime would refuse it; what it takes is in runtime/graphs.py"
        ) from None
    return content


def without_origins(model: ModelProto) -> ModelProto:
    """The same model without what the exporter notes of where each part comes from: lines of code, and the folders in
    which they lie on this machine."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output, *graph.value_info):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model
