"""Runs that must not see a family of layouts, and the network of ReLUs that may be trained in them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from manetdiff.data import Settings, SolvedLayout, generate, read_dataset
from manetdiff.diffusion.weights import read_weights
from manetdiff.errors import DataError, ModelError
from manetdiff.evaluate.cards import card_page
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.scenarios import FAMILIES
from manetdiff.training.corpus import Bucket, Corpus, read_corpus
from manetdiff.weights import read_header
from support.command_help import Run
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts

HIDDEN = ("crossing", "orbit")
SIZES = (6, 9)
TENSORS = ("node", "pair", "sector", "edges", "parity")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All families in turn, so that each is there in both sizes, and among the last layouts."""
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("layouts") / "mixed"
    generate(Settings(nodes=SIZES, count=88, seed=3, search_moves=100, families_in_turn=True), made)
    return made


def solved(folder: Path, n: int, leave_out: tuple[str, ...] = ()) -> list[SolvedLayout]:
    """The layouts of one size and of the other families, in the order of the set."""
    return [layout for layout in read_dataset(folder) if len(layout.fleet) == n and layout.family not in leave_out]


def assert_rows(bucket: Bucket, whole: Bucket, rows: list[int]) -> None:
    """That a bucket is these rows of the whole one, in this order."""
    assert len(bucket) == len(rows)
    for name in TENSORS:
        part, all_of_it = getattr(bucket, name), getattr(whole, name)
        assert part.dtype == all_of_it.dtype
        assert torch.equal(part, all_of_it[rows]), name


def rows_of_others(folder: Path, n: int, leave_out: tuple[str, ...]) -> list[int]:
    return [row for row, layout in enumerate(solved(folder, n)) if layout.family not in leave_out]


class TestACorpusWithoutSomeFamilies:
    @pytest.mark.parametrize("leave_out", [HIDDEN, ("scatter",), FAMILIES[1:]], ids=["two", "one", "all but one"])
    def test_is_the_rows_of_the_others_as_they_are_in_the_whole(self, folder: Path, leave_out: tuple[str, ...]) -> None:
        whole, corpus = read_corpus([folder], workers=1), read_corpus([folder], leave_out=leave_out, workers=1)
        assert tuple(corpus.buckets) == SIZES
        for n in SIZES:
            rows = rows_of_others(folder, n, leave_out)
            assert 0 < len(rows) < len(whole.buckets[n])
            assert_rows(corpus.buckets[n], whole.buckets[n], rows)
        assert corpus.held_out == []
        assert corpus.radio == whole.radio

    def test_teaches_their_topologies(self, folder: Path) -> None:
        """Against the set itself: rows of links that came from one place and features from another would be the worst
        of all, because nothing would complain."""
        corpus = read_corpus([folder], leave_out=HIDDEN, workers=1)
        ends = nodes = 0
        for n in SIZES:
            others = solved(folder, n, HIDDEN)
            layouts, graphs = corpus.buckets[n].rows(slice(None))
            for row, layout in enumerate(others):
                assert np.array_equal(graphs.edges[row].numpy() > 0, layout.topology.adjacency)
                assert np.array_equal(graphs.parity[row].numpy(), layout.topology.parity)
                x_and_y = layouts.node[row, :, :2].numpy()
                np.testing.assert_allclose(x_and_y, layout.fleet.normalised().positions, atol=1e-4)
            ends += sum(2 * len(layout.topology.links) for layout in others)
            nodes += n * len(others)
        assert corpus.mean_degree == pytest.approx(ends / nodes)

    def test_holds_out_the_last_of_the_others(self, folder: Path) -> None:
        whole = read_corpus([folder], workers=1)
        corpus = read_corpus([folder], held_out=4, leave_out=HIDDEN, workers=1)
        expected = []
        for n in SIZES:
            rows = rows_of_others(folder, n, HIDDEN)
            assert_rows(corpus.buckets[n], whole.buckets[n], rows[:-4])
            expected += solved(folder, n, HIDDEN)[-4:]
        assert [layout.index for layout in corpus.held_out] == [layout.index for layout in expected]
        for layout, wanted in zip(corpus.held_out, expected, strict=True):
            assert layout.family not in HIDDEN
            assert layout.topology == wanted.topology
            assert np.array_equal(layout.fleet.positions, wanted.fleet.positions)
        # Or else they would have been the others' anyway.
        last = [layout.family for n in SIZES for layout in solved(folder, n)[-4:]]
        assert set(last) & set(HIDDEN)

    def test_holds_out_a_fifth_of_what_is_left_at_most(self, folder: Path) -> None:
        corpus = read_corpus([folder], held_out=1000, leave_out=HIDDEN, workers=1)
        for n in SIZES:
            left = len(rows_of_others(folder, n, HIDDEN))
            assert sum(len(layout.fleet) == n for layout in corpus.held_out) == left // 5
            assert len(corpus.buckets[n]) == left - left // 5

    def test_of_several_folders_leaves_them_out_of_each(self, folder: Path, tmp_path: Path) -> None:
        generate(Settings(nodes=(6,), count=22, seed=4, search_moves=50, families_in_turn=True, shard_size=8), tmp_path)
        corpus = read_corpus([folder, tmp_path], leave_out=HIDDEN, workers=1)
        parts = [read_corpus([one], leave_out=HIDDEN, workers=1).buckets[6] for one in (folder, tmp_path)]
        assert len(parts[1]) == 18
        for name in TENSORS:
            assert torch.equal(getattr(corpus.buckets[6], name), torch.cat([getattr(part, name) for part in parts]))
        # The features of all are there for the next run.
        assert len(list(tmp_path.glob("features-*.npz"))) == 1
        assert len(read_corpus([tmp_path], workers=1)) == 22
        assert len(list(tmp_path.glob("features-*.npz"))) == 1

    def test_says_what_was_left_out(self, folder: Path) -> None:
        (whole,) = read_corpus([folder], workers=1).sources
        (source,) = read_corpus([folder], leave_out=HIDDEN[::-1], workers=1).sources
        assert "left_out" not in whole
        # In one order, whatever the order they were named in: a run that goes on must find itself again.
        assert source == {**whole, "left_out": list(HIDDEN)}
        assert json.loads(json.dumps(source)) == source

    def test_of_nothing_is_refused_and_of_none_of_them_is_whole(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"nothing is left without the families echelon, .*scatter"):
            read_corpus([folder], leave_out=FAMILIES, workers=1)
        generate(Settings(nodes=(6,), count=4, seed=5, search_moves=50, families=("orbit",)), tmp_path)
        with pytest.raises(DataError, match=f"{tmp_path}: nothing is left without the families orbit"):
            read_corpus([folder, tmp_path], leave_out=("orbit",), workers=1)
        assert len(read_corpus([tmp_path], leave_out=("wedge",), workers=1)) == 4


SMALL = ("--width", "8", "--blocks", "1", "--tokens", "2", "--no-compile", "--precision", "32", "--accelerator", "cpu")


class TestTheCommand:
    def test_refuses_a_family_that_there_is_not_in_one_line(self, folder: Path, tmp_path: Path, run: Run) -> None:
        names = ("--leave-out", "orbit", "--leave-out", "nonsense")
        ran = run("train", str(folder), "--out", "run", *SMALL, *names)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "no family nonsense to leave out; there are echelon, " in ran.err
        assert not (tmp_path / "run").exists()

    def test_trains_without_the_families_and_says_so_in_the_weights(
        self, folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given: list[Corpus] = []

        def kept(*arguments: object, **options: object) -> Corpus:
            given.append(read_corpus(*arguments, **options))  # type: ignore[arg-type]
            return given[-1]

        monkeypatch.setattr("manetdiff.training.run.read_corpus", kept)
        names = [word for family in HIDDEN for word in ("--leave-out", family)]
        new = ("--heading", "2", "--activation", "relu")
        few = ("--epochs", "1", "--batch", "16")
        assert run("train", str(folder), "--out", str(tmp_path), *SMALL, *few, *names, *new).code == 0
        (corpus,) = given
        assert all(layout.family not in HIDDEN for layout in corpus.held_out)
        assert len(corpus) + len(corpus.held_out) == 88 * 9 // 11
        weights = read_weights(tmp_path / "last.safetensors")
        assert [source["left_out"] for source in weights.card["data"]] == [list(HIDDEN)]
        assert weights.process.heading == 2
        assert weights.config.activation == "relu"
        assert weights.process.mean_degree == pytest.approx(corpus.mean_degree)
        # The last column of the table of data: families.
        (row,) = (
            line
            for line in card_page("mine", read_header(tmp_path / "last.safetensors")).splitlines()
            if line.startswith("| 6, 9 ")
        )
        assert row.split("|")[-2].strip() == "9"


@torch.no_grad()
def test_an_activation_is_a_gelu_unless_a_relu_is_asked_for() -> None:
    # Weights of a time before there was a choice say nothing of it.
    gelu = ModelConfig.from_dict({"width": 8, "blocks": 2, "tokens": 3})
    relu = ModelConfig.from_dict({**gelu.to_dict(), "activation": "relu"})
    layouts = scattered_layouts([7])
    graphs, time = scattered_graphs(layouts), torch.tensor([0.4])
    made = []
    for config, wanted, other in ((gelu, torch.nn.GELU, torch.nn.ReLU), (relu, torch.nn.ReLU, torch.nn.GELU)):
        denoiser = perturbed(partial(Denoiser, config)).eval()
        blocks = list(denoiser.blocks.modules())
        # Of nodes and of edges, in each block.
        assert sum(isinstance(part, wanted) for part in blocks) == 4
        assert not any(isinstance(part, other) for part in blocks)
        made.append(denoiser(layouts, graphs, time).edges)
    assert float((made[0] - made[1]).abs().max()) > 1e-2
    with pytest.raises(ModelError, match=r"activation must be one of gelu, relu"):
        ModelConfig.from_dict({"activation": "ReLU"})
