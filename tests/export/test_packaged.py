"""The packaged runtime files: what ONNX Runtime makes of them is what PyTorch makes of the weights beside them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.weights import find_weights
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.weights import RUNTIME_FILE, known
from support.exported_chains import layout_pair, repeated, run_chain

SEEDS = [(11, k) for k in range(4)]


@pytest.mark.parametrize("name", known(RUNTIME_FILE))
def test_samples_are_those_of_the_weights(name: str) -> None:
    weights, chain = find_weights(name), Chain(find_bundle(name))
    assert chain.sampling == weights.sampling
    generator = weights.build()
    assert isinstance(generator, DiffusionGenerator)
    for n in (3, 9):
        layouts, features = layout_pair(n)
        sampling = dataclasses.replace(weights.sampling, steps=3, decide=False)
        wanted = generator.sample(repeated(layouts, len(SEEDS)), SEEDS, sampling)
        made = run_chain(chain, features, SEEDS, sampling)
        assert np.array_equal(made.edges, wanted.edges.numpy())
        assert np.array_equal(made.parity, wanted.parity.numpy())
        pace = generator.process.pace(layouts, 4)
        assert (pace is None) == ("pace" not in chain.embed(features).arrays)
        if pace is not None:
            np.testing.assert_allclose(chain.embed(features).arrays["pace"], pace.numpy(), atol=5e-3)
