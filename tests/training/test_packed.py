"""Packed corpora: what is in them, and batches of fixed shape that say what the layouts alone would."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from manetdiff.data import RANDOM, Settings, SolvedLayout, generate, read_dataset
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sparse import ArcDraws, SparseGenerator
from manetdiff.errors import DataError, TrainingError
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, stacked
from manetdiff.model.config import Modulation
from manetdiff.model.losses import LossWeights
from manetdiff.model.packing import Room
from manetdiff.scenarios import draw
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.topology import Topology
from manetdiff.training.packed import PackedCorpus, chosen_layouts, packed, read_packed
from manetdiff.training.solved_rows import _numbers
from support.arc_samples import SPARSE
from support.graph_samples import perturbed

HIDDEN = ("crossing", "orbit")
ALL = LossWeights(edges=1.0, parity=1.0, sector=1.0, cosine=0.0, odd=1.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Of one radio and two sizes, and of random radios with heights and blocked antennas."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("layouts")
    plain = Settings(nodes=(6, 9), count=22, seed=3, search_moves=60, families_in_turn=True)
    random = Settings(
        nodes=(4, 7, 12), count=20, seed=4, search_moves=60, radio=RANDOM, heights=(50.0, 200.0), blocked=0.3
    )
    for name, settings in (("plain", plain), ("random", random)):
        generate(settings, folder / name)
    return [folder / "plain", folder / "random"]


@pytest.fixture(scope="module")
def corpus(folders: list[Path]) -> PackedCorpus:
    return read_packed(folders, held_out=3, workers=1)


def _solved(folders: list[Path], apart: int = 0) -> list[SolvedLayout]:
    """All layouts but the last of each folder."""
    whole = [list(read_dataset(folder)) for folder in folders]
    return [one for layouts in whole for one in layouts[: len(layouts) - apart]]


def _candidates(one: SolvedLayout) -> Layout:
    return Layout(one.layout.fleet, one.layout.radio, extra=one.topology.links)


def test_every_layout_of_every_set_is_there_with_its_links_among_the_candidates(
    corpus: PackedCorpus, folders: list[Path]
) -> None:
    solved, rows = _solved(folders, 3), corpus.rows
    assert len(corpus) == len(solved) == 19 + 17
    for number, one in enumerate(solved):
        arcs, (begin, end) = _candidates(one).arcs, rows.begins[:, number : number + 2].T.tolist()
        ours = [slice(first, last) for first, last in zip(begin, end, strict=True)]
        np.testing.assert_allclose(rows.features[ours[0]].numpy(), arcs.features, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(rows.bearing[ours[0]].cos().numpy(), arcs.bearings[:, 0], atol=1e-5)
        assert np.array_equal(rows.owner[ours[0]].numpy(), arcs.owner)
        assert np.array_equal(rows.parity[ours[1]].numpy(), one.topology.parity)
        linked = arcs.links[rows.linked[ours[2]].numpy() > 0]
        assert sorted(map(tuple, linked.tolist())) == sorted(map(tuple, one.topology.links.tolist()))
    links, nodes = (
        sum(sizes) for sizes in zip(*((len(one.topology.links), len(one.fleet)) for one in solved), strict=True)
    )
    assert corpus.mean_degree == pytest.approx(2 * links / nodes)


def test_a_link_that_only_a_wider_search_would_find_is_a_candidate_too(folders: list[Path]) -> None:
    layout = Layout(draw("mixed", 40, np.random.default_rng(1)))
    candidates = {tuple(link) for link in layout.candidates.tolist()}
    pairs = np.stack(np.triu_indices(40, 1), axis=1)
    link = next(pair for pair in pairs[layout.linkable(pairs)].tolist() if tuple(pair) not in candidates)
    (one, *_) = read_dataset(folders[0])
    found = dataclasses.replace(one, fleet=layout.fleet, topology=Topology([link], np.zeros(40), layout=layout))
    made = _numbers(found)
    assert made.counts[0, 2] == len(made.linked) == len(candidates) + 1
    assert made.linked.sum() == 1


def test_the_last_of_each_set_are_held_out_and_at_most_a_fifth(corpus: PackedCorpus, folders: list[Path]) -> None:
    expected = [one for folder in folders for one in list(read_dataset(folder))[-3:]]
    assert [one.topology for one in corpus.held_out] == [one.topology for one in expected]
    assert len(read_packed(folders, held_out=1000, workers=1).held_out) == 22 // 5 + 20 // 5


def test_a_fleet_and_the_same_one_moved_are_taught_or_held_out_together(tmp_path: Path) -> None:
    generate(Settings(nodes=(4,), count=8, seed=7, search_moves=20, displacement=(0.1, 0.3)), tmp_path)
    held_out = read_packed([tmp_path], held_out=1000, workers=1).held_out
    assert [one.index for one in held_out] == [7, 7]  # of 16, a fifth at most


def test_families_are_left_out_of_what_is_taught_and_of_what_is_held_out(folders: list[Path]) -> None:
    corpus = read_packed(folders, held_out=1000, leave_out=HIDDEN, workers=1)
    others = [[one for one in read_dataset(folder) if one.family not in HIDDEN] for folder in folders]
    apart = [layouts[len(layouts) - len(layouts) // 5 :] for layouts in others]
    assert [one.topology for one in corpus.held_out] == [one.topology for part in apart for one in part]
    assert len(corpus) == sum(map(len, others)) - sum(map(len, apart)) < 42 - len(corpus.held_out)
    assert [source["left_out"] for source in corpus.sources] == [sorted(HIDDEN)] * 2


def test_what_makes_no_corpus_is_refused(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least one folder"):
        read_packed([])
    with pytest.raises(DataError, match="no family nonsense to leave out"):
        read_packed(folders, leave_out=["nonsense"])
    with pytest.raises(DataError, match="has the layouts of"):
        read_packed([folders[0], folders[0]], held_out=3)
    generate(Settings(nodes=(6,), count=2, seed=5, search_moves=50, families=("orbit",)), tmp_path)
    with pytest.raises(DataError, match=f"{tmp_path}: nothing is left without the families orbit"):
        read_packed([tmp_path], leave_out=("orbit",))


def test_a_batch_too_small_for_a_layout_is_refused(corpus: PackedCorpus) -> None:
    largest = int(corpus.rows.begins[0].diff().max())
    with pytest.raises(TrainingError, match=f"a batch of {largest} arcs has no room for a layout of {largest}"):
        corpus.room(largest)
    corpus.room(largest + 1)


@pytest.mark.parametrize("arcs", [2048, 300])
def test_layouts_of_a_batch_fit_its_room_and_follow_from_the_seed(corpus: PackedCorpus, arcs: int) -> None:
    begins, room = corpus.rows.begins.numpy(), corpus.room(arcs)
    counts = np.diff(begins)
    seen = set()
    for step in range(20):
        chosen = chosen_layouts(begins, room, (1, 0, step))
        assert chosen.shape == (room.graphs,)
        assert np.array_equal(chosen, chosen_layouts(begins, room, (1, 0, step)))
        taken = chosen[chosen >= 0]
        assert 1 <= len(taken) < room.graphs
        assert bool((chosen[len(taken) :] == -1).all())
        filled = counts[:, taken].sum(1)
        assert bool((filled <= [room.arcs, room.nodes - 1, room.links - 1, room.antennas - 1]).all())
        seen |= set(taken.tolist())
    assert len(seen) > len(corpus) // 2
    assert not np.array_equal(chosen_layouts(begins, room, (1, 0, 0)), chosen_layouts(begins, room, (2, 0, 0)))


def _in_the_room(corpus: PackedCorpus, chosen: list[int], arcs: int) -> tuple[Room, torch.Tensor]:
    room = corpus.room(arcs)
    return room, torch.tensor(chosen + [-1] * (room.graphs - len(chosen)))


@pytest.mark.parametrize("modulation", ["acam", "cam"])
def test_a_packed_batch_is_its_layouts_in_a_row_and_what_fills_it_up_has_no_say(
    corpus: PackedCorpus, folders: list[Path], modulation: Modulation
) -> None:
    config = dataclasses.replace(SPARSE, modulation=modulation)
    generator = perturbed(lambda: SparseGenerator(config, Process(2.0, noise_redundancy=1.3)))
    chosen, solved = [30, 2, 17, 2], _solved(folders, 3)
    ours = [solved[number] for number in chosen]
    # Features are kept in half precision.
    arcs = [_candidates(one).arcs for one in ours]
    row = stacked([one._replace(features=one.features.astype(np.float16).astype(np.float32)) for one in arcs])
    linked = [
        np.isin(one.links @ [1000, 1], mine.topology.links @ [1000, 1]) for one, mine in zip(arcs, ours, strict=True)
    ]
    clean = ArcGraphs(
        torch.from_numpy(np.concatenate(linked)).float(),
        torch.from_numpy(np.concatenate([one.topology.parity for one in ours])).float(),
    )
    room, numbers = _in_the_room(corpus, chosen, 2048)
    layouts, packed_clean, _ = packed(corpus.rows, numbers, room)
    numbers_drawn = torch.Generator().manual_seed(1)
    time, links, parity = (torch.rand(size, generator=numbers_drawn) for size in (room.graphs, room.links, room.nodes))

    def learnt(layouts: ArcLayouts, clean: ArcGraphs, draws: ArcDraws) -> tuple[dict[str, float], list[torch.Tensor]]:
        generator.zero_grad()
        terms = generator.loss_terms(layouts, clean, draws, ALL)
        torch.stack(list(terms.values())).sum().backward()  # type: ignore[no-untyped-call]
        gradients = [part.grad.clone() for part in generator.parameters() if part.grad is not None]
        return {name: term.item() for name, term in terms.items()}, gradients

    c, m = len(clean.links), len(clean.parity)
    assert c < room.links and m < room.nodes
    wanted, wanted_gradients = learnt(row, clean, ArcDraws(time[: len(chosen)], links[:c], parity[:m]))
    terms, gradients = learnt(layouts, packed_clean, ArcDraws(time, links, parity))
    assert terms == pytest.approx(wanted, rel=1e-4)
    for mine, theirs in zip(gradients, wanted_gradients, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-5)
    # Other numbers where nothing is are the same loss.
    time[len(chosen) :], links[c:], parity[m:] = 0.99, 0.0, 0.0
    assert learnt(layouts, packed_clean, ArcDraws(time, links, parity))[0] == terms


def test_a_batch_that_is_full_to_the_last_arc_is_right_too(corpus: PackedCorpus, folders: list[Path]) -> None:
    counts = corpus.rows.begins.diff()[0].tolist()
    chosen = [int(np.argmax(counts)), 0, 1]
    room, numbers = _in_the_room(corpus, chosen, sum(counts[number] for number in chosen))
    layouts, clean, forest = packed(corpus.rows, numbers, room)
    solved = _solved(folders, 3)
    row = stacked([_candidates(solved[number]).arcs for number in chosen])
    assert torch.equal(layouts.reverse, row.reverse)
    assert torch.equal(layouts.nodes.of, row.nodes.of)
    assert clean.links.sum() == sum(len(solved[number].topology.links) for number in chosen)
    forests = [spanning_forest(_candidates(solved[number])) for number in chosen]
    assert forest.links.sum() == sum(len(links) for links, _ in forests)
    # Each forest's parity or its opposite, whichever is more like the solution's.
    sizes = [len(parity) for _, parity in forests]
    differ = (forest.parity != clean.parity)[: layouts.sizes.sum()]
    assert all(2 * part.sum() <= len(part) for part in torch.split(differ, sizes))
    assert all(
        torch.equal(part, torch.from_numpy(parity).float()) or torch.equal(part, 1 - torch.from_numpy(parity).float())
        for part, (_, parity) in zip(torch.split(forest.parity[: len(differ)], sizes), forests, strict=True)
    )
    assert layouts.real_links.sum() == len(row.real_links) and layouts.real_nodes.sum() == len(row.real_nodes)
