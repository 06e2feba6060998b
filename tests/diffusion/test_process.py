"""The noise process on whole graphs: symmetric, as frequent as it says, blind to padding and parity's names."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.step import posterior_shares
from manetdiff.errors import ModelError
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.sampling import SamplerConfig
from support.diffusion_samples import SIZES, assert_graphs, bayes, noised_share, precise, within_chance
from support.graph_samples import flipped, graphs_in_double, mask_of, scattered_graphs, scattered_layouts, uniform_draws


@given(st.integers(0, 2**16), st.floats(0, 1), st.floats(0.5, 20), st.floats(0.2, 5))
@settings(max_examples=30)
def test_noise_is_symmetric_and_never_touches_padding(
    seed: int, time: float, mean_degree: float, redundancy: float
) -> None:
    process = Process(mean_degree, redundancy)
    mask = mask_of(SIZES, 11)
    clean = scattered_graphs(scattered_layouts(SIZES, seed, 11), seed)
    draws = uniform_draws(mask, torch.Generator().manual_seed(seed))
    assert_graphs(process.noised(clean, torch.full((3,), time), draws, mask), mask)
    # Only the draws above the diagonal count.
    elsewhere = Graphs(draws.edges.triu(1) + torch.rand(draws.edges.shape).tril(), draws.parity)
    noise = process.pure_noise(draws, mask)
    assert torch.equal(noise.edges, process.pure_noise(elsewhere, mask).edges)
    assert_graphs(noise, mask)
    sampler = Sampler(process, SamplerConfig(steps=1, temperature=1.0))
    certain = Prediction(torch.full((3, 11, 11), 50.0), torch.full((3, 11), 50.0))
    stepped = sampler.step(noise, certain, torch.ones(3), torch.zeros(3), draws, mask)
    # Even a prediction or draws that link everything to everything link no padding.
    lowest = process.pure_noise(Graphs(torch.zeros(3, 11, 11), torch.zeros(3, 11)), mask)
    for everything in (stepped, lowest):
        assert_graphs(everything, mask)
        assert everything.edges.sum((1, 2)).tolist() == [n * (n - 1) for n in SIZES]
        assert everything.parity.sum(1).tolist() == list(SIZES)


@pytest.mark.parametrize("heading", [0.0, 4.0])
def test_at_time_zero_there_is_no_noise_and_at_time_one_nothing_else(heading: float) -> None:
    process, layouts = Process(3.0, heading=heading), scattered_layouts(SIZES)
    clean, mask = scattered_graphs(layouts), layouts.mask
    draws = uniform_draws(mask, torch.Generator().manual_seed(2))
    for time, expected in ((torch.zeros(3), clean), (torch.ones(3), process.pure_noise(draws, mask))):
        made = process.noised(clean, time, draws, mask, process.pace(layouts, 4))
        assert torch.equal(made.edges, expected.edges) and torch.equal(made.parity, expected.parity)


@pytest.mark.parametrize("time", [0.2, 0.6, 1.0])
@pytest.mark.parametrize(("redundancy", "heading"), [(1.0, 0.0), (2.5, 4.0)])
def test_noised_graphs_are_as_frequent_as_the_process_says(time: float, redundancy: float, heading: float) -> None:
    trials, n = 4000, 6
    process, layouts = Process(2.0, redundancy, parity_pace=0.6, heading=heading), scattered_layouts([n])
    one, pace = scattered_graphs(layouts, density=0.5), process.pace(layouts, 4)
    # Or else a pace that is not heard of would go unnoticed.
    assert pace is None or pace.max() > 3
    mask = mask_of([n]).expand(trials, n)
    clean = Graphs(one.edges.expand(trials, n, n), one.parity.expand(trials, n))
    draws = uniform_draws(mask, torch.Generator().manual_seed(3))
    noised = process.noised(clean, torch.full((trials,), time), draws, mask, pace)
    odds = redundancy * (2 / 5) / (3 / 5)

    def linked(i: int, j: int) -> float:
        own = 1.0 if pace is None else float(pace[0, i, j])
        return noised_share(one.edges[0, i, j].double(), odds / (1 + odds), precise(time), pace=own).item()

    for i, j in itertools.combinations(range(n), 2):
        assert within_chance(noised.edges[:, i, j].sum().item(), linked(i, j), trials), (i, j)
    for i in range(n):
        expected = noised_share(one.parity[0, i].double(), 0.5, precise(time), pace=0.6).item()
        assert within_chance(noised.parity[:, i].sum().item(), expected, trials), i
    # One number drawn for two pairs would leave each pair's frequency as it is, but not how often both are linked.
    together = (noised.edges[:, 0, 1] * noised.edges[:, 2, 3]).sum().item()
    assert within_chance(together, linked(0, 1) * linked(2, 3), trials)


@given(st.lists(st.integers(2, 40), min_size=1, max_size=4), st.floats(0.1, 50), st.floats(0.01, 100))
def test_the_noise_of_any_fleet_has_the_mean_degree_of_the_data_and_the_redundancy_asked_for(
    sizes: list[int], mean_degree: float, redundancy: float
) -> None:
    mask = mask_of(sizes, 41)
    plain, raised = (Process(mean_degree, factor).edge_share(mask).double() for factor in (1.0, redundancy))
    assert plain.shape == (len(sizes), 1, 1)
    # The smallest fleets have no room for so many links: there, half of the pairs are linked.
    assert np.allclose(plain.flatten(), [min(0.5, mean_degree / (n - 1)) for n in sizes], rtol=1e-5)
    assert np.allclose(raised / (1 - raised), redundancy * plain / (1 - plain), rtol=1e-3)


@pytest.mark.parametrize("name", ["mean_degree", "noise_redundancy", "parity_pace", "heading"])
@pytest.mark.parametrize("value", [-1.0, math.nan, True, "3"])
def test_bad_processes_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=name):
        Process.from_dict({"mean_degree": 3.0, name: value})


def test_only_a_heading_may_be_zero() -> None:
    assert Process(3.0, heading=0.0) == Process(3.0)
    for name in ("mean_degree", "noise_redundancy", "parity_pace"):
        with pytest.raises(ModelError, match=name):
            Process.from_dict({"mean_degree": 3.0, name: 0.0})


def test_a_process_is_read_as_files_said_it_before_its_redundancy_had_a_name_of_its_own() -> None:
    assert Process.from_dict({"mean_degree": 2.75, "redundancy": 1.5}) == Process(2.75, 1.5)


@given(st.integers(0, 2**16), st.floats(0.05, 1), st.floats(0, 0.95), st.floats(0, 6))
@settings(max_examples=20)
def test_a_step_goes_back_by_bayes_rule_at_each_pair_s_own_pace_whichever_parity_is_which(
    seed: int, time: float, part: float, heading: float
) -> None:
    process = Process(2.0, noise_redundancy=1.5, parity_pace=0.7, heading=heading)
    layouts, earlier = scattered_layouts([5], seed), part * time
    # In double precision: the little noise between two early times is lost in the rounding of single.
    state = graphs_in_double(scattered_graphs(layouts, seed, 0.5))
    predicted = graphs_in_double(uniform_draws(layouts.mask, torch.Generator().manual_seed(seed)))
    noise, pace = process.noise_shares(layouts.mask), process.pace(layouts, 4)
    strides = process.strides(precise(time)[None], precise(earlier)[None])
    made = posterior_shares(state, predicted, noise, strides, None if pace is None else pace.double())
    share = process.edge_share(layouts.mask).item()
    for i, j in itertools.permutations(range(5), 2):
        own = 1.0 if pace is None else float(pace[0, i, j])
        expected = bayes(int(state.edges[0, i, j]), float(predicted.edges[0, i, j]), share, time, earlier, own)
        assert math.isclose(float(made.edges[0, i, j]), expected, abs_tol=1e-6), (i, j)
    for i in range(5):
        expected = bayes(int(state.parity[0, i]), float(predicted.parity[0, i]), 0.5, time, earlier, 0.7)
        assert math.isclose(float(made.parity[0, i]), expected, abs_tol=1e-6), i
    other = posterior_shares(
        flipped(state, layouts.mask), Graphs(predicted.edges, 1 - predicted.parity), noise, strides
    )
    assert torch.allclose(other.parity, 1 - made.parity, atol=1e-9)
