"""The sampler with denoisers whose answers are known: where it must end, how often, and on what it may depend."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.errors import ModelError
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.sampling import Grid, SamplerConfig, StepSettings, time_pairs
from support.diffusion_samples import SIZES, grids, noised_share, precise, within_chance
from support.graph_samples import mask_of, scattered_graphs, scattered_layouts, uniform_draws

configs = st.builds(
    SamplerConfig,
    steps=st.integers(1, 12),
    grid=grids,
    temperature=st.floats(0.05, 5),
    redundancy=st.floats(0.2, 5),
    decide=st.booleans(),
)


def _always(prediction: Prediction) -> Callable[[Graphs, Tensor], Prediction]:
    return lambda state, time: prediction


@given(configs, st.integers(0, 2**16))
@settings(max_examples=30)
def test_a_denoiser_that_is_certain_of_a_graph_ends_there(config: SamplerConfig, seed: int) -> None:
    layouts = scattered_layouts(SIZES, seed)
    goal = scattered_graphs(layouts, seed)
    certain = Prediction(1e4 * (2 * goal.edges - 1), 1e4 * (2 * goal.parity - 1))
    draws = layout_draws([(seed, k) for k in range(3)], SIZES, config.steps, decide=config.decide)
    reached = Sampler(Process(3.0), config).sample(_always(certain), layouts.mask, draws)
    assert torch.equal(reached.edges, goal.edges)
    assert torch.equal(reached.parity, goal.parity)


@pytest.mark.parametrize(("steps", "grid"), [(1, "linear"), (3, "linear"), (8, "cosine")])
@pytest.mark.parametrize("redundancy", [1.0, 3.0])
def test_with_the_exact_denoiser_every_step_has_the_frequencies_of_the_noise_process(
    steps: int, grid: Grid, redundancy: float
) -> None:
    """Data of independent links and parities, of whose noisy states Bayes' rule gives the clean ones exactly."""
    trials, n = 2000, 8
    process = Process(2.0, redundancy)
    mask = mask_of([n] * trials)
    edge_share = process.edge_share(mask)
    linked, odd = 0.6, 0.2  # in the data, far from the noise

    def log_odds(state: Tensor, share: Tensor | float, data: float, time: Tensor) -> Tensor:
        one, zero = (noised_share(torch.full_like(state, clean), share, time) for clean in (1.0, 0.0))
        heard = torch.where(state > 0, one / zero, (1 - one) / (1 - zero))
        return torch.log(heard * data / (1 - data))

    def exact(state: Graphs, time: Tensor) -> Prediction:
        return Prediction(
            log_odds(state.edges, edge_share, linked, time[:, None, None]),
            log_odds(state.parity, 0.5, odd, time[:, None]),
        )

    generator = torch.Generator().manual_seed(steps)
    sampler = Sampler(process, SamplerConfig(steps, grid, temperature=1.0, decide=False))
    state = process.pure_noise(uniform_draws(mask, generator), mask)
    for t, s in time_pairs(steps, grid):
        when, earlier = torch.full((trials,), t), torch.full((trials,), s)
        state = sampler.step(state, exact(state, when), when, earlier, uniform_draws(mask, generator), mask)
        links = noised_share(precise(linked), edge_share[0].item(), precise(s)).item()
        assert within_chance(state.edges.sum().item() / 2, links, trials * n * (n - 1) // 2), s
        assert within_chance(state.parity.sum().item(), noised_share(precise(odd), 0.5, precise(s)).item(), trials * n)


def _random_prediction(mask: Tensor, seed: int) -> Prediction:
    generator = torch.Generator().manual_seed(seed)
    b, n = mask.shape
    logits = torch.randn(b, n, n, generator=generator)
    return Prediction(logits + logits.transpose(1, 2), torch.randn(b, n, generator=generator))


def _argmax(prediction: Prediction, mask: Tensor) -> Graphs:
    n = mask.shape[1]
    edges = (prediction.edges > 0) & mask[:, :, None] & mask[:, None, :] & ~torch.eye(n, dtype=torch.bool)
    return Graphs(edges.float(), ((prediction.parity > 0) & mask).float())


@given(st.integers(0, 2**16), configs)
@settings(max_examples=30)
def test_deciding_takes_the_likelier_states_and_so_does_a_temperature_near_zero(
    seed: int, config: SamplerConfig
) -> None:
    mask = mask_of(SIZES)
    prediction = _random_prediction(mask, seed)
    for changed in (dataclasses.replace(config, decide=True), dataclasses.replace(config, temperature=1e-12)):
        biased = prediction.edges / changed.temperature + math.log(config.redundancy)
        expected = _argmax(prediction._replace(edges=biased), mask)
        draws = layout_draws([(seed, k) for k in range(3)], SIZES, config.steps, decide=changed.decide)
        made = Sampler(Process(3.0), changed).sample(_always(prediction), mask, draws)
        assert torch.equal(made.edges, expected.edges)
        assert torch.equal(made.parity, expected.parity)


def test_without_deciding_the_last_states_are_drawn_from_the_tempered_prediction() -> None:
    trials, n = 4000, 5
    mask = mask_of([n] * trials)
    one = _random_prediction(mask[:1], 4)
    prediction = Prediction(one.edges.expand(trials, n, n), one.parity.expand(trials, n))
    generator = torch.Generator().manual_seed(4)
    sampler = Sampler(Process(2.0), SamplerConfig(steps=1, temperature=0.5, decide=False))
    made = sampler.sample(_always(prediction), mask, [uniform_draws(mask, generator) for _ in range(2)])
    for i, j in itertools.combinations(range(n), 2):
        share = 1 / (1 + math.exp(-one.edges[0, i, j].item() / 0.5))
        assert within_chance(made.edges[:, i, j].sum().item(), share, trials)
    for i in range(n):
        share = 1 / (1 + math.exp(-one.parity[0, i].item() / 0.5))
        assert within_chance(made.parity[:, i].sum().item(), share, trials)


@given(st.integers(0, 2**16), configs)
@settings(max_examples=30)
def test_a_guide_and_a_bias_that_outweigh_the_prediction_have_the_last_word_on_their_pairs(
    seed: int, config: SamplerConfig
) -> None:
    mask, sampler = mask_of(SIZES), Sampler(Process(3.0), config)
    layouts = scattered_layouts(SIZES, seed)
    prediction, goal = _random_prediction(mask, seed), scattered_graphs(layouts, seed).edges
    draws = layout_draws([(seed, k) for k in range(3)], SIZES, config.steps, decide=config.decide)
    # Half of the pairs: the others are as without them.
    chosen = (scattered_graphs(layouts, seed + 1, density=0.5).edges > 0) & layouts.pair_mask
    free = sampler.sample(_always(prediction), mask, draws).edges
    plain = StepSettings(torch.tensor(config.temperature), torch.full_like(goal, math.log(config.redundancy)))
    guided = plain._replace(guide=goal, guide_weight=1e4 * chosen)
    biased = plain._replace(link_bias=plain.link_bias + 1e4 * (2 * goal - 1) * chosen)
    for asked in (guided, biased):
        made = sampler.sample(_always(prediction), mask, draws, settings=asked).edges
        assert torch.equal(made[chosen], goal[chosen])
        assert torch.equal(made[~chosen], free[~chosen])


def test_every_step_has_a_round_of_draws_of_its_own() -> None:
    n, seen = 4, []

    def undecided(state: Graphs, time: Tensor) -> Prediction:
        seen.append(state.edges.sum().item())
        return Prediction(torch.zeros(1, n, n), torch.zeros(1, n))

    # Draws of 0 link every pair, draws of 1 none.
    rounds = [Graphs(torch.full((1, n, n), value), torch.full((1, n), value)) for value in (0.0, 1.0, 1.0, 0.0)]
    made = Sampler(Process(1.5), SamplerConfig(steps=3, decide=False)).sample(undecided, mask_of([n]), rounds)
    assert seen == [12, 0, 0]
    assert made.edges.sum().item() == 12 and made.parity.sum().item() == n


@pytest.mark.parametrize("rounds", [0, 5, 7])
def test_a_wrong_number_of_rounds_is_refused(rounds: int) -> None:
    nothing = Prediction(torch.zeros(1, 5, 5), torch.zeros(1, 5))
    with pytest.raises(ModelError, match=f"5 steps need 6 rounds of draws, not {rounds}"):
        Sampler(Process(3.0), SamplerConfig(steps=5)).sample(
            _always(nothing), mask_of([5]), layout_draws([(1,)], [5], 10)[:rounds]
        )
