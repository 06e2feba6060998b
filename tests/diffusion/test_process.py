"""The noise process on whole graphs: symmetric, as frequent as it says, blind to padding and parity's names."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.step import posterior_shares
from manetdiff.errors import ModelError
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.sampling import SamplerConfig
from support.diffusion_samples import SIZES, assert_graphs, noised_share, precise, within_chance
from support.graph_samples import flipped, graphs_in_double, mask_of, scattered_graphs, scattered_layouts, uniform_draws


@given(st.integers(0, 2**16), st.floats(0, 1), st.floats(0.5, 20), st.floats(0.2, 5))
def test_noise_is_symmetric_and_never_touches_padding(
    seed: int, time: float, mean_degree: float, redundancy: float
) -> None:
    process = Process(mean_degree, redundancy)
    mask = mask_of(SIZES, 11)
    clean = scattered_graphs(scattered_layouts(SIZES, seed, 11), seed)
    draws = uniform_draws(mask, torch.Generator().manual_seed(seed))
    assert_graphs(process.noised(clean, torch.full((3,), time), draws, mask), mask)
    assert_graphs(process.pure_noise(draws, mask), mask)
    state = process.noised(clean, torch.full((3,), 1.0), draws, mask)
    sampler = Sampler(process, SamplerConfig(steps=1, temperature=1.0))
    certain = Prediction(torch.full((3, 11, 11), 50.0), torch.full((3, 11), 50.0))
    stepped = sampler.step(state, certain, torch.ones(3), torch.zeros(3), draws, mask)
    assert_graphs(stepped, mask)
    # Even a prediction that links everything to everything links no padding.
    assert stepped.edges.sum((1, 2)).tolist() == [n * (n - 1) for n in SIZES]


def test_draws_of_zero_link_all_nodes_and_no_padding() -> None:
    mask = mask_of(SIZES, 11)
    lowest = Graphs(torch.zeros(3, 11, 11), torch.zeros(3, 11))
    noise = Process(3.0).pure_noise(lowest, mask)
    assert_graphs(noise, mask)
    assert noise.edges.sum((1, 2)).tolist() == [n * (n - 1) for n in SIZES]
    assert noise.parity.sum(1).tolist() == list(SIZES)


def test_only_draws_above_the_diagonal_count() -> None:
    mask = mask_of(SIZES)
    draws = uniform_draws(mask, torch.Generator().manual_seed(1))
    elsewhere = Graphs(draws.edges.triu(1) + torch.rand(draws.edges.shape).tril(), draws.parity)
    process = Process(3.0)
    assert torch.equal(process.pure_noise(draws, mask).edges, process.pure_noise(elsewhere, mask).edges)


def test_at_time_zero_there_is_no_noise_and_at_time_one_nothing_else() -> None:
    mask = mask_of(SIZES)
    clean = scattered_graphs(scattered_layouts(SIZES))
    draws = uniform_draws(mask, torch.Generator().manual_seed(2))
    process = Process(3.0)
    for part, expected in zip(process.noised(clean, torch.zeros(3), draws, mask), clean, strict=True):
        assert torch.equal(part, expected)
    for part, expected in zip(
        process.noised(clean, torch.ones(3), draws, mask), process.pure_noise(draws, mask), strict=True
    ):
        assert torch.equal(part, expected)


@pytest.mark.parametrize("time", [0.1, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("redundancy", [1.0, 2.5])
def test_noised_graphs_are_as_frequent_as_the_process_says(time: float, redundancy: float) -> None:
    trials, n = 4000, 6
    process = Process(2.0, redundancy)
    one = scattered_graphs(scattered_layouts([n]), density=0.5)
    mask = mask_of([n]).expand(trials, n)
    clean = Graphs(one.edges.expand(trials, n, n), one.parity.expand(trials, n))
    noised = process.noised(
        clean, torch.full((trials,), time), uniform_draws(mask, torch.Generator().manual_seed(3)), mask
    )
    odds = redundancy * (2 / 5) / (3 / 5)
    edge_share = odds / (1 + odds)
    for i, j in itertools.combinations(range(n), 2):
        expected = noised_share(one.edges[0, i, j].double(), edge_share, precise(time)).item()
        assert within_chance(noised.edges[:, i, j].sum().item(), expected, trials), (i, j)
    for i in range(n):
        expected = noised_share(one.parity[0, i].double(), 0.5, precise(time)).item()
        assert within_chance(noised.parity[:, i].sum().item(), expected, trials), i
    # One number drawn for two pairs would leave each pair's frequency as it is, but not how often both are linked.
    together = (noised.edges[:, 0, 1] * noised.edges[:, 2, 3]).sum().item()
    alone = [noised_share(one.edges[0, i, j].double(), edge_share, precise(time)).item() for i, j in ((0, 1), (2, 3))]
    assert within_chance(together, alone[0] * alone[1], trials)


@given(st.lists(st.integers(2, 40), min_size=1, max_size=4), st.floats(0.1, 50))
def test_the_noise_of_any_fleet_has_the_mean_degree_of_the_data(sizes: list[int], mean_degree: float) -> None:
    share = Process(mean_degree).edge_share(mask_of(sizes, 41))
    assert share.shape == (len(sizes), 1, 1)
    # The smallest fleets have no room for so many links: there, half of the pairs are linked.
    assert np.allclose(share.flatten(), [min(0.5, mean_degree / (n - 1)) for n in sizes], rtol=1e-5)


@given(st.lists(st.integers(2, 40), min_size=1, max_size=4), st.floats(0.1, 50), st.floats(0.01, 100))
def test_redundancy_raises_the_odds_of_a_link_by_its_factor(
    sizes: list[int], mean_degree: float, redundancy: float
) -> None:
    mask = mask_of(sizes)
    plain, raised = (Process(mean_degree, factor).edge_share(mask).double() for factor in (1.0, redundancy))
    assert np.allclose(raised / (1 - raised), redundancy * plain / (1 - plain), rtol=1e-3)


@pytest.mark.parametrize("name", ["mean_degree", "noise_redundancy"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, True, "3", None])
def test_bad_processes_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=name):
        Process.from_dict({"mean_degree": 3.0, name: value})


def test_a_process_survives_its_dictionary_and_unknown_settings_are_named() -> None:
    process = Process(2.75, 1.5)
    assert Process.from_dict(process.to_dict()) == process
    # As files say it that were written before it had a name of its own.
    assert Process.from_dict({"mean_degree": 2.75, "redundancy": 1.5}) == process
    with pytest.raises(ModelError, match="colour"):
        Process.from_dict({"mean_degree": 3.0, "colour": 1})
    with pytest.raises(ModelError, match="mean_degree"):
        Process.from_dict({})


@given(st.integers(0, 2**16), st.floats(0.05, 1), st.floats(0, 0.95))
def test_a_step_does_not_know_which_parity_is_which(seed: int, time: float, part: float) -> None:
    process = Process(3.0)
    mask = mask_of(SIZES)
    # In double precision: the little noise between two early times is lost in the rounding of single.
    state = graphs_in_double(scattered_graphs(scattered_layouts(SIZES, seed), seed))
    predicted = graphs_in_double(uniform_draws(mask, torch.Generator().manual_seed(seed)))
    when, earlier = (torch.full((3,), moment, dtype=torch.float64) for moment in (time, part * time))
    noise, strides = process.noise_shares(mask), process.strides(when, earlier)
    one = posterior_shares(state, predicted, noise, strides)
    other = posterior_shares(flipped(state, mask), Graphs(predicted.edges, 1 - predicted.parity), noise, strides)
    assert torch.equal(one.edges, other.edges)
    assert torch.allclose(other.parity[mask], 1 - one.parity[mask], atol=1e-9)
