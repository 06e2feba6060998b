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
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.evaluate.step_speed import products, sparse_products
from manetdiff.export.dense import DenseDenoiser
from manetdiff.layout import Layout
from manetdiff.model.config import ModelConfig
from manetdiff.model.sparse_block import HEADS, SparseBlock
from manetdiff.weights import DEFAULT
from support.strategies import drawn


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


def test_the_products_of_a_sparse_network_are_those_of_its_linear_maps() -> None:
    """Of a network without tokens, by hand: p arcs, n nodes, m links and width d, of which a block has one."""
    config = ModelConfig(kind="sparse", width=8, blocks=1, modulation="none")
    generator, layout = build(config, Process(2.6)), Layout(drawn(12))
    assert isinstance(generator, SparseGenerator)
    p, n, m, d = len(layout.arcs.owner), 12, len(layout.arcs.links), 8
    (first,) = generator.denoiser.blocks
    assert isinstance(first, SparseBlock)
    gates = first.gates.out_features
    ends = p * (5 * d + d * d) + n * (2 * d + d * d) + m * (d * d + d) + p * d + n * (d * d + d)
    block = p * (3 * d * d + 2 * gates * d + 2 * d * d + HEADS * d + 4 * d * d) + n * (2 * d * d + d * d + 4 * d * d)
    assert sparse_products(generator, layout) == pytest.approx(2 * (ends + block), rel=0.1)  # films of the time besides


def test_the_command_compares_with_eager_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manetdiff.cli.bench._stay_on_one_core", lambda: None)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.REPEATS", 1)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.STEPS", 5)
    monkeypatch.setattr("manetdiff.evaluate.step_speed.NETWORKS", (DEFAULT, "netdiff-small"))
    result = CliRunner().invoke(app, ["bench", "--steps", "--nodes", "16,80", "--json"])
    assert result.exit_code == 0, result.output
    speeds = json.loads(result.stdout)["steps"]
    assert [(speed["network"], speed["nodes"]) for speed in speeds] == [
        (name, n) for name in (DEFAULT, "netdiff-small") for n in (16, 80)
    ]
    for speed in speeds:
        assert speed["runtime_ms"] > speed["floor_ms"] > 0
        assert sum(speed["parts"].values()) == pytest.approx(1)
        assert speed["parts"]["products"] > 0.05
