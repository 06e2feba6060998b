from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from manetdiff.data import RANDOM, Settings, generate, read_dataset
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights, read_weights
from manetdiff.errors import CheckpointError, TrainingError
from manetdiff.evaluate.cards import card_page
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.sampling import forest_start
from manetdiff.solvers import correct
from manetdiff.topology import Topology, antenna_loads, count_components, metrics
from manetdiff.training import reward as room
from manetdiff.training.judging import PART, Judgement, Sampled, judged
from manetdiff.training.merit import advantages
from manetdiff.training.own_samples import Way, chain_states
from manetdiff.training.packed import packed, read_packed, room_for
from manetdiff.training.reward import reward
from manetdiff.training.reward_recipe import RewardRecipe
from manetdiff.training.solved_rows import candidates_of
from manetdiff.weights import read_header

TINY = ModelConfig(kind="sparse", width=8, blocks=1, tokens=2)


class Here(Executor):
    """What a pool does, in this process."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("layouts") / "random"
    generate(Settings(nodes=(4, 6, 9), count=24, seed=8, search_moves=300, radio=RANDOM), made)
    return made


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("manetdiff.training.judging.ProcessPoolExecutor", lambda *args, **kwargs: Here())
    yield


def _weights(seed: int = 0) -> Weights:
    torch.manual_seed(seed)
    process = Process(2.5)
    return Weights(TINY, process, Radio(), build(TINY, process).state_dict())


def _judged(sampled: Sampled) -> Judgement:
    (made,) = judged(Here(), [sampled])
    return made


def test_graphs_are_worth_their_t_after_correction_less_for_parts(folder: Path) -> None:
    for row, solved in enumerate(read_dataset(folder)):
        layout = candidates_of(solved)
        pairs, parity = layout.arcs.links, solved.topology.parity
        graphs = [np.isin(pairs @ [100, 1], solved.topology.links @ [100, 1]), np.zeros(len(pairs), dtype=np.bool_)]
        sampled = Sampled(folder, row, np.array(graphs, np.uint8), np.array([parity] * 2))
        for links, worth in zip(graphs, _judged(sampled).worth, strict=True):
            fixed = correct(Topology(pairs[links], parity, layout=layout), flip_parts=True)
            discount = PART ** (count_components(fixed.links, len(layout)) - 1)
            assert worth == pytest.approx(metrics(fixed)["throughput"] * discount / solved.metrics["throughput"])


def test_a_search_after_the_correction_counts_too(folder: Path) -> None:
    gained = 0.0
    for row, solved in enumerate(read_dataset(folder)):
        pairs, n = len(candidates_of(solved).arcs.links), len(solved.fleet)
        graphs = np.zeros((2, pairs), np.uint8), np.zeros((2, n), np.uint8)
        without, searched = (_judged(Sampled(folder, row, *graphs, moves)).worth for moves in (0, 200))
        assert (searched >= without - 1e-9).all()
        gained += float((searched - without).mean())
    assert gained > 0.1


def test_graphs_as_they_are_pay_for_what_breaks_a_rule_and_for_parts(folder: Path) -> None:
    broken, apart = 0, 0
    for row, solved in enumerate(read_dataset(folder)):
        layout = candidates_of(solved)
        pairs, parity = layout.arcs.links, solved.topology.parity
        solution = np.isin(pairs @ [100, 1], solved.topology.links @ [100, 1])
        silent = parity[pairs[:, 0]] == parity[pairs[:, 1]]
        some = silent | (solution & (np.cumsum(solution) < 2))
        graphs = solution, ~silent, solution | silent, some
        sampled = Sampled(folder, row, np.array(graphs, np.uint8), np.array([parity] * 4), as_it_is=True)
        best = solved.metrics["throughput"]
        for links, worth in zip(graphs, _judged(sampled).worth, strict=True):
            made = Topology(pairs[links], parity, layout=layout)
            extra = int((antenna_loads(made, layout) - 1).clip(0).sum() + (links & silent).sum())
            parts = count_components(pairs[links & ~silent], len(layout))
            carried = metrics(made)["throughput"] / best * PART ** (parts - 1)
            assert worth == pytest.approx(carried - extra / len(solved.topology.links))
            broken, apart = broken + extra, apart + parts - 1
    assert broken > 0
    assert apart > 0


def test_what_the_search_made_of_a_sample_is_what_is_taught(folder: Path) -> None:
    """It is valid and, as it is, worth no less than the sample."""
    for row, solved in enumerate(read_dataset(folder)):
        layout = candidates_of(solved)
        graphs = np.ones((1, len(layout.arcs.links)), np.uint8), solved.topology.parity[None].astype(np.uint8)
        before = _judged(Sampled(folder, row, *graphs, 100, as_it_is=True))
        after = _judged(Sampled(folder, row, before.links, before.parity, 0, as_it_is=True))
        made = Topology(layout.arcs.links[before.links[0] > 0], before.parity[0], layout=layout)
        assert metrics(made)["antenna_saturation"] == 0
        assert metrics(made)["parity"] == 1
        assert after.worth[0] >= before.worth[0] - 1e-9


def test_layouts_on_which_nothing_gets_through_say_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (solved, *_) = read_dataset(folder)
    nothing = replace(solved, metrics={**solved.metrics, "throughput": 0.0})
    monkeypatch.setattr("manetdiff.training.judging.some", lambda dataset, rows: [nothing])
    pairs, n = len(candidates_of(solved).arcs.links), len(solved.fleet)
    sampled = Sampled(folder, 0, np.zeros((2, pairs), np.uint8), np.zeros((2, n), np.uint8))
    made = _judged(sampled)
    assert made.worth.tolist() == [0.0, 0.0]
    assert (made.links.sum(axis=1) >= n - 1).all()  # but what the correction made of them may be taught


def test_what_is_better_than_the_rest_of_its_layout_counts_for_it() -> None:
    merit = advantages(np.array([[1.0, 0.9, 0.8], [0.5, 0.5, 0.5]])).reshape(2, 3)
    assert merit[0, 0] > 0 > merit[0, 2]
    assert merit[0].sum() == pytest.approx(0.0)
    assert (merit[1] == 0).all()


def test_there_is_room_for_every_layout_and_for_most_draws(folder: Path) -> None:
    corpus = read_packed([folder], workers=1)
    counts = corpus.rows.begins.diff().numpy()
    room = room_for(corpus, np.arange(len(corpus)), 8, 3)
    sizes = np.array([room.arcs, room.nodes, room.links, room.antennas])
    assert (3 * counts.max(1) < sizes).all()
    rng = np.random.default_rng(1)
    drawn = [3 * counts[:, rng.choice(len(corpus), 8, replace=False)].sum(1) < sizes for _ in range(200)]
    assert np.mean(np.all(drawn, axis=1)) > 0.8
    largest = int(counts[1].argmax())
    layouts, clean, forest = packed(corpus.rows, torch.tensor([largest] * 3 + [-1] * (room.graphs - 3)), room)
    assert layouts.sizes.tolist() == [counts[1, largest]] * 3 + [0] * (room.graphs - 3)
    assert layouts.real_links.sum() == 3 * counts[2, largest]
    assert clean.links[-1] == forest.links[-1] == 0


@pytest.mark.parametrize("whole", [0.0, 1.0])
def test_rewarded_choices_become_likelier(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: float
) -> None:
    """With a reward for every link, more links are sampled: by few steps, and by a whole chain."""
    seen = []

    def links_count(pool: object, sampled: list[Sampled]) -> Iterator[Judgement]:
        assert all(one.as_it_is == (whole == 1.0) for one in sampled)
        counts = [one.links.mean(axis=1).astype(np.float64) for one in sampled]
        seen.append(float(np.mean(np.concatenate(counts))))
        return (Judgement(worth, one.links, one.parity) for worth, one in zip(counts, sampled, strict=True))

    monkeypatch.setattr(room, "judged", links_count)
    some: dict[str, Any] = {"layouts": 10, "samples": 4, "largest": 9, "whole": whole, "whole_chain": 3}
    recipe = RewardRecipe(steps=30, rate=0.01, teaching=0.0, lesson=0.0, **some)
    made = reward([folder], tmp_path, _weights(), recipe, workers=1)
    assert np.mean(seen[-5:]) > np.mean(seen[:5]) + 0.1
    kept = read_weights(tmp_path / "last.safetensors")
    assert [run["taken"] for run in kept.card["reward"]] == [30]
    assert "then 30 steps of reward" in card_page("rewarded", read_header(tmp_path / "last.safetensors"))
    assert all(torch.equal(kept.tensors[name], part) for name, part in made.tensors.items())
    again = reward([folder], tmp_path / "again", made, replace(recipe, steps=1), workers=1)
    assert [run["taken"] for run in again.card["reward"]] == [30, 1]


def test_the_same_seed_gives_the_same_weights(folder: Path, tmp_path: Path) -> None:
    recipe = RewardRecipe(steps=4, layouts=6, samples=2, largest=9, whole=0.5, whole_chain=4)
    one, other = (reward([folder], tmp_path / name, _weights(), recipe, workers=1) for name in "ab")
    assert all(torch.equal(part, other.tensors[name]) for name, part in one.tensors.items())


def test_a_run_goes_on_where_it_was_stopped(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "KEPT_EVERY", 2)
    recipe = RewardRecipe(steps=5, layouts=6, samples=2, largest=9, whole=0.5, whole_chain=4, lesson=1.0, rate=0.01)
    whole = reward([folder], tmp_path / "whole", _weights(), recipe, workers=1)
    taken: list[int] = []

    def on(asked: RewardRecipe, until: int | None) -> Weights:
        told = lambda step, figures: taken.append(step)  # noqa: E731
        return reward([folder], tmp_path / "stopped", _weights(), asked, workers=1, until=until, report=told)

    *_, last = (on(recipe, until) for until in (1, 2, 3, None))
    assert taken == [1, 2, 3, 4, 5]
    assert all(torch.equal(part, last.tensors[name]) for name, part in whole.tensors.items())
    with pytest.raises(CheckpointError, match="rate"):
        on(replace(recipe, rate=0.02), None)


def test_short_chains_are_those_of_presets(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one to three steps, from noise or, later on the path, from the forest."""
    seen = set()
    sampled = chain_states

    def told(generator: Any, batch: Any, there: Any, way: Way, *others: Any) -> Any:
        seen.add((len(way.times), way.forest, way.times[0][0]))
        return sampled(generator, batch, there, way, *others)

    monkeypatch.setattr(room, "chain_states", told)
    reward([folder], tmp_path, _weights(), RewardRecipe(steps=40, layouts=2, samples=2, whole=0.0), workers=1)
    assert seen == {(k, forest, forest_start(k) if forest else 1.0) for k in (1, 2, 3) for forest in (True, False)}


def test_lessons_teach_what_the_search_makes_of_the_samples(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it always ends without a link, that is what is learned."""
    shares = []

    def nothing(pool: object, sampled: list[Sampled]) -> Iterator[Judgement]:
        shares.append(float(np.mean([one.links.mean() for one in sampled])))
        for one in sampled:
            yield Judgement(np.zeros(len(one.links)), np.zeros_like(one.links), np.zeros_like(one.parity))

    monkeypatch.setattr(room, "judged", nothing)
    some: dict[str, Any] = {"layouts": 10, "samples": 2, "largest": 9, "whole": 1.0, "whole_chain": 3}
    reward(
        [folder], tmp_path, _weights(), RewardRecipe(steps=30, rate=0.01, teaching=0.0, lesson=1.0, **some), workers=1
    )
    assert np.mean(shares[-5:]) < 0.5 * np.mean(shares[:5])


@pytest.mark.parametrize(
    ("asked", "message"),
    [({"samples": 1}, "samples"), ({"whole": 1.5}, "whole"), ({"layouts": 500}, "only 24 layouts")],
)
def test_what_makes_no_sense_is_refused(folder: Path, tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        reward([folder], tmp_path, _weights(), RewardRecipe(**asked), workers=1)
