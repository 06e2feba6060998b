"""Large batches: their random numbers, the chain that is captured, and the topologies that come out.

There is no GPU here: the device is a CPU, and where a chain is captured tests/support/fake_cuda.py stands in for CUDA.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
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
from manetdiff.errors import CheckpointError, DisconnectedWarning, FleetError, ModelError
from manetdiff.gpu import BatchModel, load
from manetdiff.gpu.captured import BatchChain
from manetdiff.gpu.recorded import BEFORE_CAPTURE
from manetdiff.gpu.sparse import SparseNetwork
from manetdiff.gpu.sparse_chain import SparseChain
from manetdiff.gpu.uniform import GOLDEN, uniform_round
from manetdiff.layout import Layout
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import SamplerConfig, StepSettings
from manetdiff.topology import Topology, out_of_range
from support.fake_cuda import FakeCuda
from support.graph_samples import perturbed, scattered_layouts
from support.sparse_batches import sampled, sparse_generator
from support.strategies import drawn

CPU = torch.device("cpu")


def _mixed_by_python(state: int) -> int:
    """The finaliser of SplitMix64 in whole numbers, which never wrap around and have no sign to bring along."""
    bits = state % 2**64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
    return bits ^ (bits >> 31)


class TestNumbers:
    def test_are_those_of_the_published_generator(self) -> None:
        # SplitMix64 from the seed 1234567, as its users check it.
        known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
        assert [_mixed_by_python(1234567 + GOLDEN * k) for k in range(1, 5)] == known

    @given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4), st.integers(0, 2**10), st.integers(2, 5))
    def test_follow_from_the_seed_the_round_and_the_place_alone(self, seeds: list[int], round_: int, n: int) -> None:
        made = uniform_round(torch.tensor(seeds), torch.tensor(round_), n)
        assert (made.edges.shape, made.parity.shape) == ((len(seeds), n, n), (len(seeds), n))
        for row, seed in enumerate(seeds):
            start = _mixed_by_python(seed + GOLDEN * (round_ + 1))
            expected = [(_mixed_by_python(start + place) >> 40) / 2**24 for place in range(n * n + n)]
            assert [*made.edges[row].flatten().tolist(), *made.parity[row].tolist()] == expected

    @pytest.mark.parametrize("axis", [0, 1, 2], ids=["rounds", "seeds", "places"])
    def test_say_nothing_of_the_next_round_seed_or_place(self, axis: int) -> None:
        # (rounds, seeds, places): seeds that follow each other, as the worst that could be given.
        rounds = [uniform_round(torch.arange(100), torch.tensor(k), 24) for k in range(5)]
        numbers = np.stack([np.concatenate([part.flatten(1).numpy() for part in one], axis=1) for one in rounds])
        one = np.take(numbers, range(numbers.shape[axis] - 1), axis)
        other = np.take(numbers, range(1, numbers.shape[axis]), axis)
        # Every part of the range is followed by every other as often.
        bins = 16
        both = (one * bins).astype(np.int64) * bins + (other * bins).astype(np.int64)
        filled, expected = np.bincount(both.ravel(), minlength=bins**2), both.size / bins**2
        chi_square = float(((filled - expected) ** 2).sum() / expected)
        assert abs(chi_square - (bins**2 - 1)) < 5 * math.sqrt(2 * (bins**2 - 1))
        # Two of 24 bits are the same now and then.
        assert (one == other).sum() <= 3


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
    # With so much redundancy some pairs are linked, and others are not: all that counts has a say.
    @pytest.mark.parametrize(
        ("heading", "decide", "grid", "redundancy"),
        [(0.0, True, "linear", 1.3), (5.0, False, "linear", 1.3), (5.0, True, "late", 1.8)],
    )
    @pytest.mark.parametrize("guided", [False, True])
    @torch.no_grad()
    def test_is_the_sampler_with_these_numbers(
        self, heading: float, decide: bool, grid: Any, redundancy: float, guided: bool
    ) -> None:
        generator, layouts, n = generator_of(heading), several_layouts(7, 0, 3), 7
        sampling = dataclasses.replace(SAMPLING, decide=decide, grid=grid, redundancy=redundancy)
        settings = None
        if guided:
            rng = torch.Generator().manual_seed(1)
            bias, guide, weight = (part + part.transpose(1, 2) for part in torch.rand(3, 1, n, n, generator=rng))
            settings = StepSettings(torch.tensor(0.7), bias - 1, guide.round(), 3 * weight)
        rounds = [uniform_round(SEEDS, torch.tensor(k), n) for k in range(sampling.steps + 1)]
        if decide:
            rounds[-1] = Graphs(torch.full((3, n, n), 0.5), torch.full((3, n), 0.5))
        embedded = generator.denoiser.embed_layouts(layouts)
        wanted = Sampler(generator.process, sampling).sample(
            lambda state, time: generator.denoiser.predict(embedded, state, time),
            layouts.mask,
            rounds,
            generator.process.pace(layouts, 4),
            settings,
        )
        chain = BatchChain(generator, CPU)
        made = chain.sample(layouts, SEEDS, sampling, settings)
        assert torch.equal(made.edges, wanted.edges) and torch.equal(made.parity, wanted.parity)
        assert 0 < made.edges.mean() < 1 - 1 / n
        assert len({graph.numpy().tobytes() for graph in made.edges}) > 1
        if settings is not None:
            for field in ("link_bias", "guide"):
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

    def test_changes_nothing_of_what_is_sampled_nor_of_what_was_given(self, chain: BatchChain) -> None:
        plain, seen = BatchChain(generator_of(heading=5.0), CPU), set()
        given_: list[tuple[Tensor, Tensor]] = []
        # Back and forth between two shapes: each replay must find its own layouts and seeds, and no others.
        for n, first in ((6, 0), (6, 1), (5, 0), (6, 2), (5, 4), (6, 0)):
            layouts, seeds = self._given(n, first)
            given_ += [(part, part.clone()) for part in (*layouts, seeds)]
            made, wanted = chain.sample(layouts, seeds, SAMPLING), plain.sample(layouts, seeds, SAMPLING)
            assert torch.equal(made.edges, wanted.edges) and torch.equal(made.parity, wanted.parity), (n, first)
            seen.add(made.edges.numpy().tobytes())
        # All the same would have been the same, too.
        assert len(seen) == 5
        assert all(torch.equal(part, before) for part, before in given_)

    def test_heeds_the_guide_of_each_call(self, chain: BatchChain) -> None:
        layouts, seeds = self._given(6, 0)
        for guide in (torch.zeros(1, 6, 6), torch.ones(1, 6, 6)):
            settings = chain.settings_for(SAMPLING)._replace(guide=guide, guide_weight=torch.full((1, 6, 6), 99.0))
            made = chain.sample(layouts, seeds, SAMPLING, settings)
            assert float(made.edges.sum()) == 2 * float(guide.sum() * 5 / 6)


def test_a_sparse_chain_is_captured_once_for_each_room(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, captured = (SparseChain(sparse_generator(), CPU) for _ in range(2))
    cuda, captured.on_gpu = FakeCuda(monkeypatch), True
    batches = [(drawn(8, seed=seed), drawn(5, seed=seed), drawn(6)) for seed in range(3)]
    for fleets in batches:
        assert sampled(SparseNetwork(captured), fleets) == sampled(SparseNetwork(plain), fleets)
    assert cuda.recordings < len(batches)
    assert cuda.events.count("replay") == len(batches)


BENCH = load_benchmark("bench16")[:12]


@pytest.fixture(scope="module")
def model() -> BatchModel:
    torch.set_num_threads(1)
    return load("netdiff-small", device="cpu", threads=2)


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

    def test_samples_more_links_than_needed_only_where_little_else_makes_up_for_them(
        self, model: BatchModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[SamplerConfig] = []
        sample = model.chain.sample
        monkeypatch.setattr(model.chain, "sample", lambda *given: asked.append(given[2]) or sample(*given))  # type: ignore[func-returns-value]
        for steps, correct in ((3, True), (20, True), (20, False)):
            model.generate(MIXED[:1], steps=steps, correct=correct)
        own = model.sampling.redundancy
        assert own > 1
        assert [sampling.redundancy for sampling in asked] == [own, 1.0, own]

    def test_gives_the_same_where_a_batch_must_be_cut(self, model: BatchModel, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = model.generate(MIXED, seed=7, steps=3, samples=3)
        monkeypatch.setattr("manetdiff.gpu.dense.MOST_TOGETHER", 4)
        assert model.generate(MIXED, seed=7, steps=3, samples=3) == whole

    @pytest.mark.parametrize("correct", [True, False])
    def test_gives_other_topologies_for_other_seeds(self, model: BatchModel, correct: bool) -> None:
        seeds = (0, 1, 2, 3, 2**63 - 1)
        assert len({model.generate([drawn(16)], seed=seed, steps=3, correct=correct)[0] for seed in seeds}) > 1

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

    @pytest.mark.parametrize(("correct", "samples"), [(True, 1), (True, 2), (False, 1)])
    def test_corrects_unless_told_not_to_and_reports_what_metrics_say(
        self, model: BatchModel, correct: bool, samples: int
    ) -> None:
        fleets = [layout.fleet for layout in BENCH]
        made = model.generate(fleets, seed=1, steps=3, correct=correct, samples=samples)
        measured = [metrics(topology, fleet) for topology, fleet in zip(made, fleets, strict=True)]
        assert all(score["valid"] for score in measured) == correct
        for topology, score in zip(made, measured, strict=True):
            report = topology.report
            assert report.throughput == pytest.approx(score["throughput"])
            assert (report.connected, report.valid) == (bool(score["connected"]), bool(score["valid"]))
            assert (report.seed, report.samples) == (1, samples)

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

    def test_networks_in_parts_are_named_by_one_warning(self, model: BatchModel) -> None:
        near, far = drawn(6), drawn(6, seed=1)
        # The same formation a thousand times as wide: nobody is in range of anybody.
        far = far.replace(positions=1e3 * far.positions)
        with pytest.warns(DisconnectedWarning, match=r"1 of 2 networks .*: fleet 1 is in 6 parts") as caught:
            made = model.generate([near, far], radio=Radio(unit=near.spread), steps=2)
        assert len(caught) == 1
        assert [one.report.components for one in made] == [1, 6]


class TestRefused:
    @pytest.mark.parametrize(
        ("fleets", "said"),
        [
            ([drawn(5), "fleet"], "fleet 1: give a Fleet"),
            ([drawn(5), None], "fleet 1: give a Fleet"),
            (drawn(5), "give a list of fleets, not Fleet"),
            (None, "give a list of fleets"),
            ("fleets", "fleet 0: give a Fleet"),
        ],
    )
    def test_what_is_no_list_of_fleets(self, model: BatchModel, fleets: Any, said: str) -> None:
        with pytest.raises(FleetError, match=said):
            model.generate(fleets)

    @pytest.mark.parametrize(
        "asked", [{"samples": 0}, {"seed": -1}, {"seed": True}, {"radio": "x"}, {"polish": -1}, {"steps": 0}]
    )
    def test_what_cannot_be_asked_for(self, model: BatchModel, asked: dict[str, Any]) -> None:
        with pytest.raises(ModelError, match=next(iter(asked))):
            model.generate([drawn(5)], **asked)

    @pytest.mark.parametrize("asked", [{"device": "nonsense"}, {"device": "cpu", "threads": -1}])
    def test_what_cannot_be_loaded(self, asked: dict[str, Any]) -> None:
        with pytest.raises(ModelError):
            load(**asked)

    def test_a_radio_of_other_sectors(self, model: BatchModel) -> None:
        with pytest.raises(ModelError, match="trained for 4 sectors; the radio has 6"):
            model.generate([drawn(5)], radio=Radio(sectors=6))

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
