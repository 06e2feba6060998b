"""The ground floor: files that are whole or not there, folders, locks, and checks of what callers hand in."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff import checks, files
from manetdiff.errors import FormatError, ModelError
from manetdiff.files import locked, made_folder, together, write_whole
from manetdiff.messages import brief, escaped
from manetdiff.once import once


class TestOnce:
    class Counted:
        """Counts how often it is computed."""

        computed = 0

        @once
        def value(self) -> int:
            """Of each object its own."""
            self.computed += 1
            return 100 + self.computed

    def test_is_computed_when_asked_for_and_then_kept_of_each_object(self) -> None:
        first, second = self.Counted(), self.Counted()
        assert first.computed == 0
        assert [first.value, first.value, second.value] == [101, 101, 101]
        assert (first.computed, second.computed) == (1, 1)

    def test_of_the_class_is_itself_with_what_it_says(self) -> None:
        assert isinstance(self.Counted.value, once)
        assert self.Counted.value.__doc__ == "Of each object its own."


class TestWholeFiles:
    def test_a_reader_of_the_old_one_keeps_it(self, tmp_path: Path) -> None:
        path = tmp_path / "some.json"
        write_whole(path, b"the old one")
        with path.open("rb") as reader:
            write_whole(path, b"new")
            assert reader.read() == b"the old one"
        assert path.read_bytes() == b"new"

    def test_what_cannot_be_finished_leaves_the_old_one_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "some.json"
        write_whole(path, b"the old one")

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FormatError, match=r"some\.json: cannot be written: No space left"):
            write_whole(path, b"new")
        assert path.read_bytes() == b"the old one"
        assert list(tmp_path.iterdir()) == [path]

    def test_several_come_into_place_together(self, tmp_path: Path) -> None:
        with together():
            for name in ("a", "b"):
                write_whole(tmp_path / name, b"new")
                assert not (tmp_path / name).exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_of_several_none_is_left_where_one_cannot_be_finished(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
    ) -> None:
        write_whole(tmp_path / "a", b"the old one")

        def full(descriptor: int) -> None:
            raise error

        with pytest.raises((FormatError, KeyboardInterrupt)), together():
            write_whole(tmp_path / "a", b"new")
            write_whole(tmp_path / "b", b"new")
            monkeypatch.setattr(os, "fsync", full)
            write_whole(tmp_path / "c", b"new")
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert (tmp_path / "a").read_bytes() == b"the old one"

    def test_what_a_killed_process_left_is_removed_when_somebody_writes_there_next(self, tmp_path: Path) -> None:
        code = (
            "import os, pathlib, signal, sys; from manetdiff.files import *\n"
            "with together():\n"
            "    write_whole(pathlib.Path(sys.argv[1]) / 'big.json', b'x')\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        assert subprocess.run([sys.executable, "-c", code, tmp_path], check=False).returncode == -signal.SIGKILL
        (left,) = tmp_path.iterdir()
        foreign = [tmp_path / name for name in (".some.tmp", "x.0123456789ab.tmp", ".swp.0123456789ab.tmpx")]
        for path in foreign:
            path.touch()
        for path in (left, *foreign):
            os.utime(path, (0, 0))
        with together():
            write_whole(tmp_path / "living", b"y")  # whose temporary file is locked
            (own,) = (path for path in tmp_path.iterdir() if path.name.startswith(".living"))
            os.utime(own, (0, 0))
            assert not left.exists()
            files._cleaned.clear()
            write_whole(tmp_path / "other", b"z")
            assert own.exists()
        assert sorted(tmp_path.iterdir()) == sorted([*foreign, tmp_path / "living", tmp_path / "other"])

    def test_a_folder_is_made_or_named(self, tmp_path: Path) -> None:
        assert made_folder(tmp_path / "a" / "b").is_dir()
        (tmp_path / "file").touch()
        with pytest.raises(FormatError, match="file/a: the folder cannot be made: Not a directory"):
            made_folder(tmp_path / "file" / "a")

    def test_a_folder_is_held_by_one_run(self, tmp_path: Path) -> None:
        with locked(tmp_path), pytest.raises(FormatError, match="another run is writing here"), locked(tmp_path):
            pass
        with locked(tmp_path):
            assert list(tmp_path.iterdir()) == []


class TestChecks:
    @pytest.mark.parametrize(
        ("check", "right", "wrong"),
        [
            (partial(checks.check_whole, least=1, most=3), [1, 3], [0, 4, True, 1.0, "1", np.int64(2), None]),
            (checks.check_at_least_0, [0, 0.5, np.float32(2)], [-1e-9, math.inf, math.nan, False, "0", 10**400]),
            (checks.check_above_0, [1e-9, 3], [0, -1.0, math.inf, math.nan, True, None]),
            (checks.check_flag, [True, False], [0, 1, None, "yes"]),
            (partial(checks.check_choice, choices=("cone", "parabolic")), ["cone"], ["Cone", "", None]),
        ],
    )
    def test_take_what_is_right_and_name_what_is_not(
        self, check: Callable[[type[ModelError], str, Any], None], right: list[Any], wrong: list[Any]
    ) -> None:
        for value in right:
            check(ModelError, "it", value)
        for value in wrong:
            with pytest.raises(ModelError, match=r"^it must be "):
                check(ModelError, "it", value)

    def test_a_seed_may_be_numpys(self) -> None:
        for seed in (0, 2**63 - 1, np.uint64(7)):
            checks.check_seed(ModelError, seed)
        for wrong in (-1, 2**63, 1.0, True, None):
            with pytest.raises(ModelError, match="seed must be a whole number from 0 to 2"):
                checks.check_seed(ModelError, wrong)


class TestWording:
    @pytest.mark.parametrize("name", ["a\x1b[2Jb", "two\nlines", "\u202eright to left", "half \udcff", "zero\0"])
    def test_what_a_terminal_would_obey_is_spelled_out(self, name: str) -> None:
        for text in (str(FormatError(f"node {name}: wrong")), escaped(name), brief(name)):
            assert text.isprintable()
            assert text.encode()

    def test_a_message_is_never_a_megabyte_and_keeps_its_ends(self) -> None:
        message = str(FormatError("f.json: node " + "x" * 10**6 + ": field 'yaw' is missing"))
        assert len(message) < 1010
        assert message.startswith("f.json: node xxx")
        assert message.endswith("field 'yaw' is missing")

    def test_what_is_plain_stays_as_it_is(self) -> None:
        assert str(FormatError("flotte é: θ … 1 – 2")) == "flotte é: θ … 1 – 2"

    @pytest.mark.parametrize("value", [10**5000, "x" * 10**6, ["y"] * 10**6], ids=["digits", "text", "list"])
    def test_a_wrong_value_is_told_briefly(self, value: object) -> None:
        with pytest.raises(ModelError, match="steps must be a whole number") as caught:
            checks.check_whole(ModelError, "steps", value, 1, 10)
        assert len(str(caught.value)) < 200
