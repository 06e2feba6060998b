"""Training: the same steps whatever happens in between, what is learnt, and what goes wrong."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning.fabric import Fabric
from safetensors.torch import load_file

from manetdiff.data import RANDOM, Settings, generate, read_dataset
from manetdiff.diffusion.weights import described_bytes, read_described, read_weights
from manetdiff.errors import CheckpointError, DataError, FormatError, ManetDiffError, TrainingError
from manetdiff.files import locked
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import Topology
from manetdiff.training import train
from manetdiff.training.checkpoint import CHECKPOINT, FORMAT, FORMAT_NAME
from manetdiff.training.corpus import Corpus, read_corpus
from manetdiff.training.feeds import DenseFeed
from manetdiff.training.loop import BEST, LAST, Trainer, TrainingNews
from manetdiff.training.optimisation import AveragedWeights, rate_at
from manetdiff.training.plan import Plan, Share, batch_draws, batch_rows, shares, steps_an_epoch
from manetdiff.training.recipe import RECIPES, Recipe
from manetdiff.training.validation import judge, sample_topologies
from manetdiff.training.variants import variant
from support.graph_samples import dense

TINY = ModelConfig(width=8, blocks=1, tokens=2)
RECIPE = Recipe(epochs=4, batch=8, rate=1e-3, last_rate=1e-6, weight_decay=1e-3, ema=0.9, mirror=True, clip=1.0)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layouts") / "mixed"
    generate(Settings(nodes=(6, 9), count=60, seed=3, search_moves=300), folder)
    return folder


@pytest.fixture(scope="module")
def corpus(layouts: Path) -> Corpus:
    return read_corpus([layouts], held_out=4, workers=1)


def trainer(corpus: Corpus, folder: Path, recipe: Recipe = RECIPE, model: ModelConfig = TINY) -> Trainer:
    return Trainer(Plan(model, recipe), corpus, folder, Fabric(accelerator="cpu", devices=1))


def test_a_run_that_was_stopped_goes_on_exactly(corpus: Corpus, tmp_path: Path) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    steps = trainer(corpus, whole).train().step
    trainer(corpus, halves).train(until=steps // 2)
    assert not (halves / LAST).exists()
    resumed = trainer(corpus, halves)
    assert resumed.state.step == steps // 2
    resumed.train()
    for name in (LAST, CHECKPOINT):
        once, twice = load_file(whole / name), load_file(halves / name)
        assert once.keys() == twice.keys()
        assert all(torch.equal(once[key], twice[key]) for key in once)
    # Finished, it has nothing left to do.
    before = (whole / LAST).read_bytes()
    assert trainer(corpus, whole).train().step == steps
    assert (whole / LAST).read_bytes() == before
    # And weights are not taken for a checkpoint.
    (whole / LAST).replace(whole / CHECKPOINT)
    with pytest.raises(CheckpointError, match="manetdiff-checkpoint"):
        trainer(corpus, whole)


def test_a_run_from_before_parts_of_it_were_renamed_goes_on(corpus: Corpus, tmp_path: Path) -> None:
    run, path = trainer(corpus, tmp_path), tmp_path / CHECKPOINT
    run.train(until=2)
    description, tensors = read_described(path, FORMAT_NAME, FORMAT)
    process = description["run"]["process"]
    process["redundancy"] = process.pop("noise_redundancy")
    old = {name.replace(".feed_forward_", ".think_"): tensor for name, tensor in tensors.items()}
    assert old.keys() != tensors.keys()
    path.write_bytes(described_bytes(FORMAT_NAME, FORMAT, description, old))
    resumed = trainer(corpus, tmp_path)
    assert resumed.state.step == 2
    for mine, theirs in zip(resumed.generator.parameters(), run.generator.parameters(), strict=True):
        assert torch.equal(mine, theirs)


# Of the others nothing is trained in another way; tests/diffusion has the gradients of all of them.
@pytest.mark.parametrize("name", ["cam", "cross-entropy", "ddpm-gt-plain", "gt-vae"])
def test_a_variant_trains_and_learns_something(name: str, corpus: Corpus, tmp_path: Path) -> None:
    chosen, recipe = variant(name), dataclasses.replace(RECIPE, epochs=8)
    plan = Plan(dataclasses.replace(chosen.model, width=8, blocks=1), recipe, chosen.losses)
    told: list[TrainingNews] = []
    run = Trainer(plan, corpus, tmp_path, Fabric(accelerator="cpu", devices=1))
    first = sum(value.item() for value in run.stepper.take(0).values())
    run.train(told.append)
    losses = [report.figures["loss"] for report in told if "loss" in report.figures]
    assert losses[-1] < first
    assert read_weights(tmp_path / LAST).build().config == plan.model


@pytest.mark.slow
def test_a_tiny_model_learns_four_layouts_by_heart(tmp_path: Path) -> None:
    generate(Settings(nodes=(7,), count=4, seed=5, search_moves=3000), tmp_path / "four")
    # Each four times in a batch, at four times of the noise process.
    corpus = read_corpus([tmp_path / "four"] * 4, workers=1)
    recipe = dataclasses.replace(
        RECIPE,
        epochs=350,
        batch=16,
        rate=6e-3,
        weight_decay=0.0,
        mirror=False,
        validate_every=1000,
        checkpoint_every=1000,
        ema=0.98,
    )
    run = trainer(corpus, tmp_path / "run", recipe, ModelConfig(width=16, blocks=2, tokens=2))
    run.train()
    solved = list(read_dataset(tmp_path / "four"))
    layouts = [one.layout for one in solved]
    drawn = sample_topologies(run.weights().build(), layouts, SamplerConfig(steps=20), seed=1, device="cpu")
    for layout, topology in zip(solved, drawn, strict=True):
        assert np.array_equal(topology.links, layout.topology.links)
        flipped = Topology(topology.links, 1 - topology.parity)
        assert layout.topology in (topology, flipped)
    assert judge(drawn, [one.metrics["throughput"] for one in solved])["ratio"] == pytest.approx(1.0)


@pytest.mark.slow
def test_two_processes_take_the_same_steps_as_one_by_flags_alone(layouts: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    settings: dict[str, Any] = {"width": 8, "blocks": 1, "epochs": 3, "batch": 8, "mix": {6: 1.0, 9: 1.0}}
    train(layouts, one, accelerator="cpu", compiled=False, precision="32", **settings)
    command = [sys.executable, "-m", "manetdiff", "train", str(layouts), "--out", str(two), "--accelerator", "cpu"]
    command += ["--devices", "2", "--width", "8", "--blocks", "1", "--epochs", "3", "--batch", "8"]
    command += ["--no-compile", "--precision", "32", "--mix", "6:1,9:1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    weights = [load_file(out / LAST) for out in (one, two)]
    for name in weights[0]:
        torch.testing.assert_close(weights[1][name], weights[0][name], rtol=0, atol=1e-6)


class TestSteps:
    def test_every_graph_of_a_step_counts_the_same_whatever_its_size(self, corpus: Corpus, tmp_path: Path) -> None:
        recipe = dataclasses.replace(RECIPE, batch=8, mix=((6, 3.0), (9, 1.0)), mirror=False)
        run = trainer(corpus, tmp_path, recipe)
        assert isinstance(run.feed, DenseFeed)
        assert [(share.nodes, share.batch) for share in run.feed.split] == [(6, 6), (9, 2)]
        wanted: dict[str, float] = {}
        for share in run.feed.split:
            draws, _ = batch_draws(share, 0, recipe.seed, TINY.latent, torch.device("cpu"))
            layouts, clean = corpus.buckets[share.nodes].rows(batch_rows(share, 0, recipe.seed))
            for name, term in dense(run.generator).loss_terms(layouts, clean, draws, run.plan.losses).items():
                wanted[name] = wanted.get(name, 0.0) + share.batch / 8 * term.item()
        assert {name: term.item() for name, term in run.stepper.take(0).items()} == pytest.approx(wanted, rel=1e-5)

    def test_every_layout_is_taken_once_before_any_is_taken_again(self) -> None:
        share = Share(nodes=6, batch=5, layouts=23)
        taken = torch.cat([batch_rows(share, step, seed=1) for step in range(23 // 5)])
        assert len(taken) == len(set(taken.tolist())) == 20
        assert not torch.equal(taken, torch.cat([batch_rows(share, step, seed=1) for step in range(4, 8)]))

    def test_a_step_draws_the_same_numbers_every_time_and_others_than_the_next(self) -> None:
        share = Share(nodes=6, batch=8, layouts=20)
        once, again, later = (batch_draws(share, step, 1, 3, torch.device("cpu"))[0] for step in (4, 4, 5))
        assert torch.equal(once.time, again.time)
        assert torch.equal(once.uniform.edges, again.uniform.edges)
        assert not torch.equal(once.uniform.edges, later.uniform.edges)

    def test_times_are_spread_evenly_over_the_process(self) -> None:
        draws, _ = batch_draws(Share(6, 50, 100), 0, 1, 3, torch.device("cpu"))
        assert torch.equal((draws.time.sort().values * 50).floor(), torch.arange(50.0))

    def test_the_batch_is_split_as_the_data_or_as_the_mix_says(self) -> None:
        recipe = dataclasses.replace(RECIPE, batch=40)
        assert shares({6: 300, 9: 100}, recipe) == [Share(6, 30, 300), Share(9, 10, 100)]
        mixed = dataclasses.replace(recipe, mix=((6, 1.0), (9, 1.0)))
        assert shares({6: 300, 9: 100}, mixed) == [Share(6, 20, 300), Share(9, 20, 100)]
        assert steps_an_epoch(shares({6: 300, 9: 100}, mixed)) == 10

    def test_a_batch_larger_than_the_data_and_a_mix_of_other_sizes_are_refused(self) -> None:
        with pytest.raises(TrainingError, match="smaller batch"):
            shares({6: RECIPE.batch - 1}, RECIPE)
        with pytest.raises(TrainingError, match="the data has"):
            shares({6: 30}, dataclasses.replace(RECIPE, mix=((7, 1.0),)))


class TestRecipes:
    def test_the_paper_s_recipe_is_the_paper_s(self) -> None:
        paper = RECIPES["paper"]
        assert (paper.rate, paper.last_rate, paper.weight_decay) == (1e-3, 1e-6, 1e-3)
        assert (paper.batch, paper.epochs, paper.plain_epochs, paper.seed) == (64, 4700, 20, 123)

    def test_the_rate_falls_linearly_to_its_last_value_and_rises_first_where_there_is_a_warmup(self) -> None:
        recipe = dataclasses.replace(RECIPE, epochs=10)
        rates = [rate_at(recipe, step, 5) for step in range(50)]
        assert np.allclose(rates, np.linspace(recipe.rate, recipe.last_rate, 50))
        warm = [rate_at(dataclasses.replace(recipe, warmup=10), step, 5) for step in range(50)]
        assert np.allclose(warm, rates * np.minimum(1, np.arange(1, 51) / 10))

    def test_weight_decay_is_switched_off_in_the_last_epochs(self, corpus: Corpus, tmp_path: Path) -> None:
        recipe = dataclasses.replace(RECIPE, epochs=2, plain_epochs=1)
        run = trainer(corpus, tmp_path, recipe)
        run.stepper.take(0)
        assert run.optimizer.param_groups[0]["weight_decay"] == recipe.weight_decay
        run.stepper.take(run.epoch_steps)
        assert run.optimizer.param_groups[0]["weight_decay"] == 0

    @pytest.mark.parametrize(
        "change", [{"epochs": 0}, {"batch": 2.5}, {"rate": -1.0}, {"ema": 1.0}, {"precision": "8"}, {"mirror": 1}]
    )
    def test_values_that_make_no_sense_are_refused(self, change: dict[str, object]) -> None:
        with pytest.raises(TrainingError, match=next(iter(change))):
            dataclasses.replace(RECIPE, **change)  # type: ignore[arg-type]

    def test_a_plan_survives_its_own_description_and_may_be_of_a_time_before_headings(self) -> None:
        mixed = dataclasses.replace(RECIPE, mix=((6, 0.5), (9, 0.5)))
        plan = Plan(TINY, mixed, LossWeights(odd=0.25), redundancy=1.5, parity_pace=0.7, heading=2.0)
        assert Plan.from_dict(plan.to_dict()) == plan
        before = {name: value for name, value in plan.to_dict().items() if name != "heading"}
        assert Plan.from_dict(before) == dataclasses.replace(plan, heading=0.0)

    def test_unknown_names_are_refused(self) -> None:
        with pytest.raises(TrainingError, match="unknown model"):
            variant("nonsense")
        with pytest.raises(TrainingError, match="recipe"):
            Recipe.from_dict({**RECIPE.to_dict(), "nonsense": 1})


@pytest.mark.parametrize("decay", [0.5, 0.0])
def test_the_averaged_weights_are_the_moving_average_or_the_weights_themselves(decay: float) -> None:
    module = torch.nn.Linear(1, 1, bias=False)
    average = AveragedWeights(module, decay)
    expected = module.weight.item()
    for step, value in enumerate((1.0, 3.0, -2.0), start=100):  # past the first steps, whose decay is smaller
        with torch.no_grad():
            module.weight.fill_(value)
        average.set_step(step)
        average.update()
        expected = decay * expected + (1 - decay) * value
    assert average.tensors["weight"].item() == pytest.approx(expected)


class TestCorpus:
    def test_it_holds_every_layout_once(self, corpus: Corpus) -> None:
        assert len(corpus) + len(corpus.held_out) == 60
        assert sorted({len(layout.fleet) for layout in corpus.held_out}) == [6, 9]

    def test_features_that_were_kept_are_those_that_would_be_made(self, tmp_path: Path) -> None:
        generate(Settings(nodes=(6,), count=10, seed=4, search_moves=100), tmp_path)
        first = read_corpus([tmp_path], workers=1)
        kept = list(tmp_path.glob("features-*.npz"))
        assert len(kept) == 1
        again = read_corpus([tmp_path], workers=1)
        assert torch.equal(first.buckets[6].pair, again.buckets[6].pair)
        kept[0].write_bytes(kept[0].read_bytes()[:100])  # torn: made again
        assert torch.equal(first.buckets[6].pair, read_corpus([tmp_path], workers=1).buckets[6].pair)

    def test_several_folders_are_joined(self, layouts: Path, tmp_path: Path) -> None:
        generate(Settings(nodes=(6,), count=10, seed=4, search_moves=100), tmp_path)
        assert len(read_corpus([layouts, tmp_path], workers=1)) == 70

    def test_the_same_layouts_twice_are_refused_where_some_are_held_out(self, layouts: Path, tmp_path: Path) -> None:
        # Longer searched and fewer of them, but the same fleets.
        generate(Settings(nodes=(6, 9), count=20, seed=3, search_moves=200), tmp_path)
        with pytest.raises(DataError, match="has the layouts of"):
            read_corpus([layouts, tmp_path], held_out=4, workers=1)

    @pytest.mark.parametrize(
        ("more", "said"), [({"radio": RANDOM}, "radios of their own"), ({"blocked": 0.5}, "blocked antennas")]
    )
    def test_data_that_the_network_cannot_learn_from_is_refused(
        self, more: dict[str, Any], said: str, tmp_path: Path
    ) -> None:
        generate(Settings(nodes=(6,), count=1, seed=1, search_moves=5, **more), tmp_path / "set")
        with pytest.raises(DataError, match=said):
            read_corpus([tmp_path / "set"])

    def test_data_of_another_radio_is_refused(self, layouts: Path) -> None:
        with pytest.raises(DataError, match=r"sigma2 = 0\.45, not 0\.1"):
            read_corpus([layouts], Radio(sigma2=0.1), workers=1)

    def test_an_empty_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="not a dataset folder"):
            read_corpus([tmp_path], workers=1)


class TestWhatGoesWrong:
    def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(
        self, corpus: Corpus, tmp_path: Path
    ) -> None:
        run = trainer(corpus, tmp_path)
        run.train(until=2)
        kept = (tmp_path / CHECKPOINT).read_bytes()
        with torch.no_grad():
            next(run.generator.parameters()).fill_(math.nan)
        with pytest.raises(TrainingError, match="checkpoint is kept"):
            run.train()
        assert (tmp_path / CHECKPOINT).read_bytes() == kept

    def test_a_checkpoint_cut_short_or_of_another_run_is_refused(self, corpus: Corpus, tmp_path: Path) -> None:
        trainer(corpus, tmp_path).train(until=2)
        with pytest.raises(CheckpointError, match=r"recipe\.rate"):
            trainer(corpus, tmp_path, dataclasses.replace(RECIPE, rate=0.5))
        content = (tmp_path / CHECKPOINT).read_bytes()
        for length in (0, 7, 300, len(content) - 1):
            (tmp_path / CHECKPOINT).write_bytes(content[:length])
            with pytest.raises(CheckpointError, match="torn"):
                trainer(corpus, tmp_path)

    def test_a_checkpoint_of_another_version_is_refused(
        self, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("manetdiff.training.checkpoint.FORMAT", 99)
        trainer(corpus, tmp_path).train(until=2)
        monkeypatch.undo()
        with pytest.raises(CheckpointError, match="version 99"):
            trainer(corpus, tmp_path)

    def test_running_out_of_memory_says_what_to_do(
        self, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = trainer(corpus, tmp_path)

        def exhausted(step: int) -> dict[str, torch.Tensor]:
            raise torch.OutOfMemoryError

        monkeypatch.setattr(run.stepper, "take", exhausted)
        with pytest.raises(TrainingError, match="smaller batch"):
            run.train()

    def test_a_folder_that_another_run_writes_to_or_that_cannot_be_made(self, corpus: Corpus, tmp_path: Path) -> None:
        with locked(tmp_path), pytest.raises(FormatError, match="another run is writing"):
            trainer(corpus, tmp_path).train()
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "file").touch()
        with pytest.raises(FormatError, match="file/run: the folder cannot be made"):
            trainer(corpus, tmp_path / "file" / "run").train()


SMALL: dict[str, Any] = {"width": 8, "blocks": 1, "tokens": 2, "batch": 8, "accelerator": "cpu"}


class TestFromPython:
    def test_one_call_trains_and_says_what_became_of_it(self, layouts: Path, tmp_path: Path) -> None:
        told: list[TrainingNews] = []
        settings = {**SMALL, "epochs": 2, "mix": {6: 1.0, 9: 3.0}, "validation": 4}
        result = train(layouts, tmp_path / "run", "cam", losses={"odd": 0.5}, report=told.append, **settings)
        assert result.leads
        assert [len(layout.fleet) for layout in result.held_out] == [6] * 4 + [9] * 4
        assert (told[0].step, told[0].figures) == (0, {})
        assert result.state.step == told[-1].step == told[0].steps
        assert result.state.best == max(news.figures.get("validation/ratio", 0) for news in told)
        last = read_weights(tmp_path / "run" / LAST)
        assert all(torch.equal(last.tensors[name], tensor) for name, tensor in result.weights.tensors.items())
        assert last.card["variant"] == "cam"
        assert last.card["losses"] == {**LossWeights().to_dict(), "odd": 0.5}
        assert (last.card["recipe"]["mix"], last.config.modulation) == ([[6, 1.0], [9, 3.0]], "cam")
        again = train([layouts], tmp_path / "run", "cam", losses={"odd": 0.5}, report=told.append, **settings)
        assert again.state == result.state
        assert told[-1].step == told[-1].steps

    def test_the_model_has_the_sectors_of_the_data(self, tmp_path: Path) -> None:
        generate(Settings(nodes=(6,), count=10, seed=3, search_moves=100, radio=Radio(sectors=6)), tmp_path / "six")
        result = train(tmp_path / "six", tmp_path / "run", epochs=1, **SMALL)
        assert result.state.step == 1
        weights = read_weights(tmp_path / "run" / LAST)
        assert (weights.config.sectors, weights.radio.sectors) == (6, 6)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"wide": 8}, "no setting wide; there are activation, batch"),
            ({"sectors": 6}, "no setting sectors"),
            ({"losses": {"od": 1.0}}, "no term of the loss od; there are consistency, cosine, edges, odd, parity"),
            ({"losses": {"odd": -1.0}}, "the weight of odd must be a finite number of at least 0"),
            ({"accelerator": "tpu"}, "give cpu"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, change: dict[str, Any], message: str, layouts: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(ManetDiffError, match=message):
            train(layouts, tmp_path / "run", **{**SMALL, **change})
        assert not (tmp_path / "run").exists()


def test_validation_keeps_the_best_weights_and_stops_when_nothing_is_gained(corpus: Corpus, tmp_path: Path) -> None:
    still = dataclasses.replace(RECIPE, rate=0.0, last_rate=0.0, epochs=9, validate_every=1, patience=2)
    run = trainer(corpus, tmp_path, still)
    told: list[TrainingNews] = []
    progress = run.train(told.append)
    validations = [report for report in told if "validation/ratio" in report.figures]
    assert len(validations) == 3  # the first is a gain, two are not
    assert progress.step == 3 * run.epoch_steps < run.steps
    best = read_weights(tmp_path / BEST)
    assert best.card["validation"]["ratio"] == pytest.approx(validations[0].figures["validation/ratio"])
    assert (tmp_path / LAST).exists()
    assert list((tmp_path / "tensorboard").iterdir())
