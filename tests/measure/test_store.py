"""Kept rows: measured once, layout by layout, and again when what they depend on has changed."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff.data import SolvedLayout
from manetdiff.measure import store as store_room
from manetdiff.measure.digests import PACKAGE, _with_imports, program_digest
from manetdiff.measure.rows import Row, Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.store import RowStore
from support.measured_help import hand_made, refuse

CODE = "manetdiff.measure.digests"


class Maker:
    """Rows that say when they were made and of which layout; which layouts it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, layouts: Iterator[SolvedLayout]) -> Iterator[Row]:
        self.asked.append([])
        for layout in layouts:
            self.asked[-1].append(layout.index)
            yield {"links": np.float64(len(self.asked)), "index": layout.index, "valid": True, "sum": 0.1 + 0.2}


def kept(store: RowStore, make: Any, what: dict[str, Any] | None = None, layouts: LayoutSet | None = None) -> Rows:
    return store.rows("x", what or {"model": "x"}, layouts or hand_made(2), make, code=CODE)


class TestRowStore:
    def test_makes_rows_once_and_then_reads_them(self, tmp_path: Path) -> None:
        make, told, looked_at = Maker(), list[str](), list[int]()
        folder = tmp_path / "a" / "b"
        first = kept(RowStore(folder, told.append), make, {"model": "x", "steps": 3}, hand_made(2, looked_at))
        # Another process, as it were, and the same description in another order.
        again = kept(RowStore(folder, told.append), refuse, {"steps": 3, "model": "x"}, hand_made(2, looked_at))
        assert make.asked == [[0, 1]]
        # All digits survive, as plain numbers: a page that is made again is the same page.
        assert first == again
        assert first.rows[1] == {"links": 1.0, "index": 1.0, "valid": 1.0, "sum": 0.30000000000000004}
        assert {type(value) for row in first.rows for value in row.values()} == {float}
        assert told == ["x, 2 layouts of rows of four"]
        # Layouts that are not measured are not made either.
        assert looked_at == [0, 1]

    def test_measures_only_the_layouts_that_are_missing(self, tmp_path: Path) -> None:
        store, make = RowStore(tmp_path), Maker()
        kept(store, make)
        more = kept(store, make, layouts=hand_made(5))
        assert make.asked == [[0, 1], [2, 3, 4]]
        assert [row["index"] for row in more.rows] == [0, 1, 2, 3, 4]
        assert [row["links"] for row in more.rows] == [1, 1, 2, 2, 2]
        # Fewer, or others among them, are there already, in the order asked for.
        assert kept(store, refuse, layouts=hand_made(3)).rows == more.rows[:3]
        lines = hand_made(5).of_family("line")
        assert [row["index"] for row in kept(store, refuse, layouts=lines).rows] == [1, 3]
        assert len(list(tmp_path.iterdir())) == 1

    def test_makes_them_anew_under_any_other_description_or_set(self, tmp_path: Path) -> None:
        store, make = RowStore(tmp_path), Maker()
        asked: list[tuple[dict[str, Any], LayoutSet]] = [
            ({"model": "x", "sampling": {"steps": 3}}, hand_made(1)),
            ({"model": "y", "sampling": {"steps": 3}}, hand_made(1)),
            ({"model": "x"}, hand_made(1)),
            ({"model": "x", "sampling": None}, hand_made(1)),
            ({"model": "x"}, hand_made(1, file="another")),
        ]
        made = [kept(store, make, what, layouts).rows[0]["links"] for what, layouts in asked]
        assert made == [1, 2, 3, 4, 5]
        assert [kept(store, refuse, what, layouts).rows[0]["links"] for what, layouts in asked] == made
        assert len(list(tmp_path.iterdir())) == len(asked)

    def test_makes_them_anew_once_rows_hold_something_else_or_another_program_measures(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store, make = RowStore(tmp_path), Maker()
        kept(store, make)
        monkeypatch.setattr(store_room, "VERSION", 10**6)
        kept(store, make)
        monkeypatch.setattr(store_room, "program_digest", lambda modules: f"another {modules}")
        kept(store, make)
        assert len(make.asked) == 3
        # And so does another program that makes the layouts.
        kept(store, make, layouts=dataclasses.replace(hand_made(2), code=("manetdiff.measure.drawn",)))
        assert len(make.asked) == 4

    def test_measures_again_once_where_fresh_rows_are_asked_for(self, tmp_path: Path) -> None:
        make = Maker()
        kept(RowStore(tmp_path), make, layouts=hand_made(3))
        fresh = RowStore(tmp_path, fresh=True)
        for count in (2, 2, 3):
            kept(fresh, make, layouts=hand_made(count))
        assert make.asked == [[0, 1, 2], [0, 1], [2]]
        assert [row["links"] for row in kept(RowStore(tmp_path), refuse, layouts=hand_made(3)).rows] == [2, 2, 3]

    def test_without_a_folder_keeps_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        store, make = RowStore(), Maker()
        assert [kept(store, make).rows[0]["links"] for _ in range(2)] == [1, 2]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda whole: whole[: len(whole) // 2], id="torn"),
            pytest.param(lambda whole: b"", id="empty"),
            pytest.param(lambda whole: b"\xff\xfe\x00", id="no text"),
            pytest.param(lambda whole: b"7", id="a number"),
            pytest.param(lambda whole: b'{"rows": {"0": {"links": 9.0}}}', id="of unknown origin"),
            pytest.param(lambda whole: b'{"what": "else", "rows": {"0": {"links": 9.0}}}', id="of something else"),
            pytest.param(lambda whole: whole.replace(b'"0":', b'"first":'), id="of no layout"),
        ],
    )
    def test_makes_anew_what_is_torn_or_foreign(self, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
        store, make = RowStore(tmp_path), Maker()
        kept(store, make)
        (file,) = tmp_path.iterdir()
        file.write_bytes(spoil(file.read_bytes()))
        assert kept(store, make).rows[0]["links"] == 2
        # And then they are whole again.
        assert kept(store, refuse).rows[0]["links"] == 2
        assert [path.name for path in tmp_path.iterdir()] == [file.name]

    def test_goes_on_where_it_was_stopped_and_too_few_rows_are_an_error(self, tmp_path: Path) -> None:
        store, make = RowStore(tmp_path), Maker()

        def stopped(layouts: Iterator[SolvedLayout]) -> Iterator[Row]:
            next(layouts)
            yield {"links": 7.0}
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            kept(store, stopped)
        assert [row["links"] for row in kept(store, make).rows] == [7, 1]
        assert make.asked == [[1]]
        with pytest.raises(ValueError, match="shorter"):
            kept(RowStore(), lambda layouts: [{"links": 1.0}])

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
    def test_killed_while_writing_leaves_whole_rows_only(self, tmp_path: Path) -> None:
        code = f"""
import os, signal
from pathlib import Path
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.store import RowStore
store, one = RowStore(Path({str(tmp_path)!r})), LayoutSet("rows of four", 4, (0,), int, {{"hand-made": True}})
rows = lambda links: store.rows("x", {{"model": links}}, one, lambda some: [{{"links": links}}], code={CODE!r})
rows(5.0)
Path.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)  # all is written but not yet in its place
rows(6.0)
"""
        killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        (whole,) = tmp_path.glob("*.json")
        assert json.loads(whole.read_text())["rows"] == {"0": {"links": 5.0}}
        make = Maker()
        assert kept(RowStore(tmp_path), refuse, {"model": 5.0}, hand_made(1)).rows == [{"links": 5.0}]
        assert kept(RowStore(tmp_path), make, {"model": 6.0}, hand_made(1)).rows[0]["links"] == 1


MINI = {
    "__init__.py": "from mini.reproduce.pages import show\n",
    "radio/__init__.py": "from mini.radio.physics import rate\n",
    "radio/physics.py": '"""Rates."""\n\n\ndef rate(x):\n    """Of a link."""\n    return 2 * x  # twice\n',
    "solvers/search.py": "from mini.radio import rate\n\n\ndef solve():\n    return rate(1)\n",
    "diffusion/chain.py": "import mini.radio.physics\n\n\ndef sample():\n    return 3\n",
    "measure/solved.py": "from typing import TYPE_CHECKING\nfrom mini.solvers import search\n"
    "from mini.errors import Odd\nif TYPE_CHECKING:\n    from mini.measure.rows import Rows\n",
    "measure/sampled.py": "def later():\n    from mini.diffusion.chain import sample\n    return sample()\n",
    "measure/rows.py": "LABEL = 'T'\n",
    "reproduce/pages.py": "from mini.measure import solved, sampled\n",
    "errors.py": "class Odd(Exception):\n    pass\n",
}


class TestProgram:
    """What a row depends on, on a package of a few lines."""

    @pytest.fixture
    def package(self, tmp_path: Path) -> Path:
        for name, text in MINI.items():
            (tmp_path / "mini" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "mini" / name).write_text(text)
        return tmp_path / "mini"

    def digests(self, package: Path) -> dict[str, str]:
        program_digest.cache_clear()
        return {way: program_digest((f"mini.measure.{way}",), package) for way in ("solved", "sampled")}

    @pytest.mark.parametrize(
        ("name", "text", "dropped"),
        [
            pytest.param("radio/physics.py", "def rate(x):\n    return 3 * x\n", ["solved", "sampled"], id="physics"),
            pytest.param("solvers/search.py", "def solve():\n    return 1\n", ["solved"], id="a solver"),
            pytest.param("diffusion/chain.py", "def sample():\n    return 4\n", ["sampled"], id="the diffusion"),
            pytest.param("measure/solved.py", "from mini.solvers.search import solve\n", ["solved"], id="the way"),
            pytest.param("radio/physics.py", "def rate(x):\n    return 2 * x\n", [], id="comments and docstrings"),
            pytest.param("reproduce/tables.py", "from mini.measure import solved\n", [], id="a new table"),
            pytest.param("reproduce/pages.py", "PAGE = 1\n", [], id="a page"),
            pytest.param("measure/rows.py", "LABEL = 'throughput'\n", [], id="what only a type checker reads"),
            pytest.param("errors.py", "class Odd(Exception):\n    text = 'odd'\n", [], id="what is said when it fails"),
            pytest.param("__init__.py", "VERSION = 2\n", [], id="what the package itself names"),
        ],
    )
    def test_is_the_code_that_a_measurement_runs_and_no_other(
        self, package: Path, name: str, text: str, dropped: list[str]
    ) -> None:
        before = self.digests(package)
        (package / name).write_text(text)
        after = self.digests(package)
        assert [way for way in before if before[way] != after[way]] == dropped

    @pytest.mark.parametrize(
        ("way", "runs", "not_these"),
        [
            ("ways.solvers", {"solvers", "radio", "topology"}, {"diffusion", "model", "runtime", "data", "training"}),
            ("ways.runtime", {"runtime", "solvers", "layout", "radio"}, {"diffusion", "model", "data", "scenarios"}),
            ("ways.samples", {"diffusion", "model", "layout", "radio"}, {"runtime", "data", "scenarios"}),
            ("ways.corrected_samples", {"diffusion", "model", "solvers"}, {"runtime", "data"}),
            ("ways.updates", {"runtime", "scenarios", "solvers"}, {"diffusion", "model", "data"}),
            ("drawn", {"scenarios", "solvers", "radio"}, {"diffusion", "model", "runtime"}),
        ],
    )
    def test_of_each_way_is_what_it_needs(self, way: str, runs: set[str], not_these: set[str]) -> None:
        names = _with_imports([f"manetdiff.measure.{way}"], PACKAGE)
        rooms = {name.split(".")[1] for name in names}
        assert runs <= rooms
        assert not rooms & {*not_these, "cli", "formats", "pictures", "evaluate", "reproduce", "simulation"}
        # Labels, means and pages may change without dropping a row.
        kept_and_shown = {f"manetdiff.measure.{name}" for name in ("measures", "rows", "store", "resampling")}
        assert not kept_and_shown & set(names)
