"""Compiled code is kept in a folder that is safe, found again, and made anew whatever has become of it."""

from __future__ import annotations

import hashlib
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from manetdiff.compiled import builder, compiling, kernel, store
from manetdiff.compiled.folder import CHECKSUM, FORGOTTEN, CacheFolder, cache_folder
from manetdiff.compiled.functions import Compiled, _functions


def _twice(x):  # type: ignore[no-untyped-def]
    return 2 * x


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where code is kept during the test."""
    monkeypatch.setenv("MANETDIFF_CACHE_DIR", str(tmp_path / "cache"))
    known = list(_functions)
    store.own_folder.cache_clear()
    yield tmp_path / "cache"
    store.own_folder.cache_clear()
    _functions[:] = known


def _kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.code"))


def _called(value: complex = 21.0) -> Compiled:
    """What another process would do: the same function, called for the first time."""
    twice = kernel(_twice)
    assert twice(value) == 2 * value
    return twice


def test_what_one_process_has_compiled_the_next_one_loads(folder: Path) -> None:
    assert _called().has_been_compiled
    (code,) = _kept(folder)
    assert not _called().has_been_compiled
    assert _called(1j).has_been_compiled  # other types are other code
    assert len(_kept(folder)) == 2 and code in _kept(folder)


def _difference(pair):  # type: ignore[no-untyped-def]
    return pair.left - pair.right


def test_the_order_of_fields_in_a_named_tuple_counts(folder: Path) -> None:
    values = {"left": 5.0, "right": 3.0}
    for fields in (["left", "right"], ["right", "left"]):
        kind: Any = NamedTuple("Pair", [(name, float) for name in fields])  # type: ignore[misc]
        assert kernel(_difference)(kind(**values)) == 2.0
    assert len(_kept(folder)) == 2


@pytest.mark.parametrize("damage", ["empty", "torn", "changed", "not code", "folder"])
def test_damaged_code_is_compiled_anew(folder: Path, damage: str) -> None:
    _called()
    (code,) = _kept(folder)
    whole = code.read_bytes()
    nonsense = b"no pickle"
    if damage == "folder":
        code.unlink()
        code.mkdir()
    else:
        code.write_bytes(
            {
                "empty": b"",
                "torn": whole[: len(whole) // 2],
                "changed": whole[:-9] + b"x" + whole[-8:],
                "not code": hashlib.sha256(nonsense).digest() + nonsense,
            }[damage]
        )
    assert _called().has_been_compiled
    if damage != "folder":
        assert code.read_bytes()[CHECKSUM:] and not _called().has_been_compiled


def test_without_a_folder_code_is_compiled_and_not_kept(folder: Path) -> None:
    folder.write_text("a file stands here")
    assert _called().has_been_compiled
    assert store.own_folder() is None
    assert _called().has_been_compiled


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners and modes of files")
@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, mode: int) -> None:
    (folder / "kernels" / "here").mkdir(parents=True)
    (folder / "kernels" / "here").chmod(mode)
    assert cache_folder("here") is None
    (folder / "kernels" / "here").chmod(0o700)
    assert cache_folder("here") is not None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_not_used(folder: Path) -> None:
    (folder / "kernels" / "here").mkdir(parents=True)
    os.chown(folder / "kernels" / "here", 65534, 65534)
    assert cache_folder("here") is None


@pytest.mark.parametrize("home", [None, "", "relative", "/proc/nowhere", "/dev/null"])
def test_without_a_home_that_can_be_written_to_there_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("MANETDIFF_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", classmethod(lambda _: _home(home)))
    assert cache_folder("here") is None
    assert not list(tmp_path.iterdir())


def _home(told: str | None) -> Path:
    if told is None:
        raise RuntimeError("there is no home")
    return Path(told)


def test_what_nobody_has_used_for_long_is_thrown_away_and_what_is_used_is_not(tmp_path: Path) -> None:
    old, new = (CacheFolder(tmp_path / name) for name in ("old", "new"))
    for folder in (old, new):
        folder.path.mkdir()
    old.write("forgotten", b"code")
    new.write("forgotten", b"code")
    new.write("used", b"code")
    others = tmp_path / "of somebody else" / "matmul.cu"
    others.parent.mkdir()
    others.write_text("not ours")
    long_ago = time.time() - FORGOTTEN - 1
    for path in (others, *tmp_path.rglob("*.code")):
        os.utime(path, (long_ago, long_ago))
    assert new.read("used") == b"code"
    CacheFolder(new.path).write("another", b"code")
    assert new.names() == ["another", "used"]
    assert not old.path.exists()
    assert others.read_text() == "not ours"


@pytest.mark.parametrize("content", [None, b"", b"nothing", "torn"])
def test_packaged_code_that_cannot_be_read_counts_as_none(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "archive.tar.xz"
    if content == "torn":
        with tarfile.open(path, "w:xz") as archive:
            archive.add(__file__)
        path.write_bytes(path.read_bytes()[:-100])
    elif isinstance(content, bytes):
        path.write_bytes(content)
    assert store.unpacked(path) == {}


def test_progress_is_told_for_functions_within_others_too(folder: Path) -> None:
    inner = kernel(_twice)

    def outer(x):  # type: ignore[no-untyped-def]
        return inner(x) + 1

    told: list[tuple[int, int]] = []
    before = sum(function.has_been_compiled for function in _functions)
    with compiling(lambda done, total: told.append((done, total))):
        assert builder(outer)(3) == 7
    assert [done - before for done, _ in told] == [1, 2]
    assert {total for _, total in told} == {len(_functions)}
