"""Large batches are timed and scored for networks of both kinds."""

from __future__ import annotations

import pytest

from manetdiff.data import load_benchmark
from manetdiff.evaluate import batch_speed
from manetdiff.weights import DEFAULT, PAPER


@pytest.mark.slow
def test_whole_sets_are_scored_for_both_kinds_and_the_chain_alone_is_timed_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(batch_speed, "load_benchmark", lambda name: load_benchmark(name)[:2])
    monkeypatch.setattr(batch_speed, "CPU_BATCHES", (1,))
    monkeypatch.setattr(batch_speed, "STEPS", (50, 2))
    monkeypatch.setattr(batch_speed, "WAYS", ((2, 1, False), (2, 2, True)))
    speeds, sets = batch_speed.batch_speeds((PAPER, DEFAULT))
    assert [(one.network, one.nodes, one.steps) for one in speeds] == [(PAPER, 16, 2), (PAPER, 32, 2)]
    assert {(one.network, one.nodes) for one in sets} == {(name, n) for name in (PAPER, DEFAULT) for n in (16, 32)}
    assert all(one.valid == 1.0 and one.share > 0.9 for one in sets if one.samples > 1)
