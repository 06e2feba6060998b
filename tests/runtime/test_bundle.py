"""Runtime files: what is shipped, what is in them, and what is refused."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Radio
from manetdiff.errors import CheckpointError
from manetdiff.layout import FEATURES_VERSION, Layout
from manetdiff.runtime import bundle as bundles
from manetdiff.runtime.bundle import DESCRIPTION, FORMAT, FORMAT_NAME, Bundle, find_bundle, read_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.model import Model
from manetdiff.sampling import SamplerConfig
from manetdiff.sampling.contract import FUNCTIONS
from manetdiff.weights import DEFAULT, PAPER, RUNTIME_FILE, known
from support.strategies import drawn

DESCRIBED: dict[str, Any] = {
    "format": FORMAT_NAME,
    "version": FORMAT,
    "features": FEATURES_VERSION,
    "name": "some",
    "radio": Radio().to_dict(),
    "sampling": SamplerConfig().to_dict(),
    "card": {},
}


def fresh(card: dict[str, Any] | None = None) -> Bundle:
    """Not a model: graphs are only read when a chain is made of them."""
    rng = np.random.default_rng(1)
    graphs = {name: rng.bytes(400 + 10 * k) for k, name in enumerate(FUNCTIONS)}
    return Bundle("some", Radio(sigma2=0.3, range=3.0), SamplerConfig(steps=7, redundancy=3.0), card or {}, graphs)


def zipped(description: bytes | None, graphs: Iterable[str] = FUNCTIONS, method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        if description is not None:
            file.writestr(DESCRIPTION, description)
        for name in graphs:
            file.writestr(f"{name}.onnx", b"graph")
    return buffer.getvalue()


def described(**change: Any) -> bytes:
    return zipped(json.dumps({**DESCRIBED, **change}).encode())


def refused(content: bytes, folder: Path) -> str:
    """What is said of a file with this content."""
    path = folder / "some.netdiff"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_bundle(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    return said


class TestAFile:
    def test_gives_back_what_was_written(self, tmp_path: Path) -> None:
        path = tmp_path / "some.netdiff"
        written = fresh({"note": "ours", "deep": {"list": [1, 2.5, None]}})
        path.write_bytes(written.to_bytes())
        assert read_bundle(path) == written
        assert find_bundle(path) == find_bundle(str(path)) == written
        earlier = dataclasses.replace(written, version=1)
        path.write_bytes(earlier.to_bytes())
        assert read_bundle(path) == earlier

    def test_of_the_same_content_is_the_same_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        first = fresh({"a": 1}).to_bytes()
        # Whatever the clock says.
        monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
        monkeypatch.setattr("time.localtime", lambda *_: (2033, 5, 18, 3, 33, 20, 2, 138, 0))
        assert fresh({"a": 1}).to_bytes() == first
        assert fresh({"a": 2}).to_bytes() != first

    def test_may_have_been_packed_by_another_program(self, tmp_path: Path) -> None:
        path = tmp_path / "other.netdiff"
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
            path.write_bytes(zipped(json.dumps(DESCRIBED).encode(), method=method))
            assert read_bundle(path).graphs == dict.fromkeys(FUNCTIONS, b"graph")


class TestPackaged:
    def test_are_the_default_and_the_small_one(self) -> None:
        assert {DEFAULT, PAPER} <= set(known(RUNTIME_FILE))

    @pytest.mark.parametrize("name", known(RUNTIME_FILE))
    def test_all_run_and_are_what_writing_them_again_gives(self, name: str, tmp_path: Path) -> None:
        bundle, path = find_bundle(name), tmp_path / "again.netdiff"
        assert bundle.name == name
        path.write_bytes(bundle.to_bytes())
        assert read_bundle(path) == bundle
        model = md.load(name)
        assert model.radio == Radio()
        assert len(model.generate(drawn(6), steps=2)) == 6


class TestRefused:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match="nothing"):
            read_bundle(tmp_path / "nothing.netdiff")

    def test_a_file_cut_short_anywhere(self, tmp_path: Path) -> None:
        content = fresh().to_bytes()
        for length in (0, 1, 21, 22, 100, len(content) // 2, len(content) - 23, len(content) - 1):
            assert "torn" in refused(content[:length], tmp_path)

    @settings(max_examples=30)
    @given(st.binary(max_size=200))
    def test_random_bytes(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        assert "torn" in refused(content, tmp_path_factory.mktemp("random"))

    def test_a_byte_changed_in_a_graph_in_what_is_packed_and_in_a_name(self, tmp_path: Path) -> None:
        content = described()
        at = content.index(b"graph", content.index(b"step.onnx"))
        assert "torn" in refused(content[:at] + b"grapx" + content[at + 5 :], tmp_path)
        packed = bytearray(zipped(json.dumps(DESCRIBED).encode(), method=zipfile.ZIP_LZMA))
        packed[80] ^= 0xFF
        assert "torn" in refused(bytes(packed), tmp_path)
        unreadable = bytearray(fresh().to_bytes())
        entry = unreadable.index(b"PK\x01\x02")
        unreadable[entry + 9] |= 0x08  # the flag that says that the name is UTF-8
        unreadable[entry + 46] = 0xFF
        refused(bytes(unreadable), tmp_path)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_file_without_one_of_the_graphs(self, name: str, tmp_path: Path) -> None:
        others = tuple(graph for graph in FUNCTIONS if graph != name)
        assert f"{name}.onnx" in refused(zipped(json.dumps(DESCRIBED).encode(), others), tmp_path)

    @pytest.mark.parametrize(
        ("description", "message"),
        [
            (None, DESCRIPTION),
            *((content, "description cannot be read") for content in (b"", b"{", b"\xff\xfe\x00", b"[" * 200_000)),
            *((content, "not a runtime file of this program") for content in (b"[]", b"null", b'{"format": "other"}')),
        ],
        ids=lambda given: str(given)[:30],
    )
    def test_a_description_of_something_else(self, description: bytes | None, message: str, tmp_path: Path) -> None:
        assert message in refused(zipped(description), tmp_path)

    @pytest.mark.parametrize("field", ["name", "radio", "sampling", "card"])
    def test_a_description_that_lacks_a_field(self, field: str, tmp_path: Path) -> None:
        lacking = {name: value for name, value in DESCRIBED.items() if name != field}
        assert f"no '{field}'" in refused(zipped(json.dumps(lacking).encode()), tmp_path)

    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("version", FORMAT + 1, f"version {FORMAT + 1}; this program reads version {FORMAT}"),
            ("version", None, "version None"),
            ("network", "thick", "a network of the kind 'thick'; known are dense, sparse"),
            ("network", ["dense"], "a network of the kind"),
            ("features", FEATURES_VERSION - 1, "layout features"),
            ("features", FEATURES_VERSION + 1, "layout features"),
            ("features", None, "layout features"),
            ("radio", {"sigma2": 0}, "sigma2"),
            ("radio", {"nonsense": 1}, "nonsense"),
            ("radio", 5, "."),
            ("sampling", {"steps": 0}, "steps"),
            ("sampling", None, "sampling"),
            ("card", [1], "."),
            ("card", None, "."),
        ],
    )
    def test_a_description_that_makes_no_sense(self, field: str, value: Any, message: str, tmp_path: Path) -> None:
        assert message in refused(described(**{field: value}), tmp_path)

    def test_a_file_that_would_fill_the_memory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundles, "MOST_BYTES", 1000)
        assert "too large" in refused(fresh().to_bytes(), tmp_path)


class TestJunkInPlaceOfAGraph:
    GOOD = find_bundle("netdiff-small")
    FLEET = drawn(5)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_is_refused_when_it_is_first_needed(self, name: str) -> None:
        graph = self.GOOD.graphs[name]
        for junk in (b"", b"junk", graph[:-5], graph[: len(graph) // 2]):
            model = Model(dataclasses.replace(self.GOOD, graphs={**self.GOOD.graphs, name: junk}))
            for _ in range(2):
                with pytest.raises(CheckpointError, match="graphs cannot be loaded") as caught:
                    model.generate(self.FLEET)
                assert "\n" not in str(caught.value)

    def test_is_refused_through_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "junk.netdiff"
        path.write_bytes(fresh().to_bytes())
        with pytest.raises(CheckpointError, match="some: its graphs cannot be loaded"):
            md.load(path).generate(self.FLEET)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_is_refused_where_it_is_another_graph(self, name: str) -> None:
        for other in set(FUNCTIONS) - {name}:
            swapped = dataclasses.replace(self.GOOD, graphs={**self.GOOD.graphs, name: self.GOOD.graphs[other]})
            with pytest.raises(CheckpointError, match=f"its function '{name}' does not"):
                Model(swapped).generate(self.FLEET)


def test_functions_are_opened_when_they_are_first_needed_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bytes] = []
    session = onnxruntime.InferenceSession

    def noted(graph: bytes, *rest: Any, **more: Any) -> Any:
        opened.append(graph)
        return session(graph, *rest, **more)

    monkeypatch.setattr("onnxruntime.InferenceSession", noted)
    graphs, fleet = find_bundle("netdiff-small").graphs, drawn(5)
    chain = Chain(find_bundle("netdiff-small"))
    assert opened == []
    chain.embed(Layout(fleet, Radio()))
    assert opened == [graphs["layout"]]
    opened.clear()
    model = Model(find_bundle("netdiff-small"))
    with ThreadPoolExecutor(4) as threads:  # as a service does
        list(threads.map(model.generate, [fleet] * 6))
    model.generate(fleet)
    assert sorted(opened) == sorted(graphs.values())
