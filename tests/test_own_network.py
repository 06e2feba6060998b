"""The edits of the how-to for a loss and a feature of one's own, made to a copy of the sources and trained with."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import manetdiff
from manetdiff.data import Settings, generate

PACKAGE = Path(manetdiff.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "howto" / "own-loss-and-feature.md"
EDIT = re.compile(r"^```diff\n--- src/(\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)

TRAINED = """
import json, sys
import numpy as np
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.layout.features import AGREEMENT
from manetdiff.radio import Radio
from manetdiff.training import train

figures = []
small = dict(width=8, blocks=1, epochs=1, batch=8, accelerator="cpu")
made = train(sys.argv[1], "run", losses={"length": 0.1}, report=lambda news: figures.append(news.figures), **small)
headings = Fleet([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], [0.0, np.pi / 3, np.pi])
print(json.dumps({
    "loss": next(one for one in figures if "loss" in one),
    "seen": made.weights.tensors["denoiser.embed_layouts.edges.weight"].shape[1],
    "agreement": Layout(headings, Radio()).features.pair[..., AGREEMENT].tolist(),
}))
"""


def test_the_edits_of_the_page_can_be_made(tmp_path: Path) -> None:
    edited(tmp_path)


@pytest.mark.slow
def test_the_edits_of_the_page_give_a_loss_and_a_feature_to_train_with(tmp_path: Path) -> None:
    edited(tmp_path)
    generate(Settings(nodes=(5,), count=24, seed=0, search_moves=100), tmp_path / "layouts")
    done = subprocess.run(
        [sys.executable, "-c", TRAINED, str(tmp_path / "layouts")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        # Compiling the copy would take longer than all that it computes.
        env={**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["loss"]["length"] > 0
    assert told["seen"] == 8 + 2 * 4  # seven features and the new one, and an antenna of four at either end
    expected = [[0, 0.5, -1], [0.5, 0, -0.5], [-1, -0.5, 0]]
    assert [[round(value, 5) for value in row] for row in told["agreement"]] == expected


def edited(folder: Path) -> None:
    """A copy of the package with the edits of the page."""
    # What is packaged for use is not needed to train, and makes up most of the package.
    large = shutil.ignore_patterns("__pycache__", "*.safetensors", "*.netdiff", "*.parquet")
    shutil.copytree(PACKAGE, folder / "manetdiff", ignore=large)
    edits = EDIT.findall(PAGE.read_text(encoding="utf-8"))
    assert {name for name, _ in edits} == {"manetdiff/model/losses.py", "manetdiff/layout/features.py"}
    for name, lines in edits:
        edit(folder / name, lines.splitlines(keepends=True))


def edit(path: Path, lines: list[str]) -> None:
    """Put the lines after + in the place of those after -; what is neither stays, and says where that is."""
    old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{path.name} has not one place for {old!r}"
    path.write_text(source.replace(old, new), encoding="utf-8")
