"""Tables of models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from typer.testing import CliRunner

from manetdiff.cli.app import app
from manetdiff.data import BENCHMARKS, Dataset
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import CheckpointError
from manetdiff.evaluate import models
from manetdiff.evaluate.bundles import bundle_rows, check_trained_for
from manetdiff.evaluate.models import ablation_weights, ablations, model_rows
from manetdiff.evaluate.scores import Score
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.runtime.bundle import find_bundle
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import METRICS
from manetdiff.training.validation import judge, sample_topologies
from manetdiff.weights import RUNTIME_FILE, find
from support.measured_help import rows_of

CONFIG, PROCESS = ModelConfig(width=8, blocks=1), Process(2.6)


def weights(radio: Radio | None = None) -> Weights:
    torch.set_num_threads(1)
    torch.manual_seed(3)
    state = dict(build(CONFIG, PROCESS).state_dict())
    return Weights(CONFIG, PROCESS, radio or Radio(), state, SamplerConfig(steps=2))


def rows(value: float) -> Rows:
    return rows_of(**dict.fromkeys(METRICS, value), target=[1.0, 1.0])


def test_a_score_is_the_means_of_rows() -> None:
    score = Score.of("mine", rows_of(**dict.fromkeys(METRICS, 0.5), target=1.0, milliseconds=[2.0, 4.0]))
    assert (score.method, score.layouts, score.metrics, score.ratio) == ("mine", 2, dict.fromkeys(METRICS, 0.5), 0.5)
    assert score.seconds == pytest.approx(0.003)
    assert Score.of("target", rows(1.0)).seconds is None


def test_ablations_are_gathered_by_variant_with_mean_and_spread() -> None:
    named = {"target": 9, "acam-123": 1, "cam-124": 5, "acam-125": 3, "ddpm-gt-plain-1": 2}
    made = ablations({name: rows(value) for name, value in named.items()})
    assert [(row.variant, row.seeds) for row in made] == [("acam", 2), ("cam", 1), ("ddpm-gt-plain", 1)]
    assert made[0].mean["links"] == 2
    assert made[0].spread["ratio"] == pytest.approx(np.std([1, 3], ddof=1))
    assert made[1].spread["ratio"] == 0


def test_the_table_of_ablations_has_a_spread_where_there_are_several_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"target": rows(1.0), "acam-123": rows(0.5), "acam-124": rows(0.7), "cam-123": rows(0.25)}
    monkeypatch.setattr(models, "model_rows", lambda *given, **how: named)
    shown = CliRunner().invoke(app, ["evaluate", "--ablations"]).output.splitlines()
    assert "60.00 ± 14.14 %" in next(line for line in shown if line.startswith("NetDiff (ACAM)"))
    assert "±" not in next(line for line in shown if line.startswith("NetDiff (CAM)"))
    assert shown[-1].split()[:2] == ["target", "1.00"]
    document = json.loads(CliRunner().invoke(app, ["evaluate", "--ablations", "--json"]).output)
    assert set(document["bench16"][0]) == {"variant", "label", "seeds", "mean", "spread"}


def test_the_table_of_ablations_has_the_networks_that_the_page_shows() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "ablations.md").read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    shown = {line[0].removeprefix("| "): int(line[1]) for line in lines if line[1].isdigit()}
    assert {row.label: row.seeds for row in ablations({name: rows(1.0) for name in ablation_weights()})} == shown


def test_a_model_that_gives_back_the_target_scores_the_target() -> None:
    layouts = list(benchmark_set("bench16").first(5))
    scores = judge([layout.topology for layout in layouts], [layout.metrics["throughput"] for layout in layouts])
    assert scores["ratio"] == pytest.approx(1)
    for name in METRICS:
        assert scores[name] == pytest.approx(np.mean([layout.metrics[name] for layout in layouts]))


def test_a_sample_does_not_depend_on_the_layouts_beside_it() -> None:
    generator = weights().build()
    layouts = [one.layout for one in (*benchmark_set("bench16").first(3), benchmark_set("bench32").layout(0))]
    sampling = SamplerConfig(steps=4)
    together = sample_topologies(generator, layouts, sampling, 5, "cpu")
    alone = sample_topologies(generator, layouts[:1], sampling, 5, "cpu")
    assert alone[0] == together[0]
    assert sample_topologies(generator, layouts, sampling, 6, "cpu") != together


def test_rows_are_of_the_target_first_and_then_of_each_model_as_validation_samples_them() -> None:
    mine = weights()
    made = model_rows(RowStore(), "bench16", {"one": mine, "two": mine}, sampling={"steps": 3}, layouts=2, seed=4)
    assert list(made) == ["target", "one", "two"]
    two = list(benchmark_set("bench16").first(2))
    drawn = sample_topologies(mine.build(), [one.layout for one in two], SamplerConfig(steps=3), 4, "cpu")
    expected = judge(drawn, [one.metrics["throughput"] for one in two])
    for name in ("one", "two"):
        assert made[name].means((*METRICS, "ratio")) == pytest.approx(expected)


def test_a_runtime_file_scores_what_the_weights_that_it_was_exported_from_score() -> None:
    file = find("netdiff-small", RUNTIME_FILE)
    asked = ["--layouts", "3", "--steps", "4", "--temperature", "0.7", "--redundancy", "2", "--seed", "5", "--json"]
    ran = CliRunner().invoke(app, ["evaluate", "bench16", "--weights", str(file), "--weights", "netdiff-small", *asked])
    assert ran.exit_code == 0, ran.output
    target, by_runtime, by_pytorch = json.loads(ran.output)["bench16"]
    assert (target["method"], by_runtime["method"], by_pytorch["method"]) == ("target", str(file), "netdiff-small")
    assert by_runtime["layouts"] == by_pytorch["layouts"] == 3
    assert by_runtime["metrics"] == pytest.approx(by_pytorch["metrics"])
    assert by_runtime["ratio"] == pytest.approx(by_pytorch["ratio"])
    assert by_runtime["ratio"] != pytest.approx(target["ratio"])


def test_a_runtime_file_for_another_radio_is_refused() -> None:
    other = replace(find_bundle("netdiff-small"), radio=Radio(sigma2=0.9))
    with pytest.raises(CheckpointError, match="mine: trained for a radio with sigma2"):
        bundle_rows(RowStore(), "bench16", {"mine": other}, layouts=1)


def test_a_set_of_several_radios_is_none_for_a_network_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    several = Dataset(BENCHMARKS["radios"].settings(), pa.table({}))
    monkeypatch.setattr("manetdiff.evaluate.bundles.benchmark_dataset", lambda name: several)
    with pytest.raises(CheckpointError, match="mine: trained for one radio; radios was solved for several"):
        check_trained_for("radios", "mine", Radio())


def test_a_model_for_another_radio_is_refused() -> None:
    with pytest.raises(CheckpointError, match="sigma2"):
        model_rows(RowStore(), "bench16", {"one": weights(Radio(sigma2=0.9))}, layouts=1)
