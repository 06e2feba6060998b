"""CSV in other programs: a spreadsheet finds no formula in what we write, and we read back what was there."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet
from manetdiff.formats import read_fleet, write_fleet
from manetdiff.formats.csv_table import csv_rows, csv_text
from manetdiff.formats.files import Source

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "+cmd", "-2+3", "@SUM(1,2)", "'=already", "''=twice", "-inf", "-nan", "＝1"]
HARMLESS = ["A7", "-5", "+1.5e3", "'quoted'", "a=b", "'", "1-2"]


@pytest.mark.parametrize("name", FORMULAS)
def test_an_id_that_would_be_a_formula_is_written_as_text_and_read_back(tmp_path: Path, name: str) -> None:
    write_fleet(Fleet([[0.0, 0.0], [-1.5, -2.0]], [-1, -2], [name, "other"]), tmp_path / "f.csv")
    row = list(csv.reader(io.StringIO((tmp_path / "f.csv").read_text(encoding="utf-8"))))[1]
    assert row[0] == f"'{name}"
    fleet = read_fleet(tmp_path / "f.csv")
    assert fleet.ids == (name, "other")
    assert fleet.positions.tolist() == [[0, 0], [-1.5, -2]]


@pytest.mark.parametrize("name", HARMLESS)
def test_other_ids_and_negative_numbers_stay_as_they_are(name: str) -> None:
    assert csv_text(["id", "x"], [[name, "-1.5"]]).splitlines()[1] == f"{name},-1.5"


@given(st.text(st.sampled_from("'=+-@a1. \"\n,"), min_size=1).filter(lambda text: text == text.strip()))
def test_any_text_is_read_back(text: str) -> None:
    written = csv_text(["id"], [[text]])
    assert csv_rows(Source("t.csv", written.encode()), lambda file, header: None)[1] == [{"id": text}]
