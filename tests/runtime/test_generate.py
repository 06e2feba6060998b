"""Generating topologies with the packaged weights: what is asked for is what comes, and the same every time."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, ManetDiffError, Radio, Topology, metrics
from manetdiff.errors import BatchError, FleetError, ModelError
from manetdiff.layout import Layout
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.costs import ASSUMED
from manetdiff.runtime.effort import Effort, preset_effort
from manetdiff.runtime.presets import PRESETS
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Sample, from_pure_noise, samples_of
from manetdiff.sampling import grid_for
from manetdiff.solvers.correction import COUNTS
from manetdiff.solvers.local_search import GENTLE
from manetdiff.topology import PolishReport, component_labels, out_of_range
from manetdiff.weights import DEFAULT
from support.pairs import every_pair, linkable
from support.strategies import drawn

MODEL, DENSE, TWO = md.load(), md.load("netdiff-small"), md.load(workers=2)
RAW: dict[str, Any] = {"steps": 50, "samples": 1, "correct": False, "polish": False}


def crowd(n: int) -> Fleet:
    rng = np.random.default_rng(n)
    return Fleet(rng.normal(size=(n, 2)), np.zeros(n))


def has_a_valid_topology(fleet: Fleet) -> bool:
    """Tries all trees of a small fleet; a larger one is taken to have a valid topology where it is within range."""
    sector, n = every_pair(fleet).sector, len(fleet)
    pairs = np.argwhere(np.triu(linkable(fleet)))
    if n > 6:
        return _connected(pairs, n)
    for chosen in itertools.combinations(pairs, n - 1):
        links = np.array(chosen).reshape(-1, 2)
        ends = np.concatenate([links, links[:, ::-1]])
        antennas = np.column_stack([ends[:, 0], sector[ends[:, 0], ends[:, 1]]])
        # Parity is never in the way: a tree has two sides.
        if len(np.unique(antennas, axis=0)) == len(antennas) and _connected(links, n):
            return True
    return False


def _connected(links: npt.NDArray[np.int64], n: int) -> bool:
    return bool((component_labels(links, n) == 0).all())


class TestTheSameSeed:
    MIXED = (drawn(8), drawn(16), drawn(5), drawn(8, seed=1))

    @pytest.mark.parametrize("asked", [{}, {"preset": "careful"}, {"steps": 6, "correct": False, "polish": False}])
    def test_gives_the_same_topology_alone_and_in_a_batch_whatever_the_workers(self, asked: dict[str, Any]) -> None:
        alone = [MODEL.generate(fleet, seed=7, **asked) for fleet in self.MIXED]
        assert MODEL.generate(list(self.MIXED), seed=7, **asked) == alone
        made = TWO.generate(list(self.MIXED), seed=7, **asked)
        assert made == alone
        assert [md.metrics(one) for one in made] == [md.metrics(one) for one in alone]  # each knows its layout
        # In another order, with others around them.
        assert TWO.generate(list(self.MIXED[::-1]), seed=7, **asked) == alone[::-1]

    def test_layouts_and_radios_reach_the_workers(self) -> None:
        radio = md.Radio(sectors=6, range=3.0)
        layouts = [md.Layout(fleet, radio) for fleet in self.MIXED]
        alone = [MODEL.generate(layout, seed=1) for layout in layouts]
        assert TWO.generate(layouts, seed=1) == alone
        assert TWO.generate(list(self.MIXED), radio=radio, seed=1) == alone
        TWO.close()
        assert TWO.generate(layouts, seed=1) == alone  # they are started again

    def test_may_be_a_whole_number_of_numpy_and_the_largest_there_is(self) -> None:
        for seed in (5, 2**63 - 1):
            assert MODEL.generate(drawn(8), seed=np.int64(seed)) == MODEL.generate(drawn(8), seed=seed)  # type: ignore[call-overload]

    def test_differs_from_another(self) -> None:
        fleet = drawn(16)
        asked: dict[str, Any] = {"samples": 1, "polish": False}
        assert len({MODEL.generate(fleet, seed=seed, **asked) for seed in range(6)}) > 1
        assert len({MODEL.generate(fleet, seed=seed, **asked, correct=False) for seed in range(6)}) > 1


class TestCorrected:
    @settings(max_examples=25)
    @given(st.integers(2, 24), st.integers(0, 2**32 - 1))
    # No sample of these can be connected; a search finds a whole network, of which the last one's is not valid.
    @example(5, 227)
    @example(6, 86)
    @example(3, 7)
    def test_topologies_are_valid_wherever_the_fleet_has_a_valid_one(self, n: int, seed: int) -> None:
        fleet = drawn(n, seed)
        made = MODEL.generate(fleet, seed=seed)
        self.assert_sound(made, fleet)
        assert metrics(made, fleet)["valid"] == has_a_valid_topology(fleet)

    @settings(max_examples=15)
    @given(st.integers(2, 24), st.integers(0, 2**32 - 1), st.integers(1, 6))
    def test_topologies_are_sound_with_the_least_effort(self, n: int, seed: int, steps: int) -> None:
        # One corrected sample may come out in parts, but never with a link that should not be.
        fleet = drawn(n, seed)
        made = MODEL.generate(fleet, seed=seed, steps=steps, samples=1, correct=True, polish=False)
        self.assert_sound(made, fleet)

    @staticmethod
    def assert_sound(made: Topology, fleet: Fleet) -> None:
        scores = metrics(made, fleet)
        assert not out_of_range(made, Layout(fleet, Radio())).any()
        assert scores["parity"] == 1
        assert (made.report.connected, made.report.valid) == (bool(scores["connected"]), bool(scores["valid"]))
        # Only a search from scratch may share an antenna, where nothing else is whole.
        assert scores["antenna_saturation"] == 0 or made.report.fallback

    def test_two_nodes_are_out_of_each_other_s_range(self) -> None:
        # Wherever two nodes are, they are 2√2 spreads apart.
        made = MODEL.generate(drawn(2))
        assert len(made.links) == 0
        assert not made.report.connected
        assert not made.report.valid
        reaching = MODEL.generate(drawn(2), radio=Radio(range=3.0))
        assert reaching.links.tolist() == [[0, 1]]
        assert reaching.report.valid

    def test_the_radio_asked_for_is_the_one_that_counts(self) -> None:
        short = Radio(range=1.2)
        for seed in range(5):
            fleet = drawn(16, seed)
            made = MODEL.generate(fleet, radio=short, seed=seed)
            assert not out_of_range(made, Layout(fleet, short)).any()
            assert made.report.throughput == pytest.approx(metrics(made, fleet, short)["throughput"])


class TestTheRawModel:
    def test_is_the_network_that_was_asked_for_and_nothing_else(self) -> None:
        for seed in range(3):
            fleet = drawn(12, seed)
            raw = MODEL.generate(fleet, seed=seed, **RAW)
            chain = Chain(find_bundle(DEFAULT))
            layout = chain.embed(Layout(fleet))
            sampling = dataclasses.replace(chain.sampling, steps=RAW["steps"], grid=grid_for(RAW["steps"]))
            drawn_by_it = from_pure_noise(chain, layout, sampling, [(seed, 0)])
            assert raw == Topology(*samples_of(drawn_by_it, layout.pairs)[0])
            assert raw.report.weights == DEFAULT
            assert raw.report.steps == 50
            assert not raw.report.correction
            assert raw.report.polish == PolishReport()

    def test_is_sampled_with_more_links_than_what_is_corrected_later(self) -> None:
        # A redundant link is pruned easily; where nothing is corrected, it must come from the sampling.
        fleets = [drawn(24, seed) for seed in range(12)]
        raw = MODEL.generate(fleets, **{**RAW, "steps": 2})
        # One move of polish on what is not corrected: as good as raw, but without the redundancy.
        sober = MODEL.generate(fleets, **{**RAW, "steps": 2, "polish": 1})
        assert sum(len(made.links) for made in raw) > sum(len(made.links) for made in sober)


class TestMoreSamples:
    @pytest.mark.parametrize(
        "asked", [{"preset": "fast", "polish": 60}, {"polish": False}, {"correct": False, "polish": False}]
    )
    def test_are_never_worse(self, asked: dict[str, Any]) -> None:
        better = 0
        for seed in range(8):
            fleet = drawn(12, seed)
            one, four = (MODEL.generate(fleet, seed=seed, samples=samples, **asked) for samples in (1, 4))
            scores = [metrics(made, fleet) for made in (one, four)]
            ranks = [(score["connected"], round(score["throughput"], 6)) for score in scores]
            assert ranks[1] >= ranks[0]
            # The first sample is shared: where it is the one that is kept, nothing else has changed.
            assert (four == one) or four.report.kept > 0
            better += ranks[1] > ranks[0]
        assert better > 0

    def test_of_later_rounds_are_new_ones(self) -> None:
        # Were they the first eight again, none of them would ever be the better one.
        asked: dict[str, Any] = {"steps": 2, "samples": 19, "polish": False}
        reports = [MODEL.generate(drawn(24, seed), seed=seed, **asked).report for seed in range(6)]
        assert all(report.samples == 19 for report in reports)
        assert 8 <= max(report.kept for report in reports) < 19


class TestTheReport:
    @pytest.mark.parametrize("asked", [{}, {"polish": False}, {**RAW, "steps": 1}])
    def test_says_what_the_topology_is_worth(self, asked: dict[str, Any]) -> None:
        valid = []
        for seed in range(4):
            fleet = drawn(24, seed)
            made = MODEL.generate(fleet, seed=seed, **asked)
            scores = metrics(made, fleet)
            assert made.report.throughput == pytest.approx(scores["throughput"])
            assert made.report.valid == bool(scores["valid"])
            assert made.report.connected == bool(scores["connected"])
            valid.append(made.report.valid)
        # One step breaks constraints, which correction keeps.
        assert all(valid) == asked.get("correct", True)

    def test_says_what_was_done(self) -> None:
        fleet = drawn(16)
        made = MODEL.generate(fleet, seed=11, steps=4, samples=3, polish=123)
        report = made.report
        assert (report.method, report.seed, report.steps, report.samples) == ("netdiff", 11, 4, 3)
        assert made.on().fleet is fleet
        assert 0 <= report.kept < 3
        assert set(report.correction) == set(COUNTS)
        assert report.polish.moves == 123
        assert report.polish.gain >= 0
        assert set(report.stages) == {"layout", "sampling", "correction", "polish"}
        assert all(value > 0 for value in report.stages.values())
        assert sum(report.stages.values()) <= report.seconds * (1 + 1e-9)


class TestEffort:
    def test_a_raw_sample_is_one_sample_unless_more_are_asked_for(self) -> None:
        asked: dict[str, Any] = {"steps": 3, "correct": False, "polish": False}
        assert MODEL.generate(drawn(8), **asked).report.samples == 1
        assert MODEL.generate(drawn(8), **asked, samples=2).report.samples == 2

    @pytest.mark.parametrize("preset", sorted(PRESETS))
    def test_every_preset_runs_as_it_says(self, preset: str) -> None:
        made = MODEL.generate(drawn(16), preset=preset)
        effort = preset_effort(preset, 16)
        assert made.report.preset == preset
        assert (made.report.steps, made.report.samples) == (effort.steps, effort.samples)
        assert made.report.finalists == (effort.finalists or effort.samples)
        assert made.report.polish.moves == effort.polish
        assert made.report.valid
        assert made.report.weights == DEFAULT
        if preset == "balanced":
            assert MODEL.generate(drawn(16)) == made

    def test_what_is_asked_for_replaces_what_the_preset_says(self) -> None:
        made = MODEL.generate(drawn(8), preset="best", steps=2, samples=1, polish=10)
        assert (made.report.steps, made.report.samples, made.report.polish.moves) == (2, 1, 10)
        made = MODEL.generate(drawn(16), preset="fast", polish=True)
        assert made.report.polish.moves == preset_effort("fast", 16).polish

    def test_larger_fleets_get_more_moves_but_never_others_than_those_asked_for(self) -> None:
        usual = [MODEL.generate(drawn(n), samples=1).report.polish.moves for n in (16, 20)]
        assert usual[1] / usual[0] == 20 / 16
        assert MODEL.generate(drawn(24), samples=1, polish=33).report.polish.moves == 33

    @pytest.mark.parametrize("preset", PRESETS)
    def test_between_sizes_a_preset_does_as_at_the_nearer_one(self, preset: str) -> None:
        sizes = sorted(PRESETS[preset])
        for small, large in itertools.pairwise(sizes):
            border = (small * large) ** 0.5
            for n, nearer in ((int(border), small), (int(border) + 1, large)):
                here, there = preset_effort(preset, n), preset_effort(preset, nearer)
                assert here == dataclasses.replace(there, polish=here.polish)
                assert here.polish * nearer == there.polish * n
        assert preset_effort(preset, 2).steps == preset_effort(preset, sizes[0]).steps
        assert preset_effort(preset, 1024).polish == PRESETS[preset][sizes[-1]].polish * 1024

    def test_only_finalists_are_searched_and_they_are_the_best_after_correction(self) -> None:
        fleet = drawn(16)
        layout = Layout(fleet)
        rng = np.random.default_rng(3)
        scattered = [
            Sample(np.argwhere(np.triu(rng.random((16, 16)) < 0.2, 1)), rng.integers(0, 2, 16)) for _ in range(6)
        ]
        corrected = [best_of([one], layout, Effort(1), 0) for one in scattered]
        order = sorted(range(6), key=lambda k: corrected[k].throughput, reverse=True)
        assert all(one.report.connected for one in corrected)
        for finalists in (1, 3, 6, 0):
            made = best_of(scattered, layout, Effort(1, polish=200, finalists=finalists, annealing=GENTLE), 0)
            assert made.report.kept in order[: finalists or 6]
            assert made.throughput >= corrected[order[0]].throughput
        # With so many moves for all of them the winner is another than the one that led after correction.
        assert best_of(scattered, layout, Effort(1, polish=200, annealing=GENTLE), 0).report.kept != order[0]

    @pytest.mark.parametrize("n", [2, 16, 22, 23, 32, 40, 64, 128, 256, 512, 1000])
    def test_presets_cost_more_and_more(self, n: int) -> None:
        costs = ASSUMED.at(n, Radio())
        efforts = [preset_effort(name, n) for name in PRESETS]
        seconds = [costs.of_sampling(one) + one.searched * one.polish * costs.move for one in efforts]
        assert seconds == sorted(seconds)


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("preset", ("quick", "", ["fast"])),
            ("steps", (0, -1, 2.5, True)),
            ("samples", (0, True, "4")),
            ("polish", (-1, 1.5)),
            ("correct", (1,)),
            ("seed", (-1, 1.5, True, "1", 2**63)),
            ("budget_ms", (0, -5.0, float("nan"), float("inf"), True, "10")),
            ("radio", ("some",)),
        ],
    )
    def test_arguments_that_make_no_sense(self, name: str, values: tuple[Any, ...]) -> None:
        for value in values:
            with pytest.raises(ManetDiffError, match=name) as caught:
                MODEL.generate(drawn(5), **{name: value})
            assert "\n" not in str(caught.value)

    def test_fleets_that_are_too_small_or_too_large(self) -> None:
        with pytest.raises(FleetError, match="at least two nodes, not 1"):
            MODEL.generate(Fleet(np.zeros((1, 2)), np.zeros(1)))
        with pytest.raises(FleetError, match="2 to 1,024 nodes, not 1,025"):
            MODEL.generate(crowd(1025))
        with pytest.raises(FleetError, match="2 to 256 nodes, not 257"):
            DENSE.generate(crowd(257))

    def test_not_a_fleet_of_1024_nodes(self) -> None:
        made = MODEL.generate(crowd(1024), steps=1, samples=1, polish=False)
        assert len(made) == 1024
        assert made.report.connected

    def test_by_a_dense_network_a_radio_with_other_sectors(self) -> None:
        other = Radio(sectors=3)
        with pytest.raises(ModelError, match="4 sectors; the radio has 3"):
            DENSE.generate(drawn(5), radio=other)
        made = MODEL.generate(drawn(12), radio=other)
        assert metrics(made, drawn(12), other)["valid"] == 1

    @pytest.mark.parametrize("other", ["fleet", [1, 2], np.zeros((4, 2)), 5, None])
    def test_what_is_no_fleet(self, other: Any) -> None:
        with pytest.raises(ManetDiffError, match="Fleet"):
            MODEL.generate(other)

    @pytest.mark.parametrize("workers", [0, 1.5, True, "2"])
    def test_workers_that_make_no_sense(self, workers: Any) -> None:
        with pytest.raises(ModelError, match="workers"):
            md.load(workers=workers)


class TestABadFleetInABatch:
    @pytest.mark.parametrize("model", [MODEL, TWO], ids=["here", "workers"])
    def test_fails_alone(self, model: md.Model) -> None:
        good = [drawn(6), drawn(9), drawn(6, seed=1)]
        batch: list[Any] = [good[0], crowd(1025), good[1], "no fleet", good[2]]
        with pytest.raises(BatchError, match=r"2 of 5 fleets failed: fleet 1: .*1,025.*; fleet 3: .*str") as caught:
            model.generate(batch, seed=2)
        assert sorted(caught.value.errors) == [1, 3]
        assert all(isinstance(error, FleetError) for error in caught.value.errors.values())
        alone = [MODEL.generate(fleet, seed=2) for fleet in good]
        assert caught.value.results == [alone[0], None, alone[1], None, alone[2]]
        sent = pickle.loads(pickle.dumps(caught.value))
        assert (str(sent), sent.results) == (str(caught.value), caught.value.results)

    def test_fails_alone_on_a_pin_that_the_others_can_keep(self) -> None:
        named, nameless = drawn(6), Fleet(drawn(6).positions, drawn(6).yaw)
        with pytest.raises(BatchError, match="fleet 1: silent") as caught:
            MODEL.generate([named, nameless], silent=["n3"])
        assert caught.value.results[0] == MODEL.generate(named, silent=["n3"])

    def test_is_no_matter_where_there_are_no_fleets(self) -> None:
        assert MODEL.generate([]) == []
