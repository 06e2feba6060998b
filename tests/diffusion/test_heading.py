"""Noise that depends on the heading: the geometry it follows from, the process under it, and all that carries it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from manetdiff import Fleet, Radio
from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.generator import DiffusionGenerator, TrainingDraws, build
from manetdiff.diffusion.heading import AHEAD, LEAST_DISTANCE, LEAST_MARGIN, drift_risk
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.step import posterior_shares
from manetdiff.diffusion.transitions import at_pace, stride
from manetdiff.diffusion.weights import Weights, read_weights
from manetdiff.errors import CheckpointError, ModelError
from manetdiff.export.write import exported
from manetdiff.layout import Layout, pad
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.radio import link_tables
from manetdiff.runtime.bundle import Bundle, find_bundle, read_bundle
from manetdiff.runtime.chain import Chain, States
from manetdiff.runtime.model import Model
from manetdiff.runtime.partial import Mode
from manetdiff.sampling import SamplerConfig, chain_draws, plain_settings
from manetdiff.training.plan import Plan
from manetdiff.training.recipe import RECIPES
from manetdiff.weights import SMALL
from support.diffusion_samples import noised_share, precise, within_chance
from support.exported_chains import layout_pair, repeated, run_chain
from support.graph_samples import mask_of, perturbed, scattered_graphs, scattered_layouts, uniform_draws

Matrix = npt.NDArray[np.float64]

# So little that a line turns in proportion to it.
STEP = 1e-6
# Of a line from the border of a sector: closer ones may fall on either side of it in single precision.
CLEAR = 1e-3
counts = st.integers(2, 9)
sector_counts = st.sampled_from([1, 2, 3, 4, 6])
fleet_seeds = st.integers(0, 2**16)


def flying(n: int, seed: int) -> Fleet:
    """Nodes anywhere, heading anywhere."""
    rng = np.random.default_rng((seed, n))
    return Fleet(rng.normal(size=(n, 2)) * 900 + 4000, rng.uniform(-math.pi, math.pi, n))


def layouts_of(*fleets: Fleet, sectors: int = 4, n: int | None = None) -> Layouts:
    return Layouts.from_numpy(pad([Layout(fleet, Radio(sectors=sectors)).features for fleet in fleets], n))


def risk_of(fleet: Fleet, sectors: int = 4) -> Matrix:
    risk: Matrix = drift_risk(layouts_of(fleet, sectors=sectors), sectors)[0].double().numpy()
    return risk


def bearings(positions: Matrix) -> Matrix:
    offset = positions[None, :, :] - positions[:, None, :]
    return np.arctan2(offset[..., 1], offset[..., 0])


def turned_by(fleet: Fleet) -> Matrix:
    """By how much each line turns while both ends move on by AHEAD spreads at the rate of the first tiny step."""
    along = np.column_stack([np.cos(fleet.yaw), np.sin(fleet.yaw)])
    step = bearings(fleet.positions + STEP * fleet.spread * along) - bearings(fleet.positions)
    wrapped: Matrix = np.arctan2(np.sin(step), np.cos(step))
    return AHEAD / STEP * wrapped


def room(fleet: Fleet, sectors: int, turned: Matrix) -> Matrix:
    """How far each line can still turn its way before it leaves the sector at its first end."""
    width = 2 * math.pi / sectors
    ahead = bearings(fleet.positions) - fleet.yaw[:, None]
    # Every border there is, and the first of them on the way.
    borders = width * (np.arange(sectors) + 0.5)
    ways = np.sign(turned)[..., None] * (borders - ahead[..., None])
    return np.asarray(np.mod(ways, 2 * math.pi).min(-1))


def keeps_clear_of_borders(fleet: Fleet, sectors: int) -> bool:
    width = 2 * math.pi / sectors
    ahead = bearings(fleet.positions) - fleet.yaw[:, None]
    into = np.mod(ahead + width / 2, width)
    near = np.minimum(into, width - into)
    return bool((near[~np.eye(len(fleet), dtype=np.bool_)] > CLEAR).all())


class TestTheRisk:
    @given(counts, fleet_seeds, sector_counts)
    @settings(max_examples=100)
    def test_is_what_moving_the_nodes_a_little_says(self, n: int, seed: int, sectors: int) -> None:
        fleet = flying(n, seed)
        assume(keeps_clear_of_borders(fleet, sectors))
        turned = turned_by(fleet)
        margin = room(fleet, sectors, turned)
        risk = risk_of(fleet, sectors)
        for i, j in itertools.permutations(range(n), 2):
            expected = min(1.0, abs(turned[i, j]) / min(margin[i, j], margin[j, i]))
            assert math.isclose(risk[i, j], expected, abs_tol=2e-3), (i, j)

    @given(counts, fleet_seeds, st.sampled_from([2, 3, 4, 6]))
    def test_is_counted_to_where_the_radio_takes_another_antenna(self, n: int, seed: int, sectors: int) -> None:
        """Or else the test above would share a wrong idea of where the borders are."""
        fleet, radio = flying(n, seed), Radio(sectors=sectors)
        assume(keeps_clear_of_borders(fleet, sectors))
        now = link_tables(fleet, radio).sector
        turned = turned_by(fleet)
        margin = room(fleet, sectors, turned)
        for i in range(n):
            j = (i + 1) % n
            for share, same in ((0.999, True), (1.001, False)):
                # A line that turns one way in the frame of a node is a node that turns the other way.
                yaw = fleet.yaw - np.sign(turned[i, j]) * share * margin[i, j]
                assert (link_tables(fleet.replace(yaw=yaw), radio).sector[i, j] == now[i, j]) == same

    @given(st.lists(counts, min_size=1, max_size=3), fleet_seeds, sector_counts)
    def test_is_symmetric_from_0_to_1_and_0_on_the_diagonal_and_at_padding(
        self, sizes: list[int], seed: int, sectors: int
    ) -> None:
        layouts = layouts_of(*(flying(n, seed + n) for n in sizes), sectors=sectors, n=11)
        risk = drift_risk(layouts, sectors)
        assert risk.shape == (len(sizes), 11, 11)
        assert torch.equal(risk, risk.transpose(1, 2))
        assert bool(((risk >= 0) & (risk <= 1)).all())
        assert not risk[~layouts.pair_mask].any()
        # Nor anywhere else, whatever stands at places that mean nothing.
        junk = torch.where(layouts.pair_mask[..., None], layouts.pair, torch.rand(layouts.pair.shape) + 0.1)
        node = torch.where(layouts.mask[..., None], layouts.node, torch.rand(layouts.node.shape))
        assert torch.equal(drift_risk(layouts._replace(pair=junk, node=node), sectors), risk)
        for row, n in enumerate(sizes):
            fleet = flying(n, seed + n)
            if keeps_clear_of_borders(fleet, sectors):
                np.testing.assert_allclose(risk[row, :n, :n].numpy(), risk_of(fleet, sectors), atol=2e-3)

    @given(counts, fleet_seeds, st.floats(-math.pi, math.pi))
    def test_is_nothing_where_all_fly_the_same_way(self, n: int, seed: int, yaw: float) -> None:
        fleet = flying(n, seed).replace(yaw=np.full(n, yaw))
        assume(keeps_clear_of_borders(fleet, 4))
        assert risk_of(fleet).max() < 1e-3

    @given(counts, fleet_seeds, st.floats(-math.pi, math.pi), st.floats(0.01, 100))
    def test_is_the_same_wherever_the_fleet_is_and_whatever_way_it_is_turned(
        self, n: int, seed: int, turn: float, scale: float
    ) -> None:
        fleet = flying(n, seed)
        assume(keeps_clear_of_borders(fleet, 4))
        cos, sin = math.cos(turn), math.sin(turn)
        moved = scale * fleet.positions @ np.array([[cos, sin], [-sin, cos]]) + 300.0
        np.testing.assert_allclose(risk_of(fleet.replace(moved, fleet.yaw + turn)), risk_of(fleet), atol=2e-3)
        mirrored = fleet.replace(fleet.positions * [1.0, -1.0], -fleet.yaw)
        np.testing.assert_allclose(risk_of(mirrored), risk_of(fleet), atol=2e-3)

    def test_of_known_pairs(self) -> None:
        # Two nodes are 2√2 spreads apart; one that is abeam is in the middle of its sector, 45° from either border.
        abeam = [[0.0, 0.0], [0.0, 500.0]]
        opposite = 2 * AHEAD / math.sqrt(8) / (math.pi / 4)
        for yaw, expected in (
            ([0.0, math.pi], opposite),
            ([math.pi, 0.0], opposite),
            ([0.3, 0.3], 0.0),
            # Head on, tail to tail, or one after the other: the line does not turn.
            ([math.pi / 2, -math.pi / 2], 0.0),
            ([-math.pi / 2, math.pi / 2], 0.0),
            ([math.pi / 2, math.pi / 2], 0.0),
            # Only one of them flies across the line; both are in the middle of a sector.
            ([0.0, math.pi / 2], opposite / 2),
        ):
            assert risk_of(Fleet(abeam, yaw))[0, 1] == pytest.approx(expected, abs=1e-6)

    def test_follows_the_end_that_leaves_first(self) -> None:
        # The first node's line is 5° before the border that it turns to, the second one's is 40° before its own.
        yaw = np.radians([90.0 - 40.0, -90.0 - 5.0])
        fleet = Fleet([[0.0, 0.0], [0.0, 500.0]], yaw)
        turned = turned_by(fleet)
        margin = room(fleet, 4, turned)
        ends = sorted(np.degrees([margin[0, 1], margin[1, 0]]))
        assert ends[1] - ends[0] > 20
        assert risk_of(fleet)[0, 1] == pytest.approx(abs(turned[0, 1]) / math.radians(ends[0]), rel=1e-3)

    def test_of_a_line_that_turns_away_from_a_border_is_small(self) -> None:
        # 1° from one border and 89° from the other; which of them counts is for the second node's way to say.
        near, far = (
            risk_of(Fleet([[0.0, 0.0], [500.0, 0.0]], np.radians([44.0, across])))[0, 1] for across in (-90.0, 90.0)
        )
        assert near == 1
        assert 0 < far < 0.2

    def test_is_a_number_on_a_border_and_for_nodes_at_almost_the_same_place(self) -> None:
        on_border = Fleet([[0.0, 0.0], [500.0, 500.0], [-500.0, 500.0]], np.array([0.0, 1e-4, math.pi / 2]))
        close = Fleet([[0.0, 0.0], [1e-5, 0.0], [500.0, 200.0]], np.array([1.0, 2.0, 3.0]))
        for fleet in (on_border, close):
            risk = risk_of(fleet)
            assert np.isfinite(risk).all()
            assert risk.max() <= 1
        # On the border, but hardly turning: the margin is not taken for nothing.
        assert risk_of(on_border)[0, 1] < 0.1
        # That close, a sideways move of a tenth of the spread is more than any sector.
        assert risk_of(close)[0, 1] == 1
        assert LEAST_MARGIN > 0
        assert LEAST_DISTANCE > 0


class TestThePace:
    def test_is_one_for_all_unless_a_heading_is_asked_for(self) -> None:
        layouts = layouts_of(flying(6, 1))
        assert Process(2.5).heading == 0
        assert Process(2.5).pace(layouts, 4) is None
        assert Process(2.5, heading=0).pace(layouts, 4) is None

    @pytest.mark.parametrize("sectors", [3, 4])
    def test_is_faster_by_the_risk_and_no_faster_at_padding(self, sectors: int) -> None:
        layouts = layouts_of(flying(6, 1), flying(4, 1), sectors=sectors, n=8)
        pace = Process(2.5, heading=3.0).pace(layouts, sectors)
        assert pace is not None
        torch.testing.assert_close(pace, 1 + 3 * drift_risk(layouts, sectors), rtol=0, atol=1e-6)
        assert bool((pace[~layouts.pair_mask] == 1).all())
        assert pace.max() > 1.5

    @pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, True, "3", None])
    def test_of_a_heading_that_makes_no_sense_is_refused(self, value: object) -> None:
        with pytest.raises(ModelError, match="heading"):
            Process.from_dict({"mean_degree": 3.0, "heading": value})

    @given(
        st.one_of(
            st.tuples(st.floats(0.01, 1), st.floats(0, 0.99)).map(lambda drawn: (drawn[0], drawn[0] * drawn[1])),
            # As short as steps may get, and from pure noise to the clean state.
            st.floats(0.01, 0.99).map(lambda time: (time, time - 1e-4)),
            st.just((1.0, 0.0)),
        ),
        st.floats(1, 8),
    )
    @settings(max_examples=200)
    def test_raises_the_schedule_to_a_power(self, moments: tuple[float, float], pace: float) -> None:
        time, earlier = (torch.tensor(moment) for moment in moments)
        kept_t, kept_s = (alpha_bar(moment.double()).item() ** pace for moment in (time, earlier))
        made = at_pace(stride(time, earlier), torch.tensor(pace))
        kept = kept_t / kept_s
        assert math.isclose(made.kept.item(), kept, abs_tol=1e-6)
        assert math.isclose(made.earlier.item(), kept_s, rel_tol=1e-4, abs_tol=1e-7)
        # Of a short step little is lost: what there is must be right by itself, not only to the rounding of 1.
        pace_of_single = torch.tensor(pace).double().item()
        lost = -math.expm1(pace_of_single * math.log(alpha_bar(time.double()) / alpha_bar(earlier.double())))
        assert math.isclose(made.lost.item(), lost, rel_tol=1e-5)

    def test_of_one_changes_nothing(self) -> None:
        between = stride(torch.tensor([1.0, 0.6, 0.02]), torch.tensor([0.9, 0.3, 0.0]))
        for made, was in zip(at_pace(between, torch.ones(3)), between, strict=True):
            torch.testing.assert_close(made, was, rtol=1e-6, atol=1e-7)


class TestTheProcess:
    N = 6

    def _paced(self, heading: float = 4.0) -> tuple[Process, Layouts, Tensor]:
        process, layouts = (
            Process(2.0, noise_redundancy=1.5, parity_pace=0.7, heading=heading),
            layouts_of(flying(6, 6)),
        )
        pace = process.pace(layouts, 4)
        assert pace is not None
        # Or else a pace that is not heard of would go unnoticed.
        off_diagonal = pace[0][~torch.eye(self.N, dtype=torch.bool)]
        assert off_diagonal.max() - off_diagonal.min() > 2
        return process, layouts, pace

    @pytest.mark.parametrize("time", [0.2, 0.5, 0.8])
    def test_noises_each_pair_as_often_as_its_pace_says(self, time: float) -> None:
        trials, n = 4000, self.N
        process, layouts, pace = self._paced()
        one = scattered_graphs(layouts, density=0.5)
        mask = mask_of([n]).expand(trials, n)
        clean = Graphs(one.edges.expand(trials, n, n), one.parity.expand(trials, n))
        draws = uniform_draws(mask, torch.Generator().manual_seed(3))
        noised = process.noised(clean, torch.full((trials,), time), draws, mask, pace)
        plain = process.noised(clean, torch.full((trials,), time), draws, mask)
        share = process.edge_share(mask)[0].item()
        differs = 0
        for i, j in itertools.combinations(range(n), 2):
            count, own = noised.edges[:, i, j].sum().item(), float(pace[0, i, j])
            clean_edge = one.edges[0, i, j].double()
            expected = noised_share(clean_edge, share, precise(time), pace=own).item()
            assert within_chance(count, expected, trials), (i, j)
            differs += not within_chance(count, noised_share(clean_edge, share, precise(time)).item(), trials)
        assert differs > 0
        # Parity has no heading.
        assert torch.equal(noised.parity, plain.parity)

    def test_ends_in_the_same_noise_and_begins_at_the_same_graph(self) -> None:
        process, layouts, pace = self._paced()
        clean = scattered_graphs(layouts)
        draws = uniform_draws(layouts.mask, torch.Generator().manual_seed(1))
        begun = process.noised(clean, torch.zeros(1), draws, layouts.mask, pace)
        assert torch.equal(begun.edges, clean.edges)
        ended = process.noised(clean, torch.ones(1), draws, layouts.mask, pace)
        assert torch.equal(ended.edges, process.pure_noise(draws, layouts.mask).edges)

    @given(fleet_seeds, st.floats(0.05, 1), st.floats(0, 0.95), st.floats(0.5, 6))
    @settings(max_examples=20)
    def test_goes_back_by_bayes_rule_at_each_pair_s_own_pace(
        self, seed: int, time: float, part: float, heading: float
    ) -> None:
        process, layouts = (
            Process(2.0, noise_redundancy=1.5, parity_pace=0.7, heading=heading),
            layouts_of(flying(5, seed)),
        )
        pace = process.pace(layouts, 4)
        assert pace is not None
        state, earlier = scattered_graphs(layouts, seed, 0.5), part * time
        generator = torch.Generator().manual_seed(seed)
        predicted = Graphs(*(numbers.double() for numbers in uniform_draws(layouts.mask, generator)))
        given_state = Graphs(state.edges.double(), state.parity.double())
        later, before = (torch.tensor([moment], dtype=torch.float64) for moment in (time, earlier))
        strides = process.strides(later, before)
        made = posterior_shares(given_state, predicted, process.noise_shares(layouts.mask), strides, pace.double())
        share = process.edge_share(layouts.mask).item()
        for i, j in itertools.permutations(range(5), 2):
            own = float(pace[0, i, j])
            expected = bayes(int(state.edges[0, i, j]), float(predicted.edges[0, i, j]), share, time, earlier, own)
            assert math.isclose(float(made.edges[0, i, j]), expected, abs_tol=1e-6), (i, j)
        for i in range(5):
            expected = bayes(int(state.parity[0, i]), float(predicted.parity[0, i]), 0.5, time, earlier, 0.7)
            assert math.isclose(float(made.parity[0, i]), expected, abs_tol=1e-6), i


def bayes(state: int, predicted: float, share: float, time: float, earlier: float, pace: float) -> float:
    """p(x_s = 1 | x_t), by summing over every x_0 and x_s."""
    kept_t, kept_s = (alpha_bar(precise(moment)).item() ** pace for moment in (time, earlier))

    def likely(before: int, after: int, kept: float) -> float:
        return kept * (before == after) + (1 - kept) * (share if after else 1 - share)

    total = 0.0
    for clean, weight in ((0, 1 - predicted), (1, predicted)):
        joint = [likely(clean, between, kept_s) * likely(between, state, kept_t / kept_s) for between in (0, 1)]
        total += weight * joint[1] / sum(joint)
    return total


# Exporting takes longest, so that one network stands for both of what is new in them: its pace, and its ReLUs.
CONFIG = ModelConfig(width=8, blocks=1, tokens=2, activation="relu")
PROCESS = Process(2.5, noise_redundancy=1.7, parity_pace=0.6, heading=5.0)
# As many pairs are likely to be linked as not: then what is sampled hangs on every number.
SAMPLING = SamplerConfig(steps=6, redundancy=1.3, temperature=0.7)


def _weights(process: Process = PROCESS) -> Weights:
    model = perturbed(lambda: build(CONFIG, process))
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return Weights(CONFIG, process, Radio(), tensors, SAMPLING, {"note": "ours"})


WEIGHTS = _weights()


def generator_of(weights: Weights = WEIGHTS) -> DiffusionGenerator:
    model = weights.build()
    assert isinstance(model, DiffusionGenerator)
    return model


class TestTheModel:
    def test_in_its_file_keeps_its_heading(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.safetensors"
        path.write_bytes(WEIGHTS.to_bytes())
        read = read_weights(path)
        assert read.process == PROCESS
        assert generator_of(read).process.heading == 5.0
        assert read.config.activation == "relu"

    def test_of_a_time_before_headings_has_none(self) -> None:
        old = {name: value for name, value in PROCESS.to_dict().items() if name != "heading"}
        assert Process.from_dict(old) == dataclasses.replace(PROCESS, heading=0.0)
        plan = Plan(CONFIG, RECIPES["fast"], heading=2.0)
        assert Plan.from_dict(plan.to_dict()) == plan
        before = {name: value for name, value in plan.to_dict().items() if name != "heading"}
        assert Plan.from_dict(before) == dataclasses.replace(plan, heading=0.0)

    def test_learns_from_graphs_that_are_noised_at_the_pace(self) -> None:
        generator, layouts = generator_of(), scattered_layouts([7, 5], n=8)
        clean, b = scattered_graphs(layouts), 2
        uniform = uniform_draws(layouts.mask, torch.Generator().manual_seed(1))
        draws = TrainingDraws(torch.tensor([0.3, 0.6]), uniform, torch.zeros(b, 8, CONFIG.latent))
        seen: list[Graphs] = []
        hook = generator.denoiser.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
        generator.loss_terms(layouts, clean, draws, LossWeights())
        hook.remove()
        (noisy,) = seen
        wanted = PROCESS.noised(clean, draws.time, uniform, layouts.mask, PROCESS.pace(layouts, 4))
        assert torch.equal(noisy.edges, wanted.edges)
        assert not torch.equal(noisy.edges, PROCESS.noised(clean, draws.time, uniform, layouts.mask).edges)

    def test_samples_at_the_pace_whatever_the_batch(self) -> None:
        generator = generator_of()
        mixed, seeds = scattered_layouts([9, 5, 7]), [(4, 0), (4, 1), (4, 2)]
        together = generator.sample(mixed, seeds, SAMPLING)
        for row, n in enumerate((9, 5, 7)):
            alone = generator.sample(scattered_layouts([n]), [seeds[row]], SAMPLING)
            assert torch.equal(together.edges[row, :n, :n], alone.edges[0])
            assert not together.edges[row, n:].any()
        plain = generator_of(_weights(dataclasses.replace(PROCESS, heading=0.0))).sample(mixed, seeds, SAMPLING)
        assert not torch.equal(together.edges, plain.edges)


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return exported("paced", WEIGHTS)


@pytest.fixture(scope="module")
def chain(bundle: Bundle) -> Chain:
    return Chain(bundle)


@pytest.mark.slow
class TestExported:
    @pytest.mark.parametrize("n", [2, 3, 7, 16])
    def test_the_pace_is_the_process_s(self, chain: Chain, n: int) -> None:
        layouts, features = layout_pair(n, seed=4)
        made, wanted = chain.embed(features).arrays["pace"], PROCESS.pace(layouts, 4)
        assert wanted is not None
        assert made.shape == (1, n, n)
        np.testing.assert_allclose(made, wanted.numpy(), atol=5e-3)

    def test_the_pace_is_right_for_lines_straight_ahead_abeam_and_behind(self, chain: Chain) -> None:
        # There the arctangent has its special cases; no line is near a border.
        positions = [[float(x), float(y)] for x in (0, 1, 2) for y in (0, 3)]
        fleet = Fleet(positions, np.radians([0.0, 90.0, 180.0, -90.0, 0.0, 180.0]))
        assert keeps_clear_of_borders(fleet, 4)
        made = chain.embed(Layout(fleet, Radio()).features).arrays["pace"]
        wanted = PROCESS.pace(layouts_of(fleet), 4)
        assert wanted is not None
        np.testing.assert_allclose(made, wanted.numpy(), atol=1e-4)

    # A share within rounding of the number drawn could fall on either side; with these seeds none does.
    @pytest.mark.parametrize("decide", [True, False])
    @pytest.mark.parametrize("n", [2, 5, 12])
    def test_a_chain_ends_in_the_graphs_of_the_sampler_at_that_pace(self, chain: Chain, n: int, decide: bool) -> None:
        generator, seeds = generator_of(), [(11, k) for k in range(4)]
        layouts, features = layout_pair(n)
        sampling = dataclasses.replace(SAMPLING, decide=decide)
        all_layouts = repeated(layouts, len(seeds))
        embedded = generator.denoiser.embed_layouts(all_layouts)
        rounds = layout_draws(seeds, [n] * len(seeds), sampling.steps, decide=decide)

        @torch.no_grad()
        def sampled(pace: Tensor | None) -> Graphs:
            return Sampler(PROCESS, sampling).sample(
                lambda state, time: generator.denoiser.predict(embedded, state, time), all_layouts.mask, rounds, pace
            )

        wanted, made = sampled(PROCESS.pace(all_layouts, 4)), run_chain(chain, features, seeds, sampling)
        assert np.array_equal(made.edges, wanted.edges.numpy())
        assert np.array_equal(made.parity, wanted.parity.numpy())
        if n == 12:
            assert not torch.equal(wanted.edges, sampled(None).edges)
        if decide:
            assert torch.equal(generator.sample(all_layouts, seeds, sampling).edges, wanted.edges)

    def test_noise_on_a_graph_comes_at_the_pace(self, chain: Chain) -> None:
        n, b = 7, 5
        layouts, features = layout_pair(n)
        layout, clean = chain.embed(features), scattered_graphs(layouts)
        drawn = chain_draws([(k,) for k in range(b)], n, 1, decide=False)
        draws = Graphs(torch.from_numpy(drawn.edges[0]), torch.from_numpy(drawn.parity[0]))
        many = Graphs(clean.edges.expand(b, n, n), clean.parity.expand(b, n))
        mask, pace = mask_of([n] * b), PROCESS.pace(layouts, 4)
        given_clean = States(clean.edges.numpy(), clean.parity.numpy())
        for time in (0.0, 0.2, 0.6, 1.0):
            made = chain.noised(layout, layout.noise, given_clean, time, drawn)
            wanted = PROCESS.noised(many, torch.full((b,), time), draws, mask, pace)
            assert np.array_equal(made.edges, wanted.edges.numpy())
            assert np.array_equal(made.parity, wanted.parity.numpy())
        halfway = torch.full((b,), 0.6)
        one, other = (PROCESS.noised(many, halfway, draws, mask, each) for each in (pace, None))
        assert not torch.equal(one.edges, other.edges)

    @pytest.mark.parametrize("n", [2, 7, 16])
    @torch.no_grad()
    def test_a_network_of_relus_is_the_same_function(self, chain: Chain, n: int) -> None:
        generator = generator_of()
        layouts, features = layout_pair(n)
        layout, graphs = chain.embed(features), scattered_graphs(layouts)
        embedded, off_diagonal = generator.denoiser.embed_layouts(layouts), ~torch.eye(n, dtype=torch.bool)
        start, draws = States(graphs.edges.numpy(), graphs.parity.numpy()), chain_draws([(0,)], n, 1, decide=False)
        for time in (1.0, 0.37, 0.02):
            wanted = generator.denoiser.predict(embedded, graphs, torch.tensor([time]))
            # Hot, so that log-odds of any size show in the shares.
            settings = plain_settings(n, 10.0, 1.0)
            made = chain.run(layout, layout.noise, start, [(time, time / 2)], draws, settings)
            edges, parity = torch.from_numpy(made.edge_shares), torch.from_numpy(made.parity_shares)
            hoped = torch.sigmoid(wanted.edges / 10)
            torch.testing.assert_close(edges[:, off_diagonal], hoped[:, off_diagonal], rtol=0, atol=1e-4)
            torch.testing.assert_close(parity, torch.sigmoid(wanted.parity / 10), rtol=0, atol=1e-4)

    def test_a_bundle_comes_back_from_its_file_and_generates_and_updates(self, bundle: Bundle, tmp_path: Path) -> None:
        path = tmp_path / "paced.netdiff"
        path.write_bytes(bundle.to_bytes())
        assert read_bundle(path) == bundle
        model, fleet = Model(read_bundle(path), threads=1), flying(8, 2)
        made = model.generate(fleet, steps=3)
        nudged = fleet.replace(fleet.positions + 0.05 * fleet.spread * np.random.default_rng(0).normal(size=(8, 2)))
        modes: tuple[Mode, ...] = ("minor", "standard", "guided", "anew")
        for mode in modes:
            assert len(model.update(made, nudged, mode=mode, steps=3)) == 8


class TestPackaged:
    @pytest.mark.parametrize("name", ["noise", "step"])
    def test_functions_that_do_not_agree_on_the_pace_are_refused(self, name: str) -> None:
        paced, plain = find_bundle("netdiff-heading"), find_bundle(SMALL)
        for one, other in ((paced, plain), (plain, paced)):
            mixed = Chain(dataclasses.replace(one, graphs={**one.graphs, name: other.graphs[name]}))
            with pytest.raises(CheckpointError, match=f"{one.name}: its function '{name}' does not take"):
                run_chain(mixed, layout_pair(5)[1], [(1, 1)], SAMPLING)
