"""The captured training step: what is recorded, when, and that nothing but its speed differs.

There is no GPU here: tests/support/fake_cuda.py stands in for it.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from lightning.fabric import Fabric
from torch import Tensor, nn

from manetdiff.data import RANDOM, Settings, generate
from manetdiff.model.config import ModelConfig
from manetdiff.training.corpus import Corpus, read_corpus
from manetdiff.training.feeds import DenseFeed
from manetdiff.training.loop import Trainer
from manetdiff.training.packed import read_packed
from manetdiff.training.plan import Plan, Share, batch_draws, batch_rows
from manetdiff.training.recipe import Recipe
from manetdiff.training.stepping import BEFORE_CAPTURE
from support.fake_cuda import FakeCuda, FakeGraph, Refusal

# Three steps an epoch. The rate, the average and the mirroring change with every step: a recording must not keep them.
RECIPE = Recipe(epochs=4, batch=8, rate=1e-2, last_rate=1e-6, weight_decay=0.5, ema=0.9, mirror=True, clip=1.0)
STEPS = 9
PLAIN = dataclasses.replace(RECIPE, epochs=3, plain_epochs=1)  # no weight decay from step 6 on
ASIDE = ["side waits for main", "step on side", "main waits for side"]
RECORDED = ["step on capture", "replay"]

Moment = dict[str, Tensor]
"""All that a step leaves behind: the terms of its loss, the weights, their average and the optimizer's state."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("layouts") / "mixed"
    generate(Settings(nodes=(6, 9), count=24, seed=3, search_moves=100), folder)
    return read_corpus([folder], workers=1)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    torch.set_num_threads(1)
    return FakeCuda(monkeypatch)


Make = Callable[..., Trainer]


@pytest.fixture
def make(corpus: Corpus, cuda: FakeCuda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes runs, all of them alike, whose steps appear among the events."""
    monkeypatch.setattr("manetdiff.training.loop.make_optimizer", _optimizer_as_on_a_gpu)
    monkeypatch.setattr("manetdiff.training.feeds.batch_rows", _rows_as_on_a_gpu)

    def made(recipe: Recipe = RECIPE, *, captured: bool) -> Trainer:
        model = ModelConfig(width=8, blocks=1, tokens=2)
        run = Trainer(Plan(model, recipe), corpus, tmp_path, Fabric(accelerator="cpu", devices=1))
        run.stepper.can_capture = captured
        body = run.stepper._body

        def noted(inputs: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
            cuda.events.append(f"step on {cuda.current.name}")
            return body(inputs)

        monkeypatch.setattr(run.stepper, "_body", noted)
        return run

    return made


def _optimizer_as_on_a_gpu(module: nn.Module, recipe: Recipe, device: torch.device) -> torch.optim.AdamW:
    """Its rate and count of steps are tensors; those of a CPU are Python's numbers, which a recording would keep."""
    rate = torch.tensor(recipe.rate, device=device)
    return torch.optim.AdamW(module.parameters(), lr=rate, weight_decay=recipe.weight_decay, fused=True)


def _rows_as_on_a_gpu(share: Share, step: int, seed: int) -> Tensor:
    """Moving them to a GPU copies them; on a CPU they stay a part of the order that all runs share."""
    return batch_rows(share, step, seed).clone()


def _take(run: Trainer, steps: int = STEPS) -> list[Moment]:
    return [_moment(run, run.stepper.take(step)) for step in range(steps)]


def _moment(run: Trainer, terms: dict[str, Tensor]) -> Moment:
    left = {f"term {name}": value for name, value in terms.items()}
    left |= {f"average {name}": value for name, value in run.average.tensors.items()}
    for name, weight in run.generator.named_parameters():
        left[f"weight {name}"] = weight.detach()
        left |= {f"{what} of {name}": value for what, value in run.optimizer.optimizer.state[weight].items()}
    return {what: value.clone() for what, value in left.items()}


def _assert_same(one: list[Moment], other: list[Moment]) -> None:
    for step, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        assert mine.keys() == theirs.keys()
        for what, value in mine.items():
            assert torch.equal(value, theirs[what]), f"{what} differs after step {step}"


def test_the_stand_in_records_without_running_and_replays_on_what_is_there_by_then(cuda: FakeCuda) -> None:
    graph, factor = FakeGraph(cuda.events), 2.0
    given, count = torch.ones(3), torch.zeros(())
    with torch.cuda.graph(graph):  # type: ignore[arg-type]
        made = given * factor
        count.add_(1)
    assert bool(made.isnan().all()) and count == 0
    factor = 7.0
    for value in (3.0, 5.0):
        given.fill_(value)
        graph.replay()
        assert made.tolist() == [2 * value] * 3
    assert count == 2
    with pytest.raises(RuntimeError, match="not permitted"), torch.cuda.graph(FakeGraph([])):  # type: ignore[arg-type]
        given.sum().item()


def test_after_a_few_steps_aside_one_is_recorded_and_replayed_and_all_are_those_without_capture(
    make: Make, cuda: FakeCuda
) -> None:
    plain = _take(make(captured=False))
    assert cuda.events == ["step on main"] * STEPS
    cuda.events.clear()
    _assert_same(_take(make(captured=True)), plain)
    replays = STEPS - BEFORE_CAPTURE - 1
    assert cuda.events == ASIDE * BEFORE_CAPTURE + RECORDED + ["replay"] * replays
    assert BEFORE_CAPTURE > 0 and replays >= 3
    # Steps that all did nothing would be the same too.
    assert not torch.equal(plain[-1]["term edges"], plain[-2]["term edges"])


def test_packed_batches_are_recorded_and_replayed_as_well(
    cuda: FakeCuda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(Settings(nodes=(5, 8), count=24, seed=3, search_moves=50, radio=RANDOM), tmp_path / "layouts")
    packed = read_packed([tmp_path / "layouts"], workers=1)
    monkeypatch.setattr("manetdiff.training.loop.make_optimizer", _optimizer_as_on_a_gpu)
    recipe = dataclasses.replace(RECIPE, batch=512, mirror=False)
    plan = Plan(ModelConfig(kind="sparse", width=8, blocks=1, tokens=2), recipe)

    def steps(captured: bool) -> list[Moment]:
        run = Trainer(plan, packed, tmp_path, Fabric(accelerator="cpu", devices=1))
        run.stepper.can_capture = captured
        return _take(run)

    plain = steps(captured=False)
    cuda.events.clear()
    _assert_same(steps(captured=True), plain)
    assert cuda.events.count("replay") == STEPS - BEFORE_CAPTURE
    assert not torch.equal(plain[-1]["term edges"], plain[-2]["term edges"])


def test_a_step_is_recorded_again_when_the_weight_decay_changes(make: Make, cuda: FakeCuda) -> None:
    run = make(PLAIN, captured=True)
    assert (run.epoch_steps, run.steps) == (3, STEPS)
    captured = _take(run)
    assert cuda.events == ASIDE * 4 + [*RECORDED, "replay"] + [*RECORDED, "replay", "replay"]
    _assert_same(captured, _take(make(PLAIN, captured=False)))


@pytest.mark.parametrize(("recording", "when"), [(0, "at the start"), (0, "midway"), (1, "midway"), (1, "at the end")])
def test_steps_that_cannot_be_captured_go_on_kernel_by_kernel_with_a_warning(
    recording: int, when: Refusal, make: Make, cuda: FakeCuda
) -> None:
    plain = _take(make(PLAIN, captured=False))
    run = make(PLAIN, captured=True)
    cuda.refuse = recording, when
    cuda.events.clear()
    with pytest.warns(RuntimeWarning, match="could not be captured as a CUDA graph: the capture was refused") as told:
        steps = _take(run)
    assert len(told) == 1
    assert not run.stepper.can_capture
    _assert_same(steps, plain)
    # After the refusal every step is a plain one, that of the refusal among them.
    left = STEPS - (4 if recording == 0 else 6)
    assert cuda.events[-left:] == ["step on main"] * left
    assert cuda.recordings == recording + 1


def test_errors_that_are_not_the_capture_s_are_not_taken_for_one(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(captured=True)
    _take(run, BEFORE_CAPTURE)

    def broken(inputs: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
        raise ValueError("broken")

    monkeypatch.setattr(run.stepper, "_body", broken)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="broken"):
        warnings.simplefilter("error")
        run.stepper.take(BEFORE_CAPTURE)


def test_every_replay_finds_the_numbers_of_its_own_step_in_the_memory_of_the_recording(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make(captured=True)
    feed = run.feed
    assert isinstance(feed, DenseFeed)
    body, taken = run.stepper._body, []

    def kept(inputs: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
        taken.append(inputs)
        return body(inputs)

    monkeypatch.setattr(run.stepper, "_body", kept)
    for step in range(STEPS):
        run.stepper.take(step)
        # After the recording `taken` grows no more: its last is the memory that every replay reads.
        assert len(taken) == min(step, BEFORE_CAPTURE) + 1
        for share, tensors in zip(feed.split, taken[-1], strict=True):
            rows = batch_rows(share, step, RECIPE.seed)
            draws, flipped = batch_draws(share, step, RECIPE.seed, run.plan.model.latent, torch.device("cpu"))
            expected = (rows, draws.time, *draws.uniform, draws.normal, flipped)
            for held, new in zip(tensors, expected, strict=True):
                assert torch.equal(held, new)


def test_nothing_is_captured_on_a_cpu(corpus: Corpus, tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, compiled=True)
    run = Trainer(Plan(ModelConfig(width=8, blocks=1), recipe), corpus, tmp_path, Fabric(accelerator="cpu", devices=1))
    assert not run.stepper.can_capture
