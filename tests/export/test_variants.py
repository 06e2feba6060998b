"""Every variant on the runtime: it samples what it samples in PyTorch, and generates and updates."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import manetdiff as md
from manetdiff.diffusion.generator import DenseGenerator, build
from manetdiff.diffusion.weights import Weights
from manetdiff.export.write import exported
from manetdiff.runtime.chain import Chain
from manetdiff.sampling import SamplerConfig
from manetdiff.scenarios import draw, move_by
from manetdiff.training.variants import VARIANTS
from support.exported_chains import PROCESS, assert_same_graphs, layout_pair, repeated, run_chain, unexported_chain
from support.graph_samples import dense, perturbed

SEEDS = [(11, k) for k in range(4)]
ON_ALL_PAIRS = [name for name, variant in VARIANTS.items() if variant.model.kind != "sparse"]


def _telling(model: DenseGenerator) -> SamplerConfig:
    """A sampling with which random weights link some pairs and others not: of all or none, little would be said."""
    for redundancy in 10.0 ** np.arange(-3, 3, 0.2):
        sampling = SamplerConfig(steps=4, temperature=0.7, redundancy=float(redundancy))
        linked = model.sample(repeated(layout_pair(12)[0], len(SEEDS)), SEEDS, sampling).edges.mean()
        if 0.1 < linked < 0.85:
            return sampling
    raise AssertionError("all pairs or none")


def _weights(name: str) -> Weights:
    full = VARIANTS[name].model
    config = dataclasses.replace(full, width=8, blocks=1, tokens=min(2, full.tokens), latent=3)
    process = dataclasses.replace(PROCESS, heading=0.0)
    model = dense(perturbed(lambda: build(config, process))).eval()
    return Weights(config, process, md.Radio(), dict(model.state_dict()), _telling(model))


def _assert_samples_what_pytorch_does(chain: Chain, weights: Weights) -> None:
    model = dense(weights.build())
    for n in (2, 5, 12):
        layouts, layout = layout_pair(n)
        wanted = model.sample(repeated(layouts, len(SEEDS)), SEEDS, weights.sampling)
        assert_same_graphs(run_chain(chain, layout, SEEDS, weights.sampling), wanted)


@pytest.mark.parametrize("name", ON_ALL_PAIRS)
def test_the_functions_of_a_variant_sample_what_it_samples(name: str) -> None:
    weights = _weights(name)
    _assert_samples_what_pytorch_does(unexported_chain(weights), weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_ALL_PAIRS)
def test_a_variant_exported_samples_what_it_samples_in_pytorch_and_serves_a_fleet(name: str, tmp_path: Path) -> None:
    weights, path = _weights(name), tmp_path / f"{name}.netdiff"
    bundle = exported(name, weights)
    path.write_bytes(bundle.to_bytes())
    _assert_samples_what_pytorch_does(Chain(bundle), weights)
    fleet = draw("mixed", 8, np.random.default_rng(1))
    loaded = md.load(path)
    made_for = loaded.generate(fleet, seed=1, samples=2)
    assert made_for.report.valid and made_for == loaded.generate(fleet, seed=1, samples=2)
    moved = move_by(fleet, 0.2, np.random.default_rng(2))
    for mode in ("minor", "standard", "guided"):
        assert loaded.update(made_for, moved, mode=mode).report.valid
