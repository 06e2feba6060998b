"""Training on candidate links: it learns, goes on exactly, and refuses what would have no effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.fabric import Fabric
from safetensors.torch import load_file

from manetdiff.data import RANDOM, Settings, generate
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import read_weights
from manetdiff.errors import ManetDiffError, ModelError, TrainingError
from manetdiff.radio import Radio
from manetdiff.topology import Topology
from manetdiff.training import train
from manetdiff.training.checkpoint import CHECKPOINT
from manetdiff.training.feeds import PackedFeed
from manetdiff.training.loop import BEST, LAST, Trainer, TrainingNews
from manetdiff.training.packed import PackedCorpus, read_packed
from manetdiff.training.plan import Plan, make_plan
from manetdiff.training.validation import judge, sample_topologies

TINY: dict[str, Any] = {"width": 8, "blocks": 2, "tokens": 2, "batch": 2048, "warmup": 0, "ema": 0.9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("layouts") / "random"
    generate(Settings(nodes=(4, 7, 10), count=60, seed=6, search_moves=100, radio=RANDOM), made)
    return made


@pytest.fixture(scope="module")
def corpus(folder: Path) -> PackedCorpus:
    return read_packed([folder], held_out=4, workers=1)


def _plan(**settings: Any) -> Plan:
    return make_plan("sparse", "any-fleet", **{**TINY, "epochs": 6, **settings})


def _trainer(corpus: PackedCorpus, folder: Path, plan: Plan) -> Trainer:
    return Trainer(plan, corpus, folder, Fabric(accelerator="cpu", devices=1))


@torch.no_grad()
def _loss(run: Trainer) -> float:
    """Of the same few batches, whatever the run has learnt."""
    assert isinstance(run.generator, SparseGenerator)
    total = 0.0
    for step in range(4):
        layouts, clean, draws, forest = run.feed.arguments(0, run.feed.drawn(step)[0])
        terms = run.generator.loss_terms(layouts, clean, draws, run.plan.losses, forest)
        total += sum(term.item() for term in terms.values())
    return total


def test_a_few_steps_lower_the_loss_and_leave_weights_that_sample(corpus: PackedCorpus, tmp_path: Path) -> None:
    told: list[TrainingNews] = []
    run = _trainer(corpus, tmp_path, _plan(epochs=10, rate=1e-2))
    first = _loss(run)
    run.train(told.append)
    assert _loss(run) < 0.9 * first
    assert {"loss", "edges", "parity", "sector", "odd", "rate", "graphs_per_second"} <= {
        name for news in told for name in news.figures
    }
    weights = read_weights(tmp_path / LAST)
    assert weights.config == run.plan.model
    assert weights.card["data"] == corpus.sources
    assert weights.process.mean_degree == pytest.approx(corpus.mean_degree)
    assert "validation" in read_weights(tmp_path / BEST).card
    layouts = [one.layout for one in corpus.held_out]
    made = weights.build()
    for topology, layout in zip(sample_topologies(made, layouts, weights.sampling, 1, "cpu"), layouts, strict=True):
        assert topology.layout is layout
        assert {tuple(link) for link in topology.links.tolist()} <= {tuple(link) for link in layout.candidates.tolist()}


def test_every_held_out_layout_counts_the_same_whatever_its_radio(corpus: PackedCorpus) -> None:
    solved = corpus.held_out
    targets = [one.metrics["throughput"] for one in solved]
    empty = Topology([], solved[0].topology.parity, layout=solved[0].layout)
    made = [empty, *(one.topology for one in solved[1:])]
    assert judge(made, targets, one_by_one=True)["ratio"] == pytest.approx(1 - 1 / len(solved))
    assert judge(made, targets)["ratio"] == pytest.approx(1 - targets[0] / sum(targets))


def test_a_run_that_was_stopped_goes_on_exactly(corpus: PackedCorpus, tmp_path: Path) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    steps = _trainer(corpus, whole, _plan()).train().step
    assert steps >= 6
    _trainer(corpus, halves, _plan()).train(until=steps // 2)
    resumed = _trainer(corpus, halves, _plan())
    assert resumed.state.step == steps // 2
    resumed.train()
    for name in (LAST, CHECKPOINT):
        once, twice = load_file(whole / name), load_file(halves / name)
        assert once.keys() == twice.keys()
        assert all(torch.equal(once[key], twice[key]) for key in once)


def test_a_step_follows_from_the_seed_and_its_number(corpus: PackedCorpus) -> None:
    feeds = [PackedFeed(_plan(seed=seed), corpus, torch.device("cpu"), 0, 1) for seed in (1, 1, 2)]
    same, again, other = (feed.drawn(3)[0] for feed in feeds)
    assert len(same) == 5
    assert all(torch.equal(one, two) for one, two in zip(same, again, strict=True))
    for different in (other, feeds[0].drawn(4)[0]):
        assert not any(torch.equal(one, two) for one, two in zip(same, different, strict=True))
    # The times of a batch are spread evenly.
    count = len(same[1])
    assert sorted((same[1] * count).floor().tolist()) == list(range(count))
    # About every layout is taken once an epoch, by however many processes.
    steps = [PackedFeed(_plan(), corpus, torch.device("cpu"), 0, processes).epoch_steps for processes in (1, 2, 3)]
    assert steps == [max(1, round(int(corpus.rows.begins[0, -1]) / 2048))] * 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mix": {4: 1.0}}, "mix: of no consequence to a sparse network"),
        ({"recipe": "fast"}, "recipe fast: mirrors layouts.*give the recipe any-fleet"),
        ({"mirror": True}, "mirrors layouts"),
        ({"heading": 2.0}, "heading: "),
        ({"losses": {"cosine": 0.1}}, "cosine: of no consequence"),
        ({"activation": "gelu"}, "activation: of no consequence"),
        ({"activation": "relu"}, "activation: "),
        ({"latent": 8}, "latent: of no consequence"),
        ({"domain_features": False}, "domain_features: a sparse network has no choice"),
        ({"modulation": "statistics"}, "modulation: a sparse network has acam, cam or none"),
        ({"sectors": 4}, "no setting sectors"),
        ({"radio": Radio()}, "radio: a sparse network learns from layouts of any radios"),
        ({"batch": 8}, "a batch of 8 arcs has no room for a layout of"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    settings: dict[str, Any], message: str, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    asked = {"recipe": "any-fleet", "accelerator": "cpu", **settings}
    with pytest.raises(ManetDiffError, match=message) as refused:
        train(folder, out, "sparse", **asked)
    assert isinstance(refused.value, TrainingError | ModelError)
    assert not out.exists()


def test_forest_and_consistency_are_part_of_a_run(corpus: PackedCorpus, tmp_path: Path) -> None:
    plain = _trainer(corpus, tmp_path / "plain", _plan())
    from_forests = _trainer(corpus, tmp_path / "forest", _plan(noise={"forest": 0.5}))
    assert _loss(from_forests) != _loss(plain)
    agreeing = _trainer(corpus, tmp_path / "agreeing", _plan(losses={"consistency": 0.5}))
    assert agreeing.stepper.take(0)["consistency"] > 0
    assert "consistency" not in plain.stepper.take(0)


@pytest.mark.parametrize("given", [{"noise": {"forest": 0.5}}, {"losses": {"consistency": 1.0}}, {"encoder": 2}])
def test_what_only_sparse_networks_have_is_refused_for_others(given: dict[str, Any]) -> None:
    with pytest.raises(TrainingError, match="for the model sparse"):
        make_plan("acam", "fast", **given)


def test_a_run_can_begin_with_weights_and_remembers_with_which(folder: Path, tmp_path: Path) -> None:
    first = train(folder, tmp_path / "first", "sparse", "any-fleet", epochs=2, accelerator="cpu", **TINY)
    begun = {"epochs": 1, "rate": 0.0, "last_rate": 0.0, "accelerator": "cpu", "start": tmp_path / "first" / LAST}
    second = train(folder, tmp_path / "second", "sparse", "any-fleet", **{**TINY, **begun})
    for name, tensor in first.weights.tensors.items():
        assert torch.allclose(tensor, second.weights.tensors[name], atol=1e-6)
    assert second.weights.card["start"]["digest"] == read_weights(tmp_path / "first" / LAST).digest
    assert second.weights.card["start"]["step"] == first.state.step
    with pytest.raises(TrainingError, match="start: these weights are of another model"):
        train(folder, tmp_path / "third", "sparse", "any-fleet", **{**TINY, **begun, "width": 16})
    # A run that began with some does not go on with others.
    with pytest.raises(ManetDiffError, match="start"):
        train(folder, tmp_path / "second", "sparse", "any-fleet", **{**TINY, **begun, "start": None})
