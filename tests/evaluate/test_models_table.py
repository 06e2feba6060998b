"""Tables and pictures of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from manetdiff.data import load_benchmark
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights
from manetdiff.evaluate.models import ablation_weights, ablations, model_scores
from manetdiff.evaluate.scores import Score
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import METRICS
from manetdiff.training.validation import judge, make_trials, sample_topologies


def score(method: str, value: float) -> Score:
    return Score(method, 10, dict.fromkeys(METRICS, value), value, None)


def test_ablations_are_gathered_by_variant_with_mean_and_spread() -> None:
    rows = ablations(
        [
            score("target", 9),
            score("acam-123", 1),
            score("cam-124", 5),
            score("acam-125", 3),
            score("ddpm-gt-plain-1", 2),
        ]
    )
    assert [(row.variant, row.seeds) for row in rows] == [("acam", 2), ("cam", 1), ("ddpm-gt-plain", 1)]
    assert rows[0].mean["links"] == 2
    assert rows[0].spread["ratio"] == pytest.approx(np.std([1, 3], ddof=1))
    assert rows[1].spread["ratio"] == 0


def test_the_table_of_ablations_has_the_networks_that_the_page_shows() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "ablations.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    shown = {row[0].removeprefix("| "): int(row[1]) for row in rows if row[1].isdigit()}
    assert {row.label: row.seeds for row in ablations([score(name, 1) for name in ablation_weights()])} == shown


def test_a_model_that_gives_back_the_target_scores_the_target() -> None:
    layouts = load_benchmark("bench16")[:5]
    trials = make_trials(layouts, Radio())
    scores = judge([layout.topology for layout in layouts], trials)
    assert scores["ratio"] == pytest.approx(1)
    for name in METRICS:
        assert scores[name] == pytest.approx(np.mean([layout.metrics[name] for layout in layouts]))


def test_a_sample_does_not_depend_on_the_layouts_beside_it() -> None:
    torch.manual_seed(3)
    torch.set_num_threads(1)
    generator = build(ModelConfig(width=8, blocks=1), Process(2.6)).eval()
    trials = make_trials([*load_benchmark("bench16")[:3], load_benchmark("bench32")[0]], Radio())
    sampling = SamplerConfig(steps=4)
    together = sample_topologies(generator, trials, sampling, 5, "cpu")
    alone = sample_topologies(generator, trials[:1], sampling, 5, "cpu")
    assert alone[0] == together[0]
    assert sample_topologies(generator, trials, sampling, 6, "cpu") != together


def test_scores_name_the_target_first_and_then_each_model() -> None:
    config, process = ModelConfig(width=8, blocks=1), Process(2.6)
    weights = Weights(config, process, Radio(), dict(build(config, process).state_dict()))
    rows = model_scores("bench16", {"one": weights, "two": weights}, sampling={"steps": 2}, layouts=2)
    assert [row.method for row in rows] == ["target", "one", "two"]
    assert rows[1].metrics == rows[2].metrics


def test_a_model_is_sampled_as_it_says_unless_something_else_is_asked_for() -> None:
    config, process = ModelConfig(width=8, blocks=1), Process(2.6)
    tensors = dict(build(config, process).state_dict())
    many = Weights(config, process, Radio(), tensors, SamplerConfig(steps=2, redundancy=1e6))
    few = Weights(config, process, Radio(), tensors, SamplerConfig(steps=2, redundancy=1e-6))
    _, with_many, with_few = model_scores("bench16", {"many": many, "few": few}, layouts=2)
    assert with_many.metrics["links"] > 60 > with_few.metrics["links"]
    _, *alike = model_scores("bench16", {"many": many, "few": few}, sampling={"redundancy": 1.0}, layouts=2)
    assert alike[0].metrics == alike[1].metrics
