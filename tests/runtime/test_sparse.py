"""Sparse networks on the runtime: they decide on candidate links, of fleets of any size and under any radio."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import CheckpointError, FleetError
from manetdiff.layout import ARCS_VERSION, Layout
from manetdiff.runtime import calibration as calibrating
from manetdiff.runtime.bundle import Bundle, find_bundle, read_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.costs import ASSUMED, Calibration
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.form import TOGETHER
from manetdiff.runtime.model import Model
from manetdiff.runtime.samples import draw_samples, from_pure_noise, samples_of
from manetdiff.runtime.sparse import ARCS_TOGETHER
from manetdiff.sampling.contract import FUNCTIONS, SPARSE
from manetdiff.scenarios import move_by
from manetdiff.weights import DEFAULT, PAPER
from support.sparse_bundle import LEAST_RATE, NODES, USED, graph, sparse_bundle
from support.strategies import drawn, fleets, radios

BUNDLE = sparse_bundle()
MODEL = Model(BUNDLE)
RAW: dict[str, Any] = {"correct": False, "polish": False}
STEERED = Radio(unit=1.0, sectors=6, pattern="parabolic", beamwidth=0.6)


def scattered(n: int, seed: int = 0) -> Fleet:
    """As far apart as 16 nodes are, however many there are; for radios whose unit is a metre."""
    rng = np.random.default_rng((seed, n))
    return Fleet(rng.uniform(0, math.sqrt(12 * n / 16), (n, 2)), rng.uniform(-3, 3, n))


def as_pairs(links: np.ndarray) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in links}


def predicted(layout: Layout) -> set[tuple[int, int]]:
    """What the network by hand links where nothing else has a say."""
    return as_pairs(layout.arcs.links[layout.arcs.features[layout.arcs.forward, 0] > LEAST_RATE])


def off_the_candidates(layout: Layout) -> tuple[int, int]:
    """A pair that may be linked and is no candidate, as rich as can be: others are nearer."""
    n, candidates = len(layout), as_pairs(layout.candidates)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if (i, j) not in candidates])
    pairs = pairs[layout.linkable(pairs)]
    i, j = pairs[layout.pairs(pairs).distance[:, 0].argmin()].tolist()
    return i, j


@pytest.mark.parametrize("radio", [Radio(unit=1.0), Radio(unit=1.0, sectors=1), STEERED], ids=["4", "1", "6"])
@pytest.mark.parametrize("n", [2, 3, 16, 64, 130, 1024])
def test_a_step_decides_on_the_candidates(n: int, radio: Radio) -> None:
    fleet = scattered(n)
    made = MODEL.generate(fleet, radio=radio, steps=1, **RAW)
    assert as_pairs(made.links) == predicted(Layout(fleet, radio))


@given(fleets(2, 12, blocked=True), radios(options=True))
@settings(max_examples=40)
def test_any_fleet_under_any_radio_is_served(fleet: Fleet, radio: Radio) -> None:
    assert as_pairs(MODEL.generate(fleet, radio=radio, steps=1, **RAW).links) == predicted(Layout(fleet, radio))
    report = MODEL.generate(fleet, radio=radio, steps=2, samples=2, polish=20).report
    # Whatever comes out in parts breaks no other rule.
    assert report.valid == report.connected == (report.components == 1)


def test_nodes_beyond_all_range_of_each_other_stay_alone() -> None:
    fleet = Fleet([[0, 0], [100, 0], [0, 100]], np.zeros(3))
    for asked in (RAW, {}):
        made = MODEL.generate(fleet, radio=Radio(unit=1.0), **asked)
        assert len(made.links) == 0
    updated = MODEL.update(Topology([(0, 1)], [0, 1, 0]), fleet, radio=Radio(unit=1.0), **RAW)
    assert len(updated.links) == 0
    # And the network, which may not know what to make of nothing, is not asked.
    chain = Chain(sparse_bundle(layout=b"junk", noise=b"junk", times=b"junk"))
    samples = draw_samples(chain, chain.embed(Layout(fleet, Radio(unit=1.0))), Effort(2, 3), seed=0).samples
    assert [(len(sample.links), len(sample.parity)) for sample in samples] == [(0, 3)] * 3


def test_more_nodes_than_can_be_served_are_refused() -> None:
    with pytest.raises(FleetError, match="2 to 1,024 nodes, not 1,025"):
        MODEL.generate(scattered(1025))


class TestTogether:
    @pytest.mark.parametrize("n", [2, 16, 300, 1000])
    def test_is_bounded_by_arcs_and_whatever_it_is_the_same_samples_come_out(self, n: int) -> None:
        chain = Chain(BUNDLE)
        embedded = chain.embed(Layout(scattered(n), Radio(unit=1.0)))
        together, arcs = chain.together(embedded), 2 * len(embedded.pairs)
        assert 1 <= together <= TOGETHER
        assert together == 1 or together * arcs <= ARCS_TOGETHER
        assert together == TOGETHER or (together + 1) * arcs > ARCS_TOGETHER
        sampling = dataclasses.replace(chain.sampling, steps=2, grid="late")
        samples = draw_samples(chain, embedded, Effort(2, TOGETHER + 1), seed=5).samples
        assert len(samples) == TOGETHER + 1
        assert n == 2 or len({sample.parity.tobytes() for sample in samples}) > 1
        for k, sample in enumerate(samples):
            (alone,) = samples_of(from_pure_noise(chain, embedded, sampling, [(5, k)]), embedded.pairs)
            assert np.array_equal(alone.links, sample.links) and np.array_equal(alone.parity, sample.parity)


class TestPlausible:
    def test_is_what_the_network_does_not_rule_out_and_all_that_it_has_sampled(self) -> None:
        packaged = Chain(find_bundle(DEFAULT))
        for n, radio in ((16, Radio()), (30, Radio(sectors=6))):
            embedded = packaged.embed(Layout(drawn(n), radio))
            samples, plausible = draw_samples(packaged, embedded, Effort(2, 3), seed=1)
            assert plausible is not None
            assert as_pairs(plausible) < as_pairs(embedded.pairs)
            assert all(as_pairs(sample.links) <= as_pairs(plausible) for sample in samples)

    def test_goes_by_what_is_said_at_the_first_step(self) -> None:
        chain = Chain(find_bundle(DEFAULT))
        embedded = chain.embed(Layout(drawn(24)))
        first, later = (draw_samples(chain, embedded, Effort(steps), seed=1).plausible for steps in (2, 3))
        assert first is not None and later is not None
        assert np.array_equal(first, later)

    @pytest.mark.parametrize("bundle", [BUNDLE, find_bundle(PAPER)], ids=["older", "dense"])
    def test_some_networks_do_not_say(self, bundle: Bundle) -> None:
        chain = Chain(bundle)
        assert draw_samples(chain, chain.embed(Layout(drawn(9))), Effort(1), seed=0).plausible is None


class TestAnUpdate:
    @pytest.mark.parametrize("n", [50, 90])
    def test_sees_previous_links_that_are_no_candidates(self, n: int) -> None:
        fleet, radio = scattered(n), Radio(unit=1.0)
        extra = off_the_candidates(Layout(fleet, radio))
        before = Topology([extra], np.arange(n) % 2, layout=Layout(fleet, radio))
        for mode in ("minor", "standard", "guided"):
            # Nobody moves so far that the pair could not be linked any more.
            moved = move_by(fleet, 0.01, np.random.default_rng(1))
            made = MODEL.update(before, moved, mode=mode, **RAW)
            assert extra in as_pairs(made.links), mode
            assert made.on().fleet is moved and len(made.on().extra) == 0
        assert extra not in as_pairs(MODEL.update(before, moved, mode="anew", steps=1, **RAW).links)

    def test_forgets_links_that_are_out_of_range(self) -> None:
        fleet = scattered(20)
        before = Topology([(0, 1), (2, 3)], np.arange(20) % 2, layout=Layout(fleet, Radio(unit=1.0)))
        far = Fleet(np.vstack([[[99, 99]], fleet.positions[1:]]), fleet.yaw)
        assert 0 not in MODEL.update(before, far, mode="minor", **RAW).links

    def test_under_other_sectors_and_of_a_large_fleet_is_no_worse_than_the_old_links(self) -> None:
        for fleet, radio in ((scattered(24), STEERED), (scattered(150), Radio(unit=1.0, sectors=3))):
            before = MODEL.generate(fleet, radio=radio, polish=2_000, samples=1, steps=1)
            assert before.report.valid
            after = MODEL.update(before, move_by(fleet, 0.02, np.random.default_rng(0)))
            assert after.report.valid
            assert MODEL.update(before, fleet) == before


class TestPins:
    def test_a_kept_link_need_be_no_candidate_and_what_is_avoided_is_none(self) -> None:
        fleet, radio = scattered(50), Radio(unit=1.0)
        extra = off_the_candidates(Layout(fleet, radio))
        free = MODEL.generate(fleet, radio=radio, steps=1, **RAW)
        avoid = [link for link in free.links.tolist() if not {*link} & {*extra}][:5]
        for asked in ({"steps": 1, **RAW}, {"samples": 2, "polish": 200}):
            made = MODEL.generate(fleet, radio=radio, keep=[extra], avoid=avoid, silent=[7], **asked)
            links = as_pairs(made.links)
            assert extra in links
            assert not links & as_pairs(np.array(avoid))
            assert 7 not in made.links
        assert made.parity[extra[0]] != made.parity[extra[1]]

    def test_everyone_silent_leaves_nothing(self) -> None:
        assert len(MODEL.generate(drawn(6), silent=range(6), **RAW).links) == 0
        assert len(MODEL.generate(drawn(6), silent=range(6)).links) == 0


class TestABudget:
    def test_has_room_for_the_network_under_steered_beams_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        quick = [dataclasses.replace(costs, step=1e-6, sample_step=1e-6) for costs in ASSUMED.steered]
        monkeypatch.setattr(MODEL, "_calibration", Calibration(ASSUMED.cones, tuple(quick)))
        report = MODEL.generate(scattered(16), radio=STEERED, budget_ms=1_000).report
        assert report.method == "netdiff" and report.preset is not None

    def test_is_planned_by_what_large_fleets_cost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calibrating, "SIZES", (4, 6))
        monkeypatch.setattr(calibrating, "LARGE_SIZES", (70,))
        made = calibrating.measured(Chain(BUNDLE), Radio())
        assert [costs.nodes for costs in made.cones] == [costs.nodes for costs in made.steered] == [4, 6, 70]
        dense = calibrating.measured(Chain(find_bundle("netdiff-small")), Radio())
        assert [costs.nodes for costs in dense.cones] == [4, 6]

    @pytest.mark.parametrize("unit", [None, 500.0])
    def test_large_fleets_are_measured_as_far_apart_as_small_ones(self, unit: float | None) -> None:
        (large,) = calibrating._layouts(256, Radio(unit=unit))
        (small, *_) = calibrating._layouts(16, Radio(unit=unit))
        # 16 times the nodes in 16 times the area.
        assert large.fleet.scale / large.unit == pytest.approx(4 * small.fleet.scale / (unit or small.unit), rel=0.25)
        assert large.unit == (unit or 1.0)


class TestAFile:
    def test_gives_back_what_was_written(self, tmp_path: Path) -> None:
        path = tmp_path / "some.netdiff"
        path.write_bytes(BUNDLE.to_bytes())
        assert read_bundle(path) == BUNDLE
        made = Model(read_bundle(path)).generate(scattered(9), radio=STEERED, seed=3)
        assert made == MODEL.generate(scattered(9), radio=STEERED, seed=3)

    def test_for_other_arcs_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "some.netdiff"
        path.write_bytes(BUNDLE.to_bytes())
        monkeypatch.setattr("manetdiff.runtime.bundle.READS", {"dense": 1, "sparse": ARCS_VERSION + 1})
        with pytest.raises(CheckpointError, match=f"for version {ARCS_VERSION} of the layout features"):
            read_bundle(path)

    def test_that_calls_a_network_by_the_other_kind_is_refused(self) -> None:
        for bundle, other in ((BUNDLE, "dense"), (find_bundle("netdiff-small"), "sparse")):
            mistaken = Model(dataclasses.replace(bundle, network=other))  # type: ignore[arg-type]
            with pytest.raises(CheckpointError, match="'layout' does not"):
                mistaken.generate(drawn(5))

    def test_may_take_all_that_says_which_arcs_belong_together_or_what_it_needs_of_that(self) -> None:
        spare = {array.name for function in SPARSE.values() for array in function.inputs if array.spare}
        assert spare > USED
        greedy = {name: graph(name, NODES[name], spare) for name in FUNCTIONS}
        made = Model(sparse_bundle(**greedy)).generate(drawn(9), seed=1, steps=2, **RAW)
        assert made == MODEL.generate(drawn(9), seed=1, steps=2, **RAW)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_that_wants_more_than_the_contract_says_is_refused(self, name: str) -> None:
        wanting = sparse_bundle(**{name: graph(name, NODES[name], more=["another"])})
        with pytest.raises(CheckpointError, match=f"'{name}' does not take what it should"):
            Model(wanting).generate(drawn(5))

    def test_that_takes_less_than_it_should_is_refused(self) -> None:
        lacking = sparse_bundle(step=graph("step", NODES["step"], without=["noise_links"]))
        with pytest.raises(CheckpointError, match="'step' does not take what it should"):
            Model(lacking).generate(drawn(5))
