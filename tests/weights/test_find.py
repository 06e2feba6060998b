"""Weights by name and path, the wrong kind of file, and headers that are read without PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors import safe_open

import manetdiff as md
from manetdiff import gpu
from manetdiff.errors import CheckpointError
from manetdiff.weights import RUNTIME_FILE, WEIGHTS_FILE, find, known, read_header
from manetdiff.weights.finder import PACKAGE, STUDIES

KINDS = (WEIGHTS_FILE, RUNTIME_FILE)


def with_header(header: bytes) -> bytes:
    """A safetensors file of this header and eight bytes of data."""
    return len(header).to_bytes(8, "little") + header + bytes(8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_package_ships_what_users_run_and_the_rest_is_in_the_studies(kind: str) -> None:
    in_package = {name for name, path in known(kind).items() if path.parent == PACKAGE}
    assert in_package == {"netdiff", "netdiff-heading", "netdiff-sparse"}
    assert all(path.parent in (PACKAGE, STUDIES) for path in known(kind).values())
    assert "acam-123" in known(WEIGHTS_FILE)


def test_names_come_first_then_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("netdiff", "mine.netdiff", "mine.of-another-name"):
        Path(name).touch()
    assert find("netdiff", RUNTIME_FILE) == PACKAGE / "netdiff.netdiff"
    assert find("acam-123", WEIGHTS_FILE) == STUDIES / "acam-123.safetensors"
    assert find("mine.netdiff", RUNTIME_FILE) == Path("mine.netdiff")
    assert find(tmp_path / "mine.of-another-name", WEIGHTS_FILE) == tmp_path / "mine.of-another-name"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["nonsense", "nowhere/best.safetensors", "nowhere/mine.netdiff", "."])
def test_what_is_not_there_is_answered_with_what_is(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        CheckpointError, match=r"no such file.*there are netdiff, netdiff-heading, netdiff-sparse"
    ) as told:
        find(name, kind)
    assert "sources" not in str(told.value)
    # As from an installed wheel.
    monkeypatch.setattr("manetdiff.weights.finder.STUDIES", Path("nowhere"))
    with pytest.raises(CheckpointError, match=r"netdiff-sparse; more, such as acam-123, come with the sources"):
        find(name, kind)


@pytest.mark.parametrize("given", ["acam-123", str(STUDIES / "acam-123.safetensors"), PACKAGE / "netdiff.safetensors"])
def test_where_a_runtime_file_is_wanted_weights_are_to_be_exported(given: str | Path) -> None:
    with pytest.raises(CheckpointError, match=f"{given} is a weights file for training; .*: manetdiff export {given}$"):
        md.load(given)


@pytest.mark.parametrize("given", ["exported", str(PACKAGE / "netdiff.netdiff")])
def test_where_weights_are_wanted_a_runtime_file_is_not_enough(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exported.netdiff").touch()
    monkeypatch.setattr("manetdiff.weights.finder.STUDIES", tmp_path)
    with pytest.raises(CheckpointError, match=rf"{given} is a runtime file.*give the weights file \(.safetensors\)"):
        gpu.load(given, device="cpu")


@pytest.mark.parametrize("name", ["netdiff", "netdiff-heading", "acam-123", "gt-vae-123", "acam-brief-123"])
def test_a_header_is_what_safetensors_reads(name: str) -> None:
    path = find(name, WEIGHTS_FILE)
    with safe_open(path, framework="numpy") as file:
        count = sum(file.get_tensor(key).size for key in file.keys())  # noqa: SIM118 - not a mapping
        content = json.loads(file.metadata()["manetdiff"])
    header = read_header(path)
    assert header.parameters == count > 0
    assert header.description == content["description"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff" * 50,
        with_header(b"[]"),
        with_header(b"[" * 10**5),
        with_header(b"[" * 900 + b"]" * 900),
        *(
            with_header(b'{"a": {"dtype": "F32", "shape": %s, "data_offsets": %s}}' % (shape, offsets))
            for shape, offsets in (
                (b"[1" + b"0" * 400 + b"]", b"[0, 8]"),
                (b'["a"]', b"[0, 8]"),
                (b"[-1, -2]", b"[0, 8]"),
                (b"[true]", b"[0, 8]"),
                (b"[2.0]", b"[0, 8]"),
                (b"7", b"[0, 8]"),
                (b"[2]", b"[0, 1" + b"0" * 4000 + b"]"),
                (b"[2]", b'["x", "y"]'),
                (b"[2]", b"null"),
            )
        ),
    ],
    ids=lambda content: content[8:60].decode(errors="replace"),
)
def test_a_file_of_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError, match="torn, or not a safetensors file"):
        read_header(tmp_path / "odd.safetensors")
