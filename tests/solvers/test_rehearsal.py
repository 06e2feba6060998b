"""After the rehearsal nothing is loaded or compiled any more, and what is packaged is all that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import manetdiff as md
from manetdiff.compiled import every_function, store
from manetdiff.compiled.identity import platform_tag
from manetdiff.runtime import model as runtime_model
from manetdiff.scenarios import draw, move_by
from manetdiff.solvers import METHODS, local_search, methods
from manetdiff.solvers.rehearsal import rehearse_ahead

RADIOS = {
    "cone": md.Radio(),
    "beam": md.Radio(pattern="parabolic"),
    "omni": md.Radio(reception="omni"),
    "in metres": md.Radio(unit=500.0, range=20.0),
}


def _loaded() -> set[tuple[str, str]]:
    return {
        (function.name, str(signature))
        for function in every_function()
        if function._for_python is not None
        for signature in function._for_python.signatures  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("radio", RADIOS)
def test_after_the_rehearsal_nothing_is_left_to_load(radio: str) -> None:
    rehearse_ahead(1)
    before = _loaded()
    physics, rng = RADIOS[radio], np.random.default_rng(1)
    fleet = draw("wedge", 7, rng)
    moved = move_by(fleet, 0.3, rng)
    model = md.load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = model.generate(fleet, radio=physics, correct=False, polish=False, steps=1)
        made = [raw, model.generate(fleet, radio=physics, keep=[(0, 1)], avoid=[(1, 2)], silent=[3])]
        made += [model.update(made[1], moved, mode=mode) for mode in ("minor", "guided", "anew")]
        made.append(model.update(made[1], moved, ahead=[fleet]))
        made += [md.solve(fleet, physics, method, seed=1) for method in METHODS if method not in ("cpsat", "exact")]
        made += [md.correct(raw, tau_interference=0.1, flip_parts=True), md.polish(raw, budget=0.01)]
        made += [md.greedy(fleet, physics), md.solve(draw("wedge", 4, rng), physics, "exact")]
        for topology in made:
            md.metrics(topology)
            md.rates(topology)
            md.metrics(md.Topology(topology.links[::-1], topology.parity), topology.on())
    assert _loaded() == before


def test_no_clock_counts_what_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that stands still but for the rehearsal, which takes a thousand seconds."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def slowly() -> None:
        now[0] += 1000.0

    for module in (methods, local_search, runtime_model):
        monkeypatch.setattr(module, "rehearse", slowly)
    fleet, model = draw("wedge", 5, np.random.default_rng(1)), md.load()
    made = model.generate(fleet)
    updated = [model.update(made, fleet, mode=mode) for mode in ("auto", "anew")]
    solved = [md.solve(fleet, moves=50), md.solve(fleet, method="greedy")]
    assert [topology.report.seconds for topology in (made, *updated, *solved)] == [0.0] * 5
    assert now[0] >= 5000.0


def test_the_packaged_code_is_up_to_date() -> None:
    """A stale one would silently cost every user twenty seconds."""
    tag = platform_tag()
    family = tag.partition("-numba")[0]
    if not list(store.PREBUILT.glob(f"{family}-*.tar.xz")):
        pytest.skip(f"nothing is packaged for {family}")
    code = "from manetdiff.solvers.rehearsal import MOMENTS_AHEAD, rehearse_ahead; "
    code += "from manetdiff.compiled import every_function; [rehearse_ahead(moments) for moments in MOMENTS_AHEAD]; "
    code += "from manetdiff.solvers.batch_rehearsal import rehearse_batches; rehearse_batches(); "
    code += "print([one.name for one in every_function() if one.has_been_compiled])"
    usual = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    shown = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=usual | {"MANETDIFF_CACHE_DIR": os.devnull},
    )
    assert shown.stdout.strip() == "[]", "the packaged code is stale: run `make prebuilt` and commit what it makes"


def test_all_packaged_code_was_made_in_one_go() -> None:
    """So that what is up to date for one Python is so for the others, which no test runs here."""
    marks = {path.name: store.unpacked(path).get(store.MARK) for path in store.PREBUILT.glob("*.tar.xz")}
    assert None not in marks.values() and len(set(marks.values())) <= 1, f"run `make prebuilt`: {marks}"


@pytest.mark.slow
def test_code_for_any_processor_gives_what_code_for_this_one_gives() -> None:
    """To the last bit: nothing is contracted or reordered for speed."""
    code = """
import hashlib, numpy as np, manetdiff as md
from manetdiff.scenarios import draw
rng, digest = np.random.default_rng(0), hashlib.sha256()
model = md.load()
for n in (5, 16, 24):
    for radio in (md.Radio(), md.Radio(pattern="parabolic")):
        fleet = draw("wedge", n, rng)
        for made in (model.generate(fleet, radio=radio), md.solve(fleet, radio, moves=20_000), md.greedy(fleet, radio)):
            digest.update(made.links.tobytes() + made.parity.tobytes() + md.rates(made).tobytes())
from manetdiff.compiled import every_function
print(digest.hexdigest(), any(one.has_been_compiled for one in every_function()))
"""
    # Any setting of numba's own turns the packaged code off.
    nowhere = os.environ | {"MANETDIFF_CACHE_DIR": os.devnull}
    shown = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=nowhere | more)
        for more in ({}, {"NUMBA_WARNINGS": "0"})
    ]
    (packaged, _), (compiled, was_compiled) = (one.stdout.split() for one in shown)
    assert was_compiled == "True"
    assert packaged == compiled
