"""`manetdiff reproduce`: what it writes, what it keeps, what it leaves as it is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from manetdiff.data import SolvedLayout
from manetdiff.measure.measures import NO_BREAK
from manetdiff.measure.rows import Row
from manetdiff.reproduce import figures
from manetdiff.reproduce.catalogue import TABLES
from manetdiff.reproduce.tables import Grid, Setting
from support.command_help import Run
from support.measured_help import GRIDS, StandIn, hand_made, refuse, throughput_grids

OF_THEN = {"version": "0.1", "commit": "0490432", "machine": "another", "run": "full"}


@pytest.fixture
def replace(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Another way to make a table."""

    def put(name: str, **changes: Any) -> None:
        monkeypatch.setitem(TABLES, name, dataclasses.replace(TABLES[name], **changes))

    return put


def test_writes_the_pages_and_documents_of_what_it_prints(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    StandIn(monkeypatch)
    ran = run("reproduce", "tokens", "losses", "--quick", "--out", "a/b")
    assert (ran.code, ran.err) == (0, "")
    out = tmp_path / "a" / "b"
    names = ["README.md", "losses.json", "losses.md", "tokens.json", "tokens.md"]
    assert sorted(path.name for path in out.iterdir()) == names
    losses = (out / "losses.md").read_text(encoding="utf-8")
    assert f"(paper:{NO_BREAK}15.90)" in losses
    assert f"(paper:{NO_BREAK}98.64)" in losses
    tokens = json.loads((out / "tokens.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
    printed = [line.split("  ")[0] for line in ran.out.splitlines()]
    assert [row[0] for row in tokens] == printed[1:7] == ["none", "1", "2", "4", "8", "16"]
    assert losses.count("(paper:") == ran.out.count("(paper:") == 4


def test_keeps_rows_beside_the_pages_and_measures_again_or_in_full_where_asked_to(
    run: Run, tmp_path: Path, replace: Callable[..., None]
) -> None:
    measured: list[int] = []
    quick: list[bool] = []

    def measure(layouts: Iterator[SolvedLayout]) -> Iterator[Row]:
        for one in layouts:
            measured.append(one.index)
            yield {"links": float(len(measured))}

    def table(setting: Setting) -> list[Grid]:
        quick.append(setting.quick)
        # Twice, as several tables may ask for the same rows.
        made = [
            setting.store.rows("a way", {}, hand_made(2), measure, code="manetdiff.measure.digests") for _ in range(2)
        ]
        return [Grid("Links", ["way", "links"], [("a way", made[1].cells(("links",)))])]

    replace("losses", run=table)
    first = run("reproduce", "losses", "--quick", "--out", "o")
    assert "1.50 [1.00, 2.00]" in first.out
    assert len(list((tmp_path / "o" / ".rows").iterdir())) == 1
    page = (tmp_path / "o" / "losses.md").read_bytes()
    assert run("reproduce", "losses", "--quick", "--out", "o") == first
    assert (tmp_path / "o" / "losses.md").read_bytes() == page
    assert measured == [0, 1]
    assert "3.50 [3.00, 4.00]" in run("reproduce", "losses", "--quick", "--out", "o", "--fresh").out
    assert measured == [0, 1, 0, 1]
    told = json.loads(run("reproduce", "losses", "--json", "--out", "o").out)
    assert (quick, told["made"]["run"]) == ([True, True, True, False], "full")


def test_takes_all_tables_and_figures_unless_told_which_and_says_where_they_are(
    run: Run, tmp_path: Path, replace: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(folder: Path, quick: bool, report: Callable[[str], None]) -> dict[str, Path]:
        assert quick
        return {"b.png": folder / "b.png", "a.png": folder / "a.png"}

    monkeypatch.setattr(figures, "draw_figures", drawn)
    for name in list(TABLES):
        replace(name, run=lambda setting: GRIDS, draw=None)
    replace("throughput", run=lambda setting: throughput_grids())
    told = json.loads(run("reproduce", "--quick", "--json").out)
    assert list(told["pages"]) == [*TABLES, "figures"]
    assert told["pages"]["figures"] == [str(Path("results") / name) for name in ("a.png", "b.png")]
    assert told["pages"]["losses"] == str(Path("results") / "losses.md")
    assert all((tmp_path / "results" / f"{name}.md").is_file() for name in TABLES)
    assert {"version", "commit", "machine"} < set(told["made"])
    assert told["made"]["run"] == "quick"
    for asked in (["figures"], ["losses"], ["noise", "figures", "losses"]):
        assert sorted(json.loads(run("reproduce", *asked, "--quick", "--json").out)["pages"]) == sorted(asked)


def test_lists_the_tables_and_refuses_an_unknown_one_in_one_line_that_names_the_known_ones(
    run: Run, tmp_path: Path, replace: Callable[..., None]
) -> None:
    for name in list(TABLES):
        replace(name, run=refuse)
    ran = run("reproduce", "tokens", "tokkens", "table7", "--quick", "--out", "o")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("manetdiff: no table tokkens, table7;")
    assert all(name in ran.err for name in (*TABLES, "figures"))
    ran = run("reproduce", "--list")
    assert (ran.code, ran.err) == (0, "")
    shown = {line.split()[0]: line for line in ran.out.splitlines()}
    assert list(shown) == ["name", *TABLES, "figures"]
    assert all(one.title in shown[name] for name, one in TABLES.items())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["taken", "taken/far/below"])
def test_says_in_one_line_that_a_folder_cannot_be_made(
    run: Run, tmp_path: Path, replace: Callable[..., None], out: str
) -> None:
    (tmp_path / "taken").write_text("a file")
    # Before anything is measured: it may take hours.
    replace("losses", run=refuse)
    ran = run("reproduce", "losses", "--quick", "--out", out)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"manetdiff: {out}: the folder cannot be made: ")
    assert (tmp_path / "taken").read_text() == "a file"


def test_shows_the_pictures_of_a_table_on_its_page_and_on_the_first_one(
    run: Run, tmp_path: Path, replace: Callable[..., None]
) -> None:
    def draw(setting: Setting, folder: Path) -> list[str]:
        assert setting.quick
        (folder / "frontier.png").write_bytes(b"a picture")
        return ["frontier.png"]

    replace("frontier", run=lambda setting: GRIDS, draw=draw)
    assert run("reproduce", "frontier", "--quick", "--out", "o").code == 0
    for name in ("frontier.md", "README.md"):
        assert "](frontier.png)" in (tmp_path / "o" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("earlier", [{}, {"inference-gpu.md": "from a machine with one"}])
def test_leaves_what_needs_a_gpu_as_it_is_where_there_is_none(
    earlier: dict[str, str], run: Run, tmp_path: Path, replace: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    replace("losses", run=lambda setting: GRIDS)
    out = tmp_path / "o"
    out.mkdir()
    if earlier:
        earlier = {**earlier, "inference-gpu.json": json.dumps({"made": OF_THEN})}
    for name, text in earlier.items():
        (out / name).write_text(text)
    ran = run("reproduce", "inference-gpu", "losses", "--quick", "--json", "--out", "o")
    assert ran.code == 0
    assert ran.err == "inference-gpu is left as it is: there is no GPU here that PyTorch can use\n"
    assert list(json.loads(ran.out)["pages"]) == ["losses"]
    assert {path.name: path.read_text() for path in out.glob("inference*")} == earlier
    first = (out / "README.md").read_text(encoding="utf-8")
    assert ("(inference-gpu.md): full run, commit 0490432\n" in first) == bool(earlier) == ("inference-gpu" in first)
    assert "(losses.md): quick run" in first


@pytest.mark.slow
def test_several_workers_make_the_same_table(run: Run, tmp_path: Path) -> None:
    for workers in ("1", "2"):
        ran = run("reproduce", "noise", "--quick", "--out", workers, "--workers", workers)
        assert ran.code == 0, ran
    one, two = (json.loads((tmp_path / workers / "noise.json").read_text(encoding="utf-8")) for workers in "12")
    assert two["tables"] == one["tables"]
    assert "several processes" in two["made"]["machine"]
