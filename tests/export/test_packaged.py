"""The packaged runtime files: what ONNX Runtime makes of them is what PyTorch makes of the weights beside them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.weights import find_weights
from manetdiff.errors import CheckpointError
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.weights import RUNTIME_FILE, SMALL, known
from support.exported_chains import assert_same_graphs, layout_pair, repeated, run_chain

SEEDS = [(11, k) for k in range(4)]


@pytest.mark.parametrize("name", known(RUNTIME_FILE))
def test_samples_are_those_of_the_weights(name: str) -> None:
    weights, chain = find_weights(name), Chain(find_bundle(name))
    assert chain.sampling == weights.sampling
    generator = weights.build()
    assert isinstance(generator, DiffusionGenerator)
    sampling = dataclasses.replace(weights.sampling, steps=3, decide=False)
    for n in (3, 9):
        layouts, features = layout_pair(n)
        wanted = generator.sample(repeated(layouts, len(SEEDS)), SEEDS, sampling)
        assert_same_graphs(run_chain(chain, features, SEEDS, sampling), wanted)
        pace = generator.process.pace(layouts, 4)
        assert (pace is None) == ("pace" not in chain.embed(features).arrays)
        if pace is not None:
            np.testing.assert_allclose(chain.embed(features).arrays["pace"], pace.numpy(), atol=5e-3)


@pytest.mark.parametrize("name", ["noise", "step"])
def test_functions_that_do_not_agree_on_the_pace_are_refused(name: str) -> None:
    paced, plain = find_bundle("netdiff-heading"), find_bundle(SMALL)
    for one, other in ((paced, plain), (plain, paced)):
        mixed = Chain(dataclasses.replace(one, graphs={**one.graphs, name: other.graphs[name]}))
        with pytest.raises(CheckpointError, match=f"{one.name}: its function '{name}' does not take"):
            run_chain(mixed, layout_pair(5)[1], SEEDS, one.sampling)
