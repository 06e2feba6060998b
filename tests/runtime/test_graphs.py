"""Runtime files that are made to do harm: graphs that reach for other files, never end, or ask for all the memory."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import manetdiff as md
from manetdiff.errors import CheckpointError
from manetdiff.runtime.bundle import Bundle, find_bundle, read_bundle
from manetdiff.runtime.graphs import RefusedGraphError, check_graph
from manetdiff.runtime.model import Model
from manetdiff.sampling.contract import DENSE, FUNCTIONS
from manetdiff.weights import RUNTIME_FILE, known
from support.odd_values import odd_documents
from support.strategies import drawn

GOOD = find_bundle("netdiff-small")
FLEET = drawn(5)
# The same without its graphs, for what is said before they are read.
LIGHT = dataclasses.replace(GOOD, graphs=dict.fromkeys(GOOD.graphs, b""), card={"note": 1})


def with_graph(name: str, model: onnx.ModelProto) -> Bundle:
    return dataclasses.replace(GOOD, graphs={**GOOD.graphs, name: model.SerializeToString()})


def changed(name: str, change: Callable[[onnx.ModelProto], Any]) -> Bundle:
    """The small network, one of whose graphs has been changed."""
    model = onnx.load_model_from_string(GOOD.graphs[name])
    change(model)
    return with_graph(name, model)


def external(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret.bin")
    tensor.ClearField("raw_data")


def endless(model: onnx.ModelProto) -> None:
    condition = helper.make_tensor_value_info("again", TensorProto.BOOL, [])
    count = helper.make_tensor_value_info("count", TensorProto.INT64, [])
    body = helper.make_graph([helper.make_node("Identity", ["again"], ["on"])], "body", [count, condition], [condition])
    model.graph.node.append(helper.make_node("Loop", ["", "true"], [], body=body))


def hidden_in_an_attribute(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute("inner", helper.make_graph([], "inner", [], [])))


def of_constants(model: onnx.ModelProto) -> None:
    tensor = helper.make_tensor("", TensorProto.FLOAT, [1], [1.0])
    model.graph.node.append(helper.make_node("Constant", [], ["one"], value=tensor))


def of_a_function(model: onnx.ModelProto) -> None:
    opset = [helper.make_opsetid("", 20)]
    model.functions.append(helper.make_function("mine", "again", ["x"], ["y"], [], opset))


def sparse(model: onnx.ModelProto) -> None:
    values = numpy_helper.from_array(np.ones(1, np.float32), "values")
    places = numpy_helper.from_array(np.zeros(1, np.int64), "places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [10**12]))


def huge(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [2**40]


def folded(model: onnx.ModelProto) -> None:
    """A constant of gigabytes, made of a few bytes while the file is loaded."""
    model.graph.initializer.append(numpy_helper.from_array(np.array([10**10], np.int64), "size"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(1, np.float32), "one"))
    model.graph.node.append(helper.make_node("Expand", ["one", "size"], ["gigabytes"]))


def typed(model: onnx.ModelProto) -> None:
    model.graph.initializer.add(name="more", data_type=TensorProto.FLOAT, dims=[10**9])


def node(operator: str, domain: str = "") -> Callable[[onnx.ModelProto], None]:
    return lambda model: model.graph.node.append(helper.make_node(operator, [], ["it"], domain=domain))


ATTACKS: dict[str, tuple[Callable[[onnx.ModelProto], Any], str]] = {
    "external data": (external, "numbers that are not in it"),
    "a loop": (endless, "graph or a tensor inside of an operator"),
    "a condition": (node("If"), "operator 'If', which none of ours does"),
    "a scan": (node("Scan"), "operator 'Scan'"),
    "random numbers": (node("RandomNormal"), "operator 'RandomNormal'"),
    "another domain": (node("Gelu", "com.microsoft"), "domain 'com.microsoft'"),
    "a domain of nobody": (lambda model: model.opset_import.append(helper.make_opsetid("evil", 1)), "domain 'evil'"),
    "a hidden graph": (hidden_in_an_attribute, "graph or a tensor inside of an operator"),
    "a constant": (of_constants, "graph or a tensor inside of an operator"),
    "functions": (of_a_function, "more than a graph"),
    "a sparse tensor": (sparse, "more than arithmetic"),
    "a tensor of another size": (huge, "another shape"),
    "numbers of no bytes": (typed, "another shape"),
    "a constant that is made on loading": (folded, "computes with constants alone"),
    "training": (lambda model: model.training_info.add(), "more than a graph"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_ours_never_hold_is_refused_before_it_runs(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, words = ATTACKS[attack]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.bin").write_bytes(bytes(10**6))
    for name in FUNCTIONS:
        with pytest.raises(CheckpointError, match=f"its graphs cannot be loaded: '{name}' .*{words}") as caught:
            Model(changed(name, change)).generate(FLEET)
        assert len(str(caught.value)) < 300


def test_a_file_that_names_another_is_refused_without_opening_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "forged.netdiff"
    path.write_bytes(changed("layout", external).to_bytes())
    monkeypatch.setattr("onnxruntime.InferenceSession", pytest.fail)
    with pytest.raises(CheckpointError, match="numbers that are not in it"):
        md.load(path).generate(FLEET)


@pytest.mark.parametrize("name", known(RUNTIME_FILE))
def test_ours_pass(name: str) -> None:
    for graph in find_bundle(name).graphs.values():
        check_graph(graph)


@settings(max_examples=200)
@given(st.binary(max_size=40), st.integers(0, 20_000), st.integers(0, 3))
def test_whatever_the_bytes_they_are_read_or_refused(junk: bytes, at: int, which: int) -> None:
    graph = GOOD.graphs[FUNCTIONS[which]]
    for content in (junk, graph[:at], graph[:at] + junk + graph[at + len(junk) :]):
        try:
            check_graph(content)
        except RefusedGraphError as error:
            assert str(error).isprintable()


def giving(shape_of: str, sizes: list[int]) -> onnx.ModelProto:
    """A function `noise` of allowed operators, whose outputs are as large as an input times so much."""
    inputs = [
        helper.make_tensor_value_info(array.name, TensorProto.FLOAT, [None] * len(array.axes))
        for array in DENSE["noise"].inputs
        if not array.optional
    ]
    outputs = [helper.make_tensor_value_info(array.name, TensorProto.FLOAT, None) for array in DENSE["noise"].outputs]
    nodes = [
        helper.make_node("Shape", [shape_of], ["shape"]),
        helper.make_node("Mul", ["shape", "sizes"], ["larger"]),
        helper.make_node("Expand", ["one", "larger"], [outputs[0].name]),
        helper.make_node("Mul", ["parity", "one"], [outputs[1].name]),
    ]
    constants = [
        numpy_helper.from_array(np.array(sizes, np.int64), "sizes"),
        numpy_helper.from_array(np.ones(1, np.float32), "one"),
    ]
    graph = helper.make_graph(nodes, "noise", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="how much memory there is cannot be asked here")
def test_arithmetic_that_asks_for_all_the_memory_is_refused() -> None:
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    asked = max(int(0.9 * most), 2**33) // (4 * 2 * 2)  # numbers, of every pair of the fewest nodes
    with pytest.raises(CheckpointError, match="its function 'noise' cannot be run: ") as caught:
        Model(with_graph("noise", giving("edges", [asked, 1, 1]))).generate(FLEET)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("sizes", [[1, 2, 1], [3, 1, 1]])
def test_outputs_of_another_shape_than_the_contract_says_are_refused(sizes: list[int]) -> None:
    with pytest.raises(CheckpointError, match="its function 'noise' gives edges_after in the shape"):
        Model(with_graph("noise", giving("edges", sizes))).generate(FLEET, samples=2)


def test_a_graph_that_takes_other_types_is_refused() -> None:
    def wrong_type(model: onnx.ModelProto) -> None:
        model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64

    with pytest.raises(CheckpointError, match="'noise'"):
        Model(changed("noise", wrong_type)).generate(FLEET)


@pytest.mark.parametrize("steps", [10_001, 10**9, 10**400], ids=["many", "a billion", "digits"])
def test_a_file_cannot_ask_for_a_billion_steps_or_antennas(steps: int, tmp_path: Path) -> None:
    path = tmp_path / "forged.netdiff"
    for part, name in (("sampling", "steps"), ("radio", "sectors")):
        path.write_bytes(_redescribed(LIGHT.to_bytes(), {part: {name: steps}}))
        with pytest.raises(CheckpointError, match=f"{name} must be"):
            read_bundle(path)


def test_odd_values_in_a_description_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.netdiff"
    with zipfile.ZipFile(io.BytesIO(LIGHT.to_bytes())) as file:
        described = json.loads(file.read("description.json"))
    for odd in odd_documents(described, 2):
        path.write_bytes(_redescribed(LIGHT.to_bytes(), odd))
        with contextlib.suppress(CheckpointError):
            bundle = read_bundle(path)
            assert bundle.name.isprintable()
            assert isinstance(bundle.card, dict)


def _redescribed(content: bytes, change: dict[str, Any]) -> bytes:
    """A runtime file with another description."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as file, zipfile.ZipFile(buffer, "w") as written:
        for name in file.namelist():
            if name == "description.json":
                written.writestr(name, json.dumps({**json.loads(file.read(name)), **change}))
            else:
                written.writestr(name, file.read(name))
    return buffer.getvalue()
