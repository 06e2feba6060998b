"""Every variant exported: on ONNX Runtime it samples what it samples in PyTorch, and generates and updates."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import manetdiff as md
from manetdiff.diffusion.generator import DiffusionGenerator, VariationalGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights
from manetdiff.export.write import exported
from manetdiff.runtime.bundle import read_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.sampling import SamplerConfig
from manetdiff.scenarios import draw, move_by
from manetdiff.training.variants import VARIANTS
from support.exported_chains import layout_pair, repeated, run_chain
from support.graph_samples import perturbed

# Exporting one takes some ten seconds: every day, only the quickest that is exported as it is. NetDiff itself, arranged
# for speed, is in test_export.py.
EVERYDAY = ("none-plain",)
PROCESS = Process(2.5, noise_redundancy=1.7, parity_pace=0.6)
SEEDS = [(11, k) for k in range(4)]


def _telling(model: DiffusionGenerator | VariationalGenerator) -> SamplerConfig:
    """A sampling with which random weights link some pairs and others not: of all or none, little would be said."""
    for redundancy in 10.0 ** np.arange(-3, 3, 0.2):
        sampling = SamplerConfig(steps=4, temperature=0.7, redundancy=float(redundancy))
        linked = model.sample(repeated(layout_pair(12)[0], len(SEEDS)), SEEDS, sampling).edges.mean()
        if 0.1 < linked < 0.85:
            return sampling
    raise AssertionError("all pairs or none")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in EVERYDAY else pytest.mark.slow) for name in VARIANTS]
)
def test_a_variant_samples_what_it_samples_in_pytorch_and_serves_a_fleet(name: str, tmp_path: Path) -> None:
    full = VARIANTS[name].model
    config = dataclasses.replace(full, width=8, blocks=1, tokens=min(2, full.tokens), latent=3)
    model = perturbed(lambda: build(config, PROCESS)).eval()
    sampling = _telling(model)
    weights = Weights(config, PROCESS, md.Radio(), dict(model.state_dict()), sampling)
    path = tmp_path / f"{name}.netdiff"
    path.write_bytes(exported(name, weights).to_bytes())
    chain = Chain(read_bundle(path))
    for n in (2, 5, 12):
        layouts, features = layout_pair(n)
        wanted = model.sample(repeated(layouts, len(SEEDS)), SEEDS, sampling)
        made = run_chain(chain, features, SEEDS, sampling)
        # A share within rounding of the number drawn could fall on either side; with these seeds none does.
        assert np.array_equal(made.edges, wanted.edges.numpy())
        assert np.array_equal(made.parity, wanted.parity.numpy())
    fleet = draw("mixed", 8, np.random.default_rng(1))
    loaded = md.load(path, threads=1)
    made_for = loaded.generate(fleet, seed=1, samples=2)
    assert made_for.report.valid and made_for == loaded.generate(fleet, seed=1, samples=2)
    moved = move_by(fleet, 0.2, np.random.default_rng(2))
    for mode in ("minor", "standard", "guided"):
        assert loaded.update(made_for, moved, mode=mode).report.valid
