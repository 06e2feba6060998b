"""Runtime files of dense networks: what ONNX Runtime makes of them is what PyTorch makes of the weights beside them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.weights import find_weights
from manetdiff.errors import CheckpointError
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.weights import DEFAULT, RUNTIME_FILE, known
from support.exported_chains import assert_same_graphs, layout_pair, repeated, run_chain

SEEDS = [(11, k) for k in range(4)]


@pytest.mark.parametrize("name", [name for name in known(RUNTIME_FILE) if name != DEFAULT])
def test_samples_are_those_of_the_weights(name: str) -> None:
    weights, chain = find_weights(name), Chain(find_bundle(name))
    assert chain.sampling == weights.sampling
    generator = weights.build()
    assert isinstance(generator, DiffusionGenerator)
    sampling = dataclasses.replace(weights.sampling, steps=3, decide=False)
    for n in (3, 9):
        layouts, layout = layout_pair(n)
        wanted = generator.sample(repeated(layouts, len(SEEDS)), SEEDS, sampling)
        assert_same_graphs(run_chain(chain, layout, SEEDS, sampling), wanted)
        pace = generator.process.pace(layouts, 4)
        assert (pace is None) == ("pace" not in chain.embed(layout).arrays)
        if pace is not None:
            np.testing.assert_allclose(chain.embed(layout).arrays["pace"], pace.numpy(), atol=5e-3)


@pytest.mark.parametrize("name", ["noise", "step"])
def test_functions_that_do_not_agree_on_the_pace_are_refused(name: str) -> None:
    paced, plain = find_bundle("netdiff-heading"), find_bundle("netdiff-small")
    for one, other in ((paced, plain), (plain, paced)):
        mixed = Chain(dataclasses.replace(one, graphs={**one.graphs, name: other.graphs[name]}))
        with pytest.raises(CheckpointError, match=f"{one.name}: its function '{name}' does not take"):
            run_chain(mixed, layout_pair(5)[1], SEEDS, one.sampling)


@pytest.mark.parametrize("name", known(RUNTIME_FILE))
def test_a_file_says_nothing_of_where_it_was_made(name: str) -> None:
    for graph in find_bundle(name).graphs.values():
        assert b"stack_trace" not in graph
        assert b".py" not in graph
