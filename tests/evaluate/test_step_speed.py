"""What a denoising step costs: the count of its operations, and the command that measures it."""

from __future__ import annotations

import json

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from typer.testing import CliRunner

from manetdiff.cli.app import app
from manetdiff.diffusion.generator import DiffusionGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.evaluate.step_speed import products
from manetdiff.export.dense import DenseDenoiser
from manetdiff.model.config import ModelConfig


@pytest.mark.parametrize("config", [ModelConfig(), ModelConfig(width=48, blocks=2, tokens=8)])
def test_the_products_are_counted_as_pytorch_counts_them(config: ModelConfig) -> None:
    generator = build(config, Process(2.6))
    assert isinstance(generator, DiffusionGenerator)
    denoiser, n = generator.denoiser, 16
    layout = (torch.rand(1, n, config.width), torch.rand(1, n, n, config.width), torch.rand(1, n, n, config.sectors))
    dense = DenseDenoiser(denoiser)
    films = dense.time_condition(torch.tensor([0.5]))[0]
    with FlopCounterMode(display=False) as counter:
        dense(*layout, torch.zeros(1, n, n), torch.zeros(1, n), films)
    assert products(config, n) == pytest.approx(counter.get_total_flops(), rel=0.01)


def test_the_command_compares_with_eager_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manetdiff.cli.bench._stay_on_one_core", lambda: None)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.REPEATS", 1)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.STEPS", 5)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.NETWORKS", ("netdiff-small",))
    result = CliRunner().invoke(app, ["bench", "--steps", "--json"])
    assert result.exit_code == 0, result.output
    (speed,) = json.loads(result.stdout)["steps"]
    assert speed["runtime_ms"] > speed["floor_ms"] > 0
