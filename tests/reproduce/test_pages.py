"""Results as files: the page and the document of each table, and the first page of a folder of them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from manetdiff import __version__
from manetdiff.reproduce import figures, frontier, index, pages, paper
from manetdiff.reproduce.agreement.pages import reasons
from manetdiff.reproduce.catalogue import TABLES
from manetdiff.reproduce.tables import PaperTable
from support.measured_help import GRIDS, PLACE, TABLE, throughput_grids

THROUGHPUT = TABLES["throughput"]
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results" / "paper"


class TestPages:
    def test_a_page_has_every_cell_in_its_place_and_where_it_was_made(self, tmp_path: Path) -> None:
        page = pages.write_page(TABLE, GRIDS, tmp_path, PLACE, ["a.png", "b.png"])
        assert page == tmp_path / "example.md"
        *parts, last = page.read_text(encoding="utf-8").strip().split("\n\n")
        assert parts == [
            "# An example",
            # In the table's own words.
            "The paper: it says so.",
            "![An example](a.png)",
            "![An example](b.png)",
            "## First table",
            "| model | links | valid | note |\n| --- | ---: | ---: | ---: |\n"
            "| ours | 22.50\u00a0[21.00,\u00a024.00] (paper:\u00a022.42) | 75.00 % | once |\n"
            "| theirs | 30.00 | 50.00\u00a0[40.00,\u00a060.00]\u00a0% (paper:\u00a098.64) | twice |",
            "Read it with care.",
            "## Second table",
            "| model | T / target |\n| --- | ---: |\n| σ² = 0.9 | 99.00 % |",
        ]
        assert all(said in last for said in ("abc1234", "Abacus, 2 cores", "`manetdiff reproduce example --quick`"))
        assert "`manetdiff reproduce example`" in pages._page(TABLE, GRIDS, {**PLACE, "run": "full"})

    def test_the_document_has_them_as_numbers(self, tmp_path: Path) -> None:
        pages.write_page(TABLE, GRIDS, tmp_path, PLACE)
        document = json.loads((tmp_path / "example.json").read_text(encoding="utf-8"))
        assert (document["study"], document["claim"], document["made"]) == ("example", "The paper: it says so.", PLACE)
        first, second = document["tables"]
        assert {**first, "rows": len(first["rows"])} == {
            "title": "First table",
            "columns": ["model", "links", "valid", "note"],
            "rows": 2,
            "note": "Read it with care.",
        }
        assert first["rows"][0] == [
            "ours",
            {"metric": "links", "mean": 22.5, "low": 21.0, "high": 24.0, "paper": 22.42},
            {"metric": "valid", "mean": 0.75, "low": None, "high": None, "paper": None},
            "once",
        ]
        assert second["rows"][0][1]["mean"] == 0.99
        assert sorted(path.name for path in tmp_path.iterdir()) == ["example.json", "example.md"]

    def test_say_which_commit_and_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[list[str], Path]] = []

        def git(command: list[str], cwd: Path, **others: Any) -> subprocess.CompletedProcess[str]:
            asked.append((command, cwd))
            return subprocess.CompletedProcess(command, 0, "0490432\n", "")

        monkeypatch.setattr(subprocess, "run", git)
        place = pages.where_it_ran(True)
        # Of the sources, not of whatever folder the command is run in.
        assert (place["commit"], asked[0][1]) == ("0490432", Path(pages.__file__).parent)
        assert place["version"] == __version__
        assert place["machine"].endswith(f", {os.cpu_count()} cores, Python {platform.python_version()}")
        assert not place["machine"].startswith(",")
        assert (place["run"], pages.where_it_ran(False)["run"]) == ("quick", "full")

    @pytest.mark.parametrize(
        "error",
        [FileNotFoundError("git"), subprocess.CalledProcessError(128, "git"), subprocess.TimeoutExpired("git", 1)],
    )
    def test_say_so_where_there_is_no_commit(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        def git(*arguments: Any, **others: Any) -> None:
            raise error

        monkeypatch.setattr(subprocess, "run", git)
        assert pages.where_it_ran(False)["commit"] == "unknown"


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """Of throughput, as written and read again."""
    pages.write_page(THROUGHPUT, throughput_grids(), tmp_path, PLACE)
    read: dict[str, Any] = json.loads((tmp_path / "throughput.json").read_text(encoding="utf-8"))
    return read


def rows_in(table: str) -> dict[str, list[str]]:
    """The cells of a Markdown table by the first one of each row, head and rule apart."""
    return {first: rest for first, *rest in (line[2:-2].split(" | ") for line in table.splitlines()[2:])}


class TestHeadline:
    def test_has_each_method_at_both_sizes_beside_the_papers_share_and_with_its_time(
        self, document: dict[str, Any]
    ) -> None:
        table = index.headline(document)
        columns = [f"{nodes} nodes: {what}" for nodes in (16, 32) for what in ("T / target", "paper's", "ms")]
        assert table.splitlines()[0][2:-2].split(" | ") == ["method", *columns]
        shown = rows_in(table)
        # 47.24 of 79.33 and 71.63 of 340.52; 78.92 and 322.40 of the same.
        assert shown["omnidirectional"] == ["49.84 %", "59.5 %", "19.8", "49.68 %", "21.0 %", "39.5"]
        assert shown["NetDiff (50 steps), corrected"] == ["96.84 %", "99.5 %", "19.8", "96.68 %", "94.7 %", "39.5"]
        assert [row[1] for row in shown.values() if row[1]] == [
            f"{100 * figure / 79.33:.1f} %" for figure in paper.THROUGHPUT[16].values()
        ]
        # Empty where there is no time, no share of the paper's, or nothing measured at a size; the target comes last.
        assert dict(list(shown.items())[-3:]) == {
            "annealing, as long as 50 steps": ["98.50 %", "", "", "98.50 %", "", ""],
            "CP-SAT, 2 s": ["98.50 %", "", "", "", "", ""],
            "target": ["99.84 %", "100.0 %", "", "99.68 %", "100.0 %", ""],
        }


class TestIndex:
    @pytest.fixture
    def tables(self) -> dict[str, PaperTable]:
        return {"absent": TABLES["losses"], TABLE.name: TABLE, "throughput": THROUGHPUT}

    def test_lists_the_pages_and_pictures_that_are_there_with_the_run_that_they_are_from(
        self, tmp_path: Path, tables: dict[str, PaperTable]
    ) -> None:
        pages.write_page(TABLE, GRIDS, tmp_path, PLACE)
        for name in ("acam.png", "frontier.png", "unknown.png"):
            (tmp_path / name).write_bytes(b"")
        pictures = [f"![{index.PICTURES[name]}]({name})" for name in ("frontier.png", "acam.png")]
        page = index.write_index(tmp_path, tables)
        assert page == tmp_path / "README.md"
        own = "- [An example](example.md): quick run, commit abc1234"
        assert page.read_text(encoding="utf-8").split("\n\n")[1:-1] == [own, *pictures]
        pages.write_page(THROUGHPUT, throughput_grids(), tmp_path, {**PLACE, "run": "full", "commit": "def5678"})
        parts = index.write_index(tmp_path, tables).read_text(encoding="utf-8").split("\n\n")
        assert parts[1].startswith("| method |")
        more = f"- [{THROUGHPUT.title}](throughput.md): full run, commit def5678"
        assert parts[2:-1] == [f"{own}\n{more}", *pictures]

    def test_knows_every_picture_that_is_drawn(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        steps = ("denoised", "picture_of_steps", "animation", "typical", "picture_of_change")
        for name in (*steps, "packaged_block", "picture_of_block", "save", "write_bytes"):
            monkeypatch.setattr(figures, name, lambda *others, **options: None)
        assert set(index.PICTURES) == {*figures.draw_figures(tmp_path, quick=True), frontier.PICTURE}


class TestCommittedResults:
    """The pages in the documentation are of one full run, and what is said elsewhere is taken from them."""

    def test_the_readme_shows_the_headline_of_the_full_run(self) -> None:
        document = json.loads((RESULTS / "throughput.json").read_text(encoding="utf-8"))
        assert document["made"]["run"] == "full"
        shown = index.headline(document)
        assert shown in (ROOT / "README.md").read_text(encoding="utf-8")
        assert shown in (RESULTS / "README.md").read_text(encoding="utf-8")

    def test_every_table_has_a_page_and_a_document_of_a_full_run_and_every_picture_is_there(self) -> None:
        for name, table in TABLES.items():
            document = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
            page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
            assert document["made"]["run"] == "full", name
            assert document["made"]["commit"] in page, name
            assert page.startswith(f"# {table.title}\n"), name
            assert all(grid["title"] in page for grid in document["tables"]), name
        assert all((RESULTS / name).is_file() for name in index.PICTURES)

    def test_the_page_of_agreement_gives_todays_reasons(self) -> None:
        page = (RESULTS / "agreement.md").read_text(encoding="utf-8")
        assert all(reason in page for reason in reasons().values())
