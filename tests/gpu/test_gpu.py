"""Large batches: their random numbers, the chain that is captured, and the topologies that come out.

There is no GPU here: the device is a CPU, and where a chain is captured tests/support/fake_cuda.py stands in for CUDA.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from manetdiff import Fleet, Radio, metrics
from manetdiff.data import load_benchmark
from manetdiff.diffusion.generator import DiffusionGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import CheckpointError, FleetError, ModelError
from manetdiff.gpu import BatchModel, load
from manetdiff.gpu.captured import BEFORE_CAPTURE, BatchChain
from manetdiff.gpu.uniform import BITS, GOLDEN, _mixed, uniform_round
from manetdiff.layout import Layout
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import SamplerConfig, StepSettings
from manetdiff.scenarios import draw
from manetdiff.topology import Topology, out_of_range
from support.fake_cuda import FakeCuda
from support.graph_samples import perturbed, scattered_layouts

CPU = torch.device("cpu")


def flat(numbers: Graphs) -> npt.NDArray[np.float64]:
    """(b, n² + n): the numbers of each graph, edges first."""
    return np.concatenate([part.flatten(1).double().numpy() for part in numbers], axis=1)


class TestNumbers:
    N = 24
    # (rounds, seeds, places): seeds that follow each other, as the worst that could be given.
    ALL = np.stack([flat(uniform_round(torch.arange(100), torch.tensor(k), 24)) for k in range(5)])

    def test_are_those_of_the_published_generator(self) -> None:
        # SplitMix64 from the seed 1234567, as its users check it.
        known = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
        made = _mixed(1234567 + GOLDEN * torch.arange(1, len(known) + 1))
        assert [value % 2**64 for value in made.tolist()] == list(known)

    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
    def test_are_mixed_as_whole_numbers_of_python_would_be(self, values: list[int]) -> None:
        """Those never wrap around by themselves, and have no sign to bring along."""
        made = _mixed(torch.tensor(values, dtype=torch.int64)).tolist()
        assert [value % 2**64 for value in made] == [_mixed_by_python(value) for value in values]

    def test_are_spread_evenly_from_0_to_1(self) -> None:
        numbers, count = self.ALL.ravel(), self.ALL.size
        assert numbers.min() >= 0
        assert numbers.max() < 1
        assert abs(numbers.mean() - 1 / 2) < 5 * math.sqrt(1 / 12 / count)
        assert abs(numbers.var() - 1 / 12) < 5 * math.sqrt(1 / 180 / count)
        bins = 256
        filled = np.bincount((numbers * bins).astype(np.int64), minlength=bins)
        chi_square = float(((filled - count / bins) ** 2).sum() / (count / bins))
        assert abs(chi_square - (bins - 1)) < 5 * math.sqrt(2 * (bins - 1))

    def test_have_bits_that_are_as_often_1_as_0(self) -> None:
        whole = (self.ALL.ravel() * 2**BITS).astype(np.int64)
        assert np.array_equal(whole / 2**BITS, self.ALL.ravel())
        for bit in range(BITS):
            ones = int(((whole >> bit) & 1).sum())
            assert abs(ones - whole.size / 2) < 5 * math.sqrt(whole.size / 4), bit

    @pytest.mark.parametrize("axis", [0, 1, 2], ids=["rounds", "seeds", "places"])
    def test_say_nothing_of_the_next_round_seed_or_place(self, axis: int) -> None:
        one = np.take(self.ALL, range(self.ALL.shape[axis] - 1), axis) - 0.5
        other = np.take(self.ALL, range(1, self.ALL.shape[axis]), axis) - 0.5
        assert abs(12 * (one * other).mean()) < 5 / math.sqrt(one.size)
        # Not only on the whole: every part of the range is followed by every other as often.
        bins = 16
        both = ((one + 0.5) * bins).astype(np.int64) * bins + ((other + 0.5) * bins).astype(np.int64)
        filled, expected = np.bincount(both.ravel(), minlength=bins**2), both.size / bins**2
        chi_square = float(((filled - expected) ** 2).sum() / expected)
        assert abs(chi_square - (bins**2 - 1)) < 5 * math.sqrt(2 * (bins**2 - 1))
        # Two of 24 bits are the same now and then.
        assert (one == other).sum() <= 3

    def test_differ_wherever_they_are(self) -> None:
        count = self.ALL.size
        twice = count - len(np.unique(self.ALL))
        # So many meet by chance: a birthday in 2^24 days.
        expected = count**2 / 2 ** (BITS + 1)
        assert abs(twice - expected) < 6 * math.sqrt(expected)

    def test_are_the_same_whatever_the_batch(self) -> None:
        seeds = torch.tensor([5, 2**62 + 11, 0, 7])
        together = uniform_round(seeds, torch.tensor(3), 6)
        assert (together.edges.shape, together.parity.shape) == ((4, 6, 6), (4, 6))
        assert together.edges.dtype == torch.float32
        for row in range(4):
            alone = uniform_round(seeds[row : row + 1], torch.tensor(3), 6)
            assert torch.equal(alone.edges[0], together.edges[row])
            assert torch.equal(alone.parity[0], together.parity[row])


def _mixed_by_python(state: int) -> int:
    bits = state % 2**64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
    return bits ^ (bits >> 31)


def generator_of(heading: float = 0.0) -> DiffusionGenerator:
    """Small, and with noise on all parameters: fresh ones hide parts of a network behind zeros."""
    process = Process(2.5, noise_redundancy=1.7, parity_pace=0.6, heading=heading)
    return perturbed(lambda: DiffusionGenerator(ModelConfig(width=8, blocks=1, tokens=2), process))


def several_layouts(n: int, first: int, count: int) -> Layouts:
    """So many different layouts of n nodes."""
    parts = [scattered_layouts([n], seed) for seed in range(first, first + count)]
    return Layouts(*(torch.cat(some) for some in zip(*parts, strict=True)))


SAMPLING = SamplerConfig(steps=4, redundancy=1.3, temperature=0.7)
SEEDS = torch.tensor([3, 99, 2**61 + 5])


class TestTheChain:
    @pytest.mark.parametrize("heading", [0.0, 5.0])
    @pytest.mark.parametrize("decide", [True, False])
    # With so much redundancy some pairs are linked, and others are not: all that counts has a say.
    @pytest.mark.parametrize(("grid", "redundancy"), [("linear", 1.3), ("late", 1.8)])
    @torch.no_grad()
    def test_is_the_sampler_with_these_numbers(
        self, heading: float, decide: bool, grid: Any, redundancy: float
    ) -> None:
        generator, layouts, n = generator_of(heading), several_layouts(7, 0, 3), 7
        sampling = dataclasses.replace(SAMPLING, decide=decide, grid=grid, redundancy=redundancy)
        rounds = [uniform_round(SEEDS, torch.tensor(k), n) for k in range(sampling.steps + 1)]
        if decide:
            rounds[-1] = Graphs(torch.full((3, n, n), 0.5), torch.full((3, n), 0.5))
        embedded = generator.denoiser.embed_layouts(layouts)
        wanted = Sampler(generator.process, sampling).sample(
            lambda state, time: generator.denoiser.predict(embedded, state, time),
            layouts.mask,
            rounds,
            generator.process.pace(layouts, 4),
        )
        made = BatchChain(generator, CPU).sample(layouts, SEEDS, sampling)
        for one, other in zip(made, wanted, strict=True):
            assert torch.equal(one, other)
        assert 0 < made.edges.mean() < 1 - 1 / n
        assert not torch.equal(made.edges[0], made.edges[1])

    @torch.no_grad()
    def test_is_the_sampler_under_a_guide_and_a_bias_of_each_pair(self) -> None:
        generator, layouts, n = generator_of(), several_layouts(7, 0, 3), 7
        rng = torch.Generator().manual_seed(1)
        bias, guide, weight = (part + part.transpose(1, 2) for part in torch.rand(3, 1, n, n, generator=rng))
        settings = StepSettings(torch.tensor(0.7), bias - 1, guide.round(), 3 * weight)
        sampling = dataclasses.replace(SAMPLING, decide=False)
        rounds = [uniform_round(SEEDS, torch.tensor(k), n) for k in range(sampling.steps + 1)]
        embedded, sampler = generator.denoiser.embed_layouts(layouts), Sampler(generator.process, sampling)
        wanted = sampler.sample(
            lambda state, time: generator.denoiser.predict(embedded, state, time),
            layouts.mask,
            rounds,
            settings=settings,
        )
        chain = BatchChain(generator, CPU)
        made = chain.sample(layouts, SEEDS, sampling, settings)
        assert torch.equal(made.edges, wanted.edges) and torch.equal(made.parity, wanted.parity)
        for field in ("edge_bias", "guide"):
            other = settings._replace(**{field: getattr(chain.settings_for(sampling), field)})
            assert not torch.equal(chain.sample(layouts, SEEDS, sampling, other).edges, made.edges), field

    def test_asks_for_no_gradients_and_computes_in_half_only_where_asked(self) -> None:
        chain = BatchChain(generator_of(), CPU)
        assert not chain.half
        assert not any(parameter.requires_grad for parameter in chain.generator.parameters())
        assert not chain.generator.training
        layouts = scattered_layouts([7, 7, 7])
        seen: list[torch.dtype] = []
        halved = BatchChain(generator_of(), CPU, half=True)
        for one in (chain, halved):
            block = one.generator.denoiser.blocks[0].from_nodes
            assert isinstance(block, torch.nn.Linear)
            block.register_forward_hook(lambda _, given, made: seen.append(made.dtype))
            one.sample(layouts, SEEDS, dataclasses.replace(SAMPLING, steps=1))
        assert seen == [torch.float32, torch.bfloat16]


ASIDE = ["side waits for main", *["chain on side"] * BEFORE_CAPTURE, "main waits for side"]
RECORDED = ["chain on capture", "replay"]


class TestCapturing:
    @pytest.fixture
    def cuda(self, monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
        return FakeCuda(monkeypatch)

    @pytest.fixture
    def chain(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> BatchChain:
        """Captured as on a GPU, but not compiled; its runs appear among the events."""
        made = BatchChain(generator_of(heading=5.0), CPU)
        made.on_gpu = True
        run = made._chain

        def noted(*given_: Any) -> Graphs:
            cuda.events.append(f"chain on {cuda.current.name}")
            return run(*given_)

        monkeypatch.setattr(made, "_chain", noted)
        return made

    @staticmethod
    def _given(n: int, first: int, count: int = 2) -> tuple[Layouts, Tensor]:
        """Layouts and seeds that are others for another `first`."""
        return several_layouts(n, first, count), torch.arange(count) + 1000 * first

    def test_comes_after_a_few_chains_aside_and_once_for_each_shape(self, chain: BatchChain, cuda: FakeCuda) -> None:
        assert BEFORE_CAPTURE > 0
        chain.sample(*self._given(6, 0), SAMPLING)
        assert cuda.events == [*ASIDE, *RECORDED]
        for first in (1, 2, 0):
            cuda.events.clear()
            chain.sample(*self._given(6, first), SAMPLING)
            assert cuda.events == ["replay"]
        others: list[tuple[tuple[Layouts, Tensor], SamplerConfig]] = [
            (self._given(5, 0), SAMPLING),
            (self._given(6, 0, count=4), SAMPLING),
            (self._given(6, 0), dataclasses.replace(SAMPLING, steps=2)),
            # As long as the first, but not the same numbers on the way.
            (self._given(6, 0), dataclasses.replace(SAMPLING, redundancy=5.0)),
        ]
        for given_, sampling in others:
            cuda.events.clear()
            chain.sample(*given_, sampling)
            assert cuda.events == [*ASIDE, *RECORDED]
        cuda.events.clear()
        for given_, sampling in [(self._given(6, 3), SAMPLING), *others]:
            chain.sample(*given_, sampling)
        assert cuda.events == ["replay"] * 5

    def test_changes_nothing_of_what_is_sampled(self, chain: BatchChain) -> None:
        plain, seen = BatchChain(generator_of(heading=5.0), CPU), set()
        # Back and forth between two shapes: each replay must find its own layouts and seeds, and no others.
        for n, first in ((6, 0), (6, 1), (5, 0), (6, 2), (5, 4), (6, 0)):
            layouts, seeds = self._given(n, first)
            made, wanted = chain.sample(layouts, seeds, SAMPLING), plain.sample(layouts, seeds, SAMPLING)
            for one, other in zip(made, wanted, strict=True):
                assert torch.equal(one, other), (n, first)
            seen.add(made.edges.numpy().tobytes())
        # All the same would have been the same, too.
        assert len(seen) == 5

    def test_heeds_the_guide_of_each_call(self, chain: BatchChain) -> None:
        plain, (layouts, seeds) = BatchChain(generator_of(heading=5.0), CPU), self._given(6, 0)
        for guide in (torch.zeros(1, 6, 6), torch.ones(1, 6, 6)):
            settings = chain.settings_for(SAMPLING)._replace(guide=guide, guide_weight=torch.full((1, 6, 6), 99.0))
            made, wanted = (one.sample(layouts, seeds, SAMPLING, settings) for one in (chain, plain))
            assert torch.equal(made.edges, wanted.edges)
            assert float(made.edges.sum()) == 2 * float(guide.sum() * 5 / 6)

    def test_leaves_what_it_was_given_alone(self, chain: BatchChain) -> None:
        given_, later = self._given(6, 0), self._given(6, 1)
        before = [part.clone() for part in (*given_[0], given_[1])]
        chain.sample(*given_, SAMPLING)
        chain.sample(*later, SAMPLING)
        assert all(torch.equal(one, other) for one, other in zip((*given_[0], given_[1]), before, strict=True))


BENCH = load_benchmark("bench16")[:12]


@pytest.fixture(scope="module")
def model() -> BatchModel:
    torch.set_num_threads(1)
    return load("netdiff-small", device="cpu", threads=2)


def drawn(n: int, seed: int = 0) -> Fleet:
    return draw("mixed", n, np.random.default_rng((seed, n)))


MIXED = (drawn(8), drawn(16), drawn(5), drawn(8, seed=1), drawn(3), drawn(16, seed=2), drawn(8, seed=3))
ASKED: tuple[dict[str, Any], ...] = (
    {"steps": 4, "correct": False},
    {"steps": 3, "samples": 3},
    {"steps": 2, "samples": 2, "polish": 50},
)


def scores(made: Sequence[Topology], fleets: Sequence[Fleet]) -> list[tuple[bool, float]]:
    """What the best sample is chosen by: whether all nodes are joined, and T."""
    of_each = [metrics(topology, fleet) for topology, fleet in zip(made, fleets, strict=True)]
    return [(bool(score["connected"]), float(score["throughput"])) for score in of_each]


class TestTheModel:
    @pytest.mark.parametrize("asked", ASKED, ids=str)
    def test_gives_the_same_topology_alone_and_in_any_batch(self, model: BatchModel, asked: dict[str, Any]) -> None:
        alone = [model.generate([fleet], seed=7, **asked)[0] for fleet in MIXED]
        assert [len(topology) for topology in alone] == [len(fleet) for fleet in MIXED]
        assert model.generate(MIXED, seed=7, **asked) == alone
        # In another order, with others around them.
        assert model.generate(MIXED[::-1], seed=7, **asked) == alone[::-1]
        assert model.generate(MIXED[2:6], seed=7, **asked) == alone[2:6]

    def test_gives_the_same_where_a_batch_must_be_cut(self, model: BatchModel, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = model.generate(MIXED, seed=7, steps=3, samples=3)
        monkeypatch.setattr("manetdiff.gpu.model.MOST_TOGETHER", 4)
        assert model.generate(MIXED, seed=7, steps=3, samples=3) == whole

    def test_gives_other_topologies_for_other_seeds(self, model: BatchModel) -> None:
        for correct in (True, False):
            seeds = (0, 1, 2, 3, 2**63 - 1)
            made = [model.generate([drawn(16)], seed=seed, steps=3, correct=correct)[0] for seed in seeds]
            assert len(set(made)) > 1
            assert model.generate([drawn(16)], seed=2, steps=3, correct=correct)[0] == made[2]

    def test_keeps_the_best_of_several_samples_of_which_the_first_is_the_only_one_of_one(
        self, model: BatchModel
    ) -> None:
        fleets = [layout.fleet for layout in BENCH]
        one, several = (model.generate(fleets, seed=5, steps=3, samples=count) for count in (1, 6))
        of_one, of_several = scores(one, fleets), scores(several, fleets)
        for few, many in zip(of_one, of_several, strict=True):
            assert many >= few
        # Better somewhere: samples of three steps differ.
        assert sum(many > few for few, many in zip(of_one, of_several, strict=True)) >= 2
        kept = [topology.report.kept for topology in several]
        assert len(set(kept)) > 1
        for single, best, place in zip(one, several, kept, strict=True):
            assert 0 <= place < 6
            assert (best == single) == (place == 0)

    def test_polishes_each_sample(self, model: BatchModel) -> None:
        fleets = [layout.fleet for layout in BENCH[:6]]
        plain, polished = (scores(model.generate(fleets, steps=2, polish=moves), fleets) for moves in (0, 400))
        assert sum(score for _, score in polished) > 1.005 * sum(score for _, score in plain)

    def test_corrects_unless_told_not_to(self, model: BatchModel) -> None:
        fleets = [layout.fleet for layout in BENCH]
        made, raw = (model.generate(fleets, seed=1, steps=3, correct=correct) for correct in (True, False))
        for topology, fleet in zip(made, fleets, strict=True):
            assert metrics(topology, fleet)["valid"]
            assert topology.report.valid
        assert not all(metrics(topology, fleet)["valid"] for topology, fleet in zip(raw, fleets, strict=True))

    def test_reports_what_metrics_say(self, model: BatchModel) -> None:
        for asked in ({"correct": False}, {"correct": True, "samples": 2}):
            made = model.generate(MIXED, seed=3, steps=3, **asked)
            for topology, fleet in zip(made, MIXED, strict=True):
                score, report = metrics(topology, fleet), topology.report
                assert report.throughput == pytest.approx(score["throughput"])
                assert (report.connected, report.valid) == (bool(score["connected"]), bool(score["valid"]))
                assert (report.seed, report.samples) == (3, asked.get("samples", 1))

    @pytest.mark.parametrize("half", [False, True])
    def test_makes_good_raw_samples(self, half: bool) -> None:
        model = load("netdiff-small", device="cpu", half=half)
        made = model.generate([layout.fleet for layout in BENCH], steps=10, correct=False)
        reached = np.mean([score for _, score in scores(made, [layout.fleet for layout in BENCH])])
        assert reached >= 0.9 * np.mean([layout.metrics["throughput"] for layout in BENCH])

    def test_links_more_where_only_the_network_has_a_say(self, model: BatchModel) -> None:
        weights = find_weights("netdiff-small")
        assert model.sampling_for(50, redundant=True) == dataclasses.replace(weights.sampling, steps=50, grid="linear")
        assert model.sampling_for(10, redundant=True).grid == "late"
        assert model.sampling_for(50, redundant=False).redundancy == 1
        assert weights.sampling.redundancy > 1

    def test_heeds_the_radio_asked_for(self, model: BatchModel) -> None:
        short, fleets = Radio(range=1.0), [layout.fleet for layout in BENCH]
        made = model.generate(fleets, steps=3, radio=short)
        assert not any(
            out_of_range(topology, Layout(fleet, short)).any() for topology, fleet in zip(made, fleets, strict=True)
        )
        usual = model.generate(fleets, steps=3)
        assert any(
            out_of_range(topology, Layout(fleet, short)).any() for topology, fleet in zip(usual, fleets, strict=True)
        )

    def test_of_no_fleets_gives_no_topologies(self, model: BatchModel) -> None:
        assert model.generate([]) == []


class TestRefused:
    @pytest.mark.parametrize("fleet", ["fleet", None, np.zeros((4, 2))])
    def test_what_is_no_fleet(self, model: BatchModel, fleet: Any) -> None:
        with pytest.raises(FleetError, match="fleet 1: give a Fleet"):
            model.generate([drawn(5), fleet])

    @pytest.mark.parametrize("fleets", [drawn(5), None, "fleets"])
    def test_what_is_no_list_of_fleets(self, model: BatchModel, fleets: Any) -> None:
        with pytest.raises(FleetError):
            model.generate(fleets)

    @pytest.mark.parametrize("asked", [{"samples": 0}, {"seed": -1}, {"seed": True}, {"radio": "x"}, {"polish": -1}])
    def test_what_cannot_be_asked_for(self, model: BatchModel, asked: dict[str, Any]) -> None:
        with pytest.raises(ModelError):
            model.generate([drawn(5)], **asked)

    @pytest.mark.parametrize("asked", [{"device": "nonsense"}, {"device": "cpu", "threads": -1}])
    def test_what_cannot_be_loaded(self, asked: dict[str, Any]) -> None:
        with pytest.raises(ModelError):
            load(**asked)

    def test_a_radio_of_other_sectors(self, model: BatchModel) -> None:
        with pytest.raises(ModelError, match="trained for 4 sectors; the radio has 6"):
            model.generate([drawn(5)], radio=Radio(sectors=6))

    def test_no_steps(self, model: BatchModel) -> None:
        with pytest.raises(ModelError, match="steps"):
            model.generate([drawn(5)], steps=0)

    @pytest.mark.parametrize("device", ["cuda", "cuda:1"])
    def test_a_gpu_that_is_not_there(self, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(
            ModelError, match=rf"^{device}: there is no GPU .* manetdiff\.load\(\) runs on any CPU"
        ) as said:
            load(device=device)
        assert "\n" not in str(said.value)
        if device == "cuda":
            with pytest.raises(ModelError):
                load()

    def test_weights_that_are_not_there(self) -> None:
        with pytest.raises(CheckpointError, match="nowhere"):
            load("nowhere", device="cpu")

    def test_models_that_take_no_steps(self) -> None:
        config, process = ModelConfig(kind="gt-vae", width=8, blocks=1), Process(2.5)
        weights = Weights(config, process, Radio(), build(config, process).state_dict())
        with pytest.raises(ModelError, match="only diffusion models"):
            BatchModel(weights, CPU)
