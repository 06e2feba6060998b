"""PyTorch's exporter, applied to the four functions."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import ModelError
from manetdiff.export.graphs import LayoutGraph, NoiseGraph, StepGraph, TimeGraph
from manetdiff.features import NODE_FEATURES, PAIR_FEATURES
from manetdiff.runtime.bundle import PACE, Bundle

OPSET = 20
# The sizes at which the functions are traced; none of them stays in the file.
TRACED_BATCH, TRACED_NODES, TRACED_TIMES = 3, 5, 4


def exported(name: str, weights: Weights) -> Bundle:
    """The weights as a runtime file."""
    generator = weights.build()
    if not isinstance(generator, DiffusionGenerator):
        raise ModelError(f"{name}: only diffusion models are exported, not a {weights.config.kind}")
    for parameter in generator.parameters():
        parameter.requires_grad_(False)
    layout, times, noise, step = (
        LayoutGraph(generator),
        TimeGraph(generator),
        NoiseGraph(generator),
        StepGraph(generator),
    )
    b, n, k = TRACED_BATCH, TRACED_NODES, TRACED_TIMES
    batch, nodes, count = Dim("batch", min=1), Dim("nodes", min=2), Dim("times", min=1)
    features = {
        "node": (torch.rand(1, n, len(NODE_FEATURES)), {1: nodes}),
        "pair": (torch.rand(1, n, n, len(PAIR_FEATURES)), {1: nodes, 2: nodes}),
        "sector": (torch.zeros(1, n, n, dtype=torch.uint8), {1: nodes, 2: nodes}),
    }
    moments = {
        "time": (torch.linspace(1.0, 0.25, k), {0: count}),
        "earlier": (torch.linspace(0.75, 0.0, k), {0: count}),
    }
    given_features = [value for value, _ in features.values()]
    of_nodes, of_edges, looks, noise_edges, noise_parity, *own_pace = layout(*given_features)
    films, strides = times(*(value for value, _ in moments.values()))
    square, row = {1: nodes, 2: nodes}, {1: nodes}
    shares = {"noise_edges": (noise_edges, square), "noise_parity": (noise_parity, row)}
    drawn = {
        "drawn_edges": (torch.rand(b, n, n), {0: batch, **square}),
        "drawn_parity": (torch.rand(b, n), {0: batch, **row}),
    }
    clean = {"edges": (torch.zeros(1, n, n), square), "parity": (torch.zeros(1, n), row)}
    noisy = {
        "edges": (torch.zeros(b, n, n), {0: batch, **square}),
        "parity": (torch.zeros(b, n), {0: batch, **row}),
    }
    pulls = {name: (torch.zeros(1, n, n), square) for name in ("favour", "guide", "guide_weight")}
    embedded = {"of_nodes": (of_nodes, row), "of_edges": (of_edges, square), "looks": (looks, square)}
    moment = {"films": (films[0], None), "strides": (strides[0], None)}
    paced = {PACE: (own_pace[0], square)} if own_pace else {}
    after = ("edges_after", "parity_after")
    graphs = {
        "layout": _onnx(layout, features, (*embedded, *shares, *paced)),
        "times": _onnx(times, moments, ("films", "strides")),
        "noise": _onnx(noise, {**clean, **shares, "time": (torch.ones(1), None), **drawn, **paced}, after),
        "step": _onnx(
            step,
            {**embedded, **shares, **moment, **noisy, **drawn, "heat": (torch.ones(1), None), **pulls, **paced},
            (*after, "edge_shares", "parity_shares"),
        ),
    }
    return Bundle(name, weights.radio, weights.sampling, weights.card, graphs)


def _onnx(module: nn.Module, inputs: dict[str, tuple[Tensor, Any]], outputs: tuple[str, ...]) -> bytes:
    """inputs: an example and its free dimensions, by name, in the order of the module's arguments."""
    # It tells of operators of packages that are not here and not needed.
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module.eval(),
            tuple(example for example, _ in inputs.values()),
            dynamo=True,
            verbose=False,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes=tuple(free for _, free in inputs.values()),
            opset_version=OPSET,
        )
    assert program is not None
    model = program.model_proto
    return bytes(model.SerializeToString())
