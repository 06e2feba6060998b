"""Several processes take the steps of one: the same graphs, the same noise, the same losses, and so on from one to two
and back."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from manetdiff.data import RANDOM, Settings, generate
from manetdiff.training.corpus import read_corpus
from manetdiff.training.feeds import DenseFeed, PackedFeed
from manetdiff.training.packed import PackedCorpus, chosen_layouts, read_packed
from manetdiff.training.parts import Part, part_of_row, parts_of_batch
from support.losses_of_steps import plan_of

PROGRAM = Path(__file__).parent.parent / "support" / "losses_of_steps.py"
STEPS = 8
CPU = torch.device("cpu")
KINDS = ["dense", "sparse"]

Losses = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("layouts")
    generate(Settings(nodes=(6, 9), count=40, seed=3, search_moves=50), folder / "dense")
    generate(Settings(nodes=(4, 7, 12), count=40, seed=6, search_moves=50, radio=RANDOM), folder / "sparse")
    return {kind: folder / kind for kind in KINDS}


@pytest.fixture(scope="module")
def packed_corpus(data: dict[str, Path]) -> PackedCorpus:
    return read_packed([data["sparse"]], workers=1)


def _losses(data: Path, run: Path, kind: str, processes: int, until: int) -> Losses:
    told = run.parent / f"losses-{processes}-{until}.json"
    command = [sys.executable, str(PROGRAM), str(data), str(run), kind, str(processes), str(until), str(told)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    read: Losses = json.loads(told.read_text(encoding="utf-8"))
    return read


def _assert_same(one: Losses, other: Losses) -> None:
    assert one.keys() == other.keys()
    for step, terms in one.items():
        assert other[step] == pytest.approx(terms, rel=1e-4, abs=1e-6), f"step {step}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_have_the_losses_of_one_also_when_a_run_goes_on_with_fewer_or_more(
    kind: str, data: dict[str, Path], tmp_path: Path
) -> None:
    def losses(folder: str, processes: int, until: int) -> Losses:
        (tmp_path / folder).mkdir(exist_ok=True)
        return _losses(data[kind], tmp_path / folder / "run", kind, processes, until)

    one = losses("one", 1, STEPS)
    assert len(one) == STEPS
    _assert_same(one, losses("two", 2, STEPS))
    for folder, first, then in (("fewer", 2, 1), ("more", 1, 2)):
        begun, continued = losses(folder, first, STEPS // 2), losses(folder, then, STEPS)
        assert list(continued) == list(one)[STEPS // 2 :]
        _assert_same(one, begun | continued)


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_the_parts_of_a_dense_batch_are_the_batch(processes: int, data: dict[str, Path]) -> None:
    corpus = read_corpus([data["dense"]], workers=1)
    feeds = [DenseFeed(plan_of("dense"), corpus, CPU, rank, processes) for rank in range(processes)]
    alone = DenseFeed(plan_of("dense"), corpus, CPU, 0, 1)
    assert [share.batch for share in alone.split] == [7, 1]  # of the second size most have none
    for place, whole in enumerate(alone.drawn(3)):
        own = [feed.drawn(3)[place] for feed in feeds]
        for number, expected in enumerate(whole):
            parts = [mine[number][: feed.mine[place].count] for mine, feed in zip(own, feeds, strict=True)]
            assert torch.equal(torch.cat(parts), expected)
        # Averaged over the processes, all parts weigh as much as the batch does.
        assert np.mean([feed.shares[place] for feed in feeds]) == pytest.approx(alone.shares[place])
        assert all(len(mine[0]) > 0 for mine in own)


@pytest.mark.parametrize("processes", [2, 3])
def test_the_parts_of_a_packed_batch_are_the_batch(processes: int, packed_corpus: PackedCorpus) -> None:
    plan = plan_of("sparse")
    alone = PackedFeed(plan, packed_corpus, CPU, 0, 1)
    feeds = [PackedFeed(plan, packed_corpus, CPU, rank, processes) for rank in range(processes)]
    for step in range(4):
        (whole,) = alone.drawn(step)
        layouts, clean, draws, _ = alone.arguments(0, whole)
        nodes, links = layouts.real_nodes > 0, layouts.real_links > 0
        parts: list[list[Any]] = [[], [], [], [], []]
        for feed in feeds:
            (drawn,) = feed.drawn(step)
            mine, own_clean, own_draws, _ = feed.arguments(0, drawn)
            used, real = drawn[0] >= 0, mine.real_links > 0
            found = drawn[0][used], drawn[1][used], own_draws.links[real], own_draws.parity[mine.real_nodes > 0]
            for some, one in zip(parts, (*found, own_clean.links[real]), strict=True):
                some.append(one)
        used = whole[0] >= 0
        expected = whole[0][used], whole[1][used], draws.links[links], draws.parity[nodes], clean.links[links]
        for some, one in zip(parts, expected, strict=True):
            assert torch.equal(torch.cat(some), one)
        assert all(len(some) > 0 for some in parts[0])


def test_a_part_that_is_larger_than_its_room_has_the_room_of_the_batch(packed_corpus: PackedCorpus) -> None:
    feed = PackedFeed(plan_of("sparse"), packed_corpus, CPU, 0, 2)
    assert feed.room.graphs < feed.whole.graphs
    usual = feed.arguments(0, feed.drawn(0)[0])[0]
    assert len(usual.features) == feed.room.arcs < feed.whole.arcs
    feed.room = feed.room._replace(links=2)
    wide = feed.arguments(0, feed.drawn(0)[0])[0]
    assert len(wide.features) == feed.whole.arcs
    for mine, theirs in ((usual.real_links, wide.real_links), (usual.real_nodes, wide.real_nodes)):
        assert mine.sum() == theirs.sum() > 0


def test_parts_follow_each_other_and_cost_about_the_same(packed_corpus: PackedCorpus) -> None:
    begins, room = packed_corpus.rows.begins.numpy(), packed_corpus.room(4000)
    chosen = chosen_layouts(begins, room, (1, 0, 0))
    parts = parts_of_batch(begins, chosen, room, 3)
    assert sum(part.graphs.count for part in parts) == int((chosen >= 0).sum())
    for before, after in itertools.pairwise(parts):
        for one, two in ((before.graphs, after.graphs), (before.nodes, after.nodes), (before.links, after.links)):
            assert one.first + one.count == two.first
    arcs = [part.counts[0] for part in parts]
    assert max(arcs) - min(arcs) < 0.4 * sum(arcs) / 3
    assert [part_of_row(5, rank, 3) for rank in range(3)] == [Part(0, 1), Part(1, 2), Part(3, 2)]
