"""Networks on candidate links in batches of mixed sizes: which graphs are sampled, whatever else is in the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from manetdiff import Fleet, Radio
from manetdiff.diffusion.sparse import drawn_from, noise_shares, posterior_of
from manetdiff.gpu import BatchModel, load
from manetdiff.gpu.network import Copied, rounded_up, sent
from manetdiff.gpu.pieces import Piece, filled, pieces_of
from manetdiff.gpu.refined import listed_samples
from manetdiff.gpu.sparse import SparseNetwork
from manetdiff.gpu.sparse_chain import SparseChain
from manetdiff.gpu.uniform import uniform_places, uniform_round
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import ArcGraphs, stacked
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.refine import best_of
from manetdiff.sampling import time_pairs
from support.sparse_batches import SAMPLING, STREAMS, sampled, sparse_generator
from support.strategies import drawn

CPU = torch.device("cpu")


def blocked_at_the_tail(fleet: Fleet) -> Fleet:
    return Fleet(fleet.positions, fleet.yaw, blocked=[[(2.8, 3.4)]] * len(fleet))


# Of all kinds: one too large for a stack, blocked, with a node far out, with heights, and one that cannot be linked.
FAR = drawn(9).replace(np.vstack([drawn(9).positions[:8], [[1e7, 0.0]]]))
HIGH = drawn(8).replace(np.column_stack([drawn(8).positions, np.linspace(0.0, 50.0, 8)]))
MIXED = (
    drawn(8),
    drawn(16),
    drawn(3),
    blocked_at_the_tail(drawn(8, seed=1)),
    drawn(67),
    FAR,
    HIGH,
    Fleet([(0, 0), (1, 0)], [0, 0]),
    drawn(8, seed=2),
)


class TestTheNumbers:
    def test_follow_from_the_seed_the_round_and_the_place_alone(self) -> None:
        seeds, round_ = torch.tensor([5, 2**62]), torch.tensor(3)
        whole = uniform_round(seeds, round_, 4).edges.flatten(1)
        graph, place = torch.tensor([1, 0, 1]), torch.tensor([7, 0, 15])
        made = uniform_places(seeds, round_, graph, place)
        assert torch.equal(made, whole[graph, place])


class TestTheChain:
    @torch.no_grad()
    def test_is_the_sampler_with_these_numbers(self) -> None:
        """One layout after the other, by the functions of the sampler itself, without rows, rooms and packing."""
        generator, fleets = sparse_generator(), (drawn(8), drawn(5), drawn(11))
        made = sampled(SparseNetwork(SparseChain(generator, CPU)), fleets)
        linked = 0
        for place, fleet in enumerate(fleets):
            arcs = Layout(fleet).arcs
            layouts = stacked([arcs])
            noise, embedded = noise_shares(generator.process, layouts), generator.denoiser.embed(layouts)
            for k, stream in enumerate(STREAMS):

                def draws(round_: int, c: int, n: int, seed: int = stream) -> ArcGraphs:
                    numbers = (
                        uniform_places(torch.tensor([seed]), torch.tensor(round_), torch.zeros_like(at), at)
                        for at in (torch.arange(c), -1 - torch.arange(n))
                    )
                    return ArcGraphs(*numbers)

                c, n = len(arcs.links), len(fleet)
                state = drawn_from(noise, draws(0, c, n))
                pairs = time_pairs(SAMPLING.steps, SAMPLING.grid)
                for step, (t, s) in enumerate(pairs, start=1):
                    prediction = generator.denoiser.predict(layouts, embedded, state, torch.full((1,), t))
                    times = torch.full((1,), t), torch.full((1,), s)
                    shares = posterior_of(generator.process, prediction, state, noise, times, SAMPLING)
                    half = ArcGraphs(torch.full((c,), 0.5), torch.full((n,), 0.5))
                    state = drawn_from(shares, half if step == len(pairs) else draws(step, c, n))
                links = arcs.links[state.links.numpy() > 0.5].tolist()
                assert made[place][k] == (links, state.parity.long().tolist())
                linked += len(links)
        assert linked > 10

    def test_gives_the_same_graphs_whatever_the_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        network = SparseNetwork(SparseChain(sparse_generator(), CPU))
        whole = sampled(network, MIXED)
        assert sorted(whole) == list(range(len(MIXED)))
        backwards = sampled(network, MIXED[::-1])
        assert [backwards[len(MIXED) - 1 - place] for place in range(len(MIXED))] == [whole[k] for k in sorted(whole)]
        for place, fleet in enumerate(MIXED):
            assert sampled(network, (fleet,))[0] == whole[place], place
        # Cut into many batches, and the samples of the largest, too.
        monkeypatch.setattr("manetdiff.gpu.sparse.NODES_TOGETHER", 80)
        assert sampled(network, MIXED) == whole


@pytest.fixture(scope="module")
def model() -> BatchModel:
    torch.set_num_threads(1)
    return load("netdiff-sparse", device="cpu", threads=2)


class TestTheModel:
    @pytest.mark.filterwarnings("ignore::manetdiff.errors.DisconnectedWarning")
    def test_gives_the_same_topology_alone_and_in_any_batch(self, model: BatchModel) -> None:
        asked: dict[str, Any] = {"steps": 2, "samples": 2, "seed": 7}
        whole = model.generate(MIXED, **asked)
        assert [len(topology) for topology in whole] == [len(fleet) for fleet in MIXED]
        assert model.generate(MIXED[::-1], **asked) == whole[::-1]
        assert [model.generate([fleet], **asked)[0] for fleet in MIXED[:4]] == whole[:4]

    def test_takes_any_radio(self, model: BatchModel) -> None:
        radio = Radio(sectors=6, pattern="parabolic", range=3.0)
        made = model.generate([drawn(8), drawn(5)], radio=radio, steps=2)
        assert all(topology.report.valid for topology in made)
        assert all(topology.layout is not None and topology.layout.radio == radio for topology in made)

    @pytest.mark.parametrize("polish", [0, 200])
    def test_refines_as_each_fleet_alone_is_refined(
        self, model: BatchModel, polish: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Against the same samples through `best_of`, with a report that says the same."""
        fleets = [drawn(8, seed=seed) for seed in range(4)]
        seen: list[tuple[Piece, Any]] = []
        read = model.network.sampled

        def watched(batch: list[Piece], *given: Any) -> Any:
            pending = read(batch, *given)
            seen.extend(zip(batch, pending.result(), strict=True))
            return pending

        monkeypatch.setattr(model.network, "sampled", watched)
        made = model.generate(fleets, steps=2, samples=3, seed=4, polish=polish)
        for piece, graphs in seen:
            for row, place in enumerate(piece.places):
                layout = Layout(fleets[place])
                wanted = best_of(listed_samples(graphs, row), layout, Effort(2, 3, polish=polish), 4)
                one = made[place]
                assert (one.links.tolist(), one.parity.tolist()) == tuple(part.tolist() for part in wanted.sample)
                for name in ("kept", "correction", "polish", "connected", "valid"):
                    assert getattr(one.report, name) == getattr(wanted.report, name), name
                assert (one.report.throughput, one.report.components) == (wanted.throughput, wanted.components)

    def test_what_comes_out_cannot_be_written_to(self, model: BatchModel) -> None:
        (made,) = model.generate([drawn(8)], steps=1)
        assert not made.links.flags.writeable and not made.parity.flags.writeable
        assert made.links.dtype == made.parity.dtype == np.int64


class TestPieces:
    def test_hold_every_fleet_once_and_those_of_one_shape_together(self) -> None:
        pieces = pieces_of(MIXED, Radio(), most=2)
        assert sorted(place for piece in pieces for place in piece.places) == list(range(len(MIXED)))
        assert all(len({len(fleet) for fleet in piece.fleets}) == 1 and len(piece) <= 2 for piece in pieces)
        for piece in pieces:
            piece.sort_out()
            assert piece.stacked + len(piece.alone) == len(piece)
            assert [MIXED[place] for place in piece.places] == piece.fleets
        assert sum(len(piece.alone) for piece in pieces) == 3

    def test_that_a_stack_cannot_speak_for_come_last(self) -> None:
        piece = Piece([0, 1, 2], [drawn(9, seed=1), FAR, drawn(9)], Radio())
        piece.sort_out()
        assert (piece.places, piece.stacked) == ([0, 2, 1], 2)
        assert piece.alone[0].fleet is FAR

    def test_fill_batches_in_their_order(self) -> None:
        pieces = pieces_of([drawn(4, seed=k) for k in range(5)], Radio(), most=1)
        batches = filled(pieces, lambda fleets, nodes: fleets * nodes <= 8)
        assert [[piece.places for piece in batch] for batch in batches] == [[[0], [1]], [[2], [3]], [[4]]]


def test_arrays_travel_filled_up_and_come_back() -> None:
    there = sent(np.array([[1.0, 2.0]], dtype=np.float32), 3, CPU)
    assert there.tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    copied = Copied([there])
    assert not copied.under_way
    assert copied.arrays()[0].tolist() == there.tolist()
    assert [rounded_up(size) for size in (0, 1, 2, 3, 64, 65)] == [1, 1, 2, 4, 64, 128]
