"""The notebooks run from top to bottom with what the package installs, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra 'docs')")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (extra 'docs')")
pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra 'docs')")

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_both_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first_steps", "paper_in_pictures"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if place else (), id=path.stem) for place, path in enumerate(NOTEBOOKS)],
)
def test_a_notebook_runs_from_top_to_bottom_and_draws(path: Path) -> None:
    notebook = read(path)
    nbclient.NotebookClient(
        notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert not any(output.output_type == "error" for output in shown)
