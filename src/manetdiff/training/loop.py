"""The training loop, on Lightning Fabric: one process or many, CPU or GPUs, the same steps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from lightning.fabric import Fabric
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from manetdiff.diffusion.generator import AnyGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights, features_version
from manetdiff.errors import TrainingError
from manetdiff.files import locked, made_folder, write_whole
from manetdiff.model.losses import LossWeights
from manetdiff.model.sparse_losses import Summed
from manetdiff.sampling import SamplerConfig
from manetdiff.training.checkpoint import CHECKPOINT, RunState, load_checkpoint, save_checkpoint
from manetdiff.training.corpus import Corpus
from manetdiff.training.feeds import DenseFeed, PackedFeed
from manetdiff.training.optimisation import AveragedWeights, make_optimizer, rate_at
from manetdiff.training.packed import PackedCorpus
from manetdiff.training.parts import summed_over
from manetdiff.training.plan import Plan
from manetdiff.training.stepping import Feed, Stepper
from manetdiff.training.validation import judge, sample_topologies

BEST, LAST = "best.safetensors", "last.safetensors"
LOG_EVERY = 50  # steps between looks at the loss: each look waits for the device
VALIDATION_SEED = 7
START_AGAIN = (
    "the last checkpoint is kept; start again in another folder with a lower rate, a smaller clip or precision 32"
)


@dataclass(frozen=True)
class TrainingNews:
    """What a run tells while it goes on: the step just taken, of how many, and figures by name."""

    step: int
    steps: int
    figures: Mapping[str, float]


class LossModule(nn.Module):
    """A model as Fabric and torch.compile see it: from a batch to the terms of its loss.

    - summed: of sparse networks whose batches several processes share; see `sparse_losses`.
    """

    def __init__(self, generator: AnyGenerator, weights: LossWeights, summed: Summed | None = None) -> None:
        super().__init__()
        self.generator = generator
        self.weights = weights
        self.summed = summed

    def forward(self, layouts: Any, clean: Any, draws: Any, *more: Any) -> dict[str, Tensor]:
        if self.summed is not None:
            more = (*more, self.summed)
        terms: dict[str, Tensor] = self.generator.loss_terms(layouts, clean, draws, self.weights, *more)
        return terms


class Trainer:
    """One run in one folder: it goes on from the folder's checkpoint where there is one.

    A network on all pairs gets as many sectors as the data's radio has.
    """

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus | PackedCorpus,
        folder: Path,
        fabric: Fabric,
        card: Mapping[str, Any] | None = None,
        start: Weights | None = None,
    ) -> None:
        """start: weights to begin with, instead of random ones."""
        recipe = plan.recipe
        if isinstance(corpus, Corpus):
            plan = replace(plan, model=replace(plan.model, sectors=corpus.radio.sectors))
        self.plan, self.folder, self.fabric = plan, folder, fabric
        self.corpus = corpus.to(fabric.device)
        self.feed = _feed(plan, self.corpus, fabric)
        self.epoch_steps = self.feed.epoch_steps
        self.steps = recipe.epochs * self.epoch_steps
        self.process = Process(corpus.mean_degree, plan.redundancy, plan.parity_pace, plan.heading, plan.forest)
        made_of = {
            "features": features_version(plan.model),
            "data": corpus.sources,
            "process": self.process.to_dict(),
        }
        if start is not None:
            if start.config != plan.model:
                raise TrainingError(
                    f"start: these weights are of another model, {start.config}; the run is of {plan.model}"
                )
            # What they were made of, and which ones they are: a run goes on only with what it began with.
            made_of["start"] = {**start.card, "digest": start.digest}
        run = {**plan.to_dict(), **made_of, "split": self.feed.described}
        self.run = json.loads(json.dumps(run))  # as a checkpoint will have it
        self.card = dict(card or {})
        torch.manual_seed(recipe.seed)
        self.generator = build(plan.model, self.process)
        if start is not None:
            self.generator.load_state_dict(start.build().state_dict())
        shared = plan.model.kind == "sparse" and fabric.world_size > 1
        module: nn.Module = LossModule(self.generator, plan.losses, summed_over(fabric) if shared else None)
        self.generator.to(fabric.device)
        optimizer = make_optimizer(module, recipe, fabric.device)
        self.average = AveragedWeights(self.generator, recipe.ema)
        self.state = RunState()
        if (folder / CHECKPOINT).exists():
            self.state = load_checkpoint(folder / CHECKPOINT, self.run, self.generator, self.average, optimizer)
        self._agree()
        if recipe.compiled and fabric.device.type == "cuda":  # compiling for a CPU takes longer than it saves
            module = torch.compile(module, dynamic=False)  # type: ignore[assignment]
        fabric_module, self.optimizer = fabric.setup(module, optimizer)
        self.stepper = Stepper(plan, self.feed, fabric, fabric_module, self.optimizer, self.average)

    def _agree(self) -> None:
        """All processes must begin at one step, or they would wait for each other for ever."""
        first = self.fabric.broadcast(self.state.step)
        apart = torch.tensor(float(first != self.state.step), device=self.fabric.device)
        told = self.fabric.all_reduce(apart, reduce_op="sum")
        assert isinstance(told, Tensor)
        if told > 0:
            raise TrainingError(
                f"{self.folder}: the machines do not see the same checkpoint in it: give a folder that all of them "
                "share, or copy it to each"
            )

    def train(self, report: Callable[[TrainingNews], None] = lambda news: None, until: int | None = None) -> RunState:
        """Take all steps that are left, or those up to step `until`. report: told first where the run begins."""
        made_folder(self.folder)
        with locked(self.folder) if self.fabric.is_global_zero else nullcontext():
            self._train(report, self.steps if until is None else min(until, self.steps))
        return self.state

    def _train(self, report: Callable[[TrainingNews], None], last: int) -> None:
        writer = (
            SummaryWriter(str(self.folder / "tensorboard"), purge_step=self.state.step)
            if self.fabric.is_global_zero
            else None
        )
        since, before = time.monotonic(), self.state.step
        try:
            self._tell(writer, report, {})
            while self.state.step < last and not self._gave_up():
                terms = self.stepper.take(self.state.step)
                self.state.step += 1
                step = self.state.step
                if step % LOG_EVERY == 0 or step == last:
                    figures = self._figures(terms, step)
                    graphs, now = (step - before) * self.feed.batch, time.monotonic()
                    figures["rate"] = rate_at(self.plan.recipe, step - 1, self.epoch_steps)
                    figures["graphs_per_second"] = graphs / (now - since)
                    self._tell(writer, report, figures)
                    since, before = now, step
                if step % (self.plan.recipe.validate_every * self.epoch_steps) == 0 or step == self.steps:
                    self._tell(writer, report, self._validate())
                if step % (self.plan.recipe.checkpoint_every * self.epoch_steps) == 0 or step == last:
                    self._save()
                    since, before = time.monotonic(), step  # what was not training does not count in its speed
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            raise TrainingError(
                f"out of memory with a batch of {self.plan.recipe.batch}: "
                "start again in another folder with a smaller batch, fewer nodes or more devices"
            ) from None
        finally:
            if writer is not None:
                writer.close()
        if self.fabric.is_global_zero and (self.state.step >= self.steps or self._gave_up()):
            write_whole(self.folder / LAST, self.weights().to_bytes())

    def weights(self, figures: Mapping[str, float] | None = None) -> Weights:
        """The averaged weights as they are now."""
        card = {**self.card, **self.run, "step": self.state.step, "planned_steps": self.steps}
        if figures:
            card["validation"] = dict(figures)
        return Weights(self.plan.model, self.process, self.corpus.radio, dict(self.average.tensors), card=card)

    def _figures(self, terms: dict[str, Tensor], step: int) -> dict[str, float]:
        names = list(terms)
        values = self.fabric.all_reduce(torch.stack([terms[name] for name in names]), reduce_op="mean")
        assert isinstance(values, Tensor)
        figures = dict(zip(names, values.tolist(), strict=True))
        figures["loss"] = sum(figures.values())
        if not all(map(_finite, figures.values())):
            raise TrainingError(f"the loss is no longer a number after step {step}: {START_AGAIN}")
        return figures

    def _validate(self) -> dict[str, float]:
        """Sample with the averaged weights; the best so far, by T as a share of the target, are kept as a file."""
        told: dict[str, float] = {}
        held_out = self.corpus.held_out
        if self.fabric.is_global_zero and held_out:
            weights = self.weights()
            judged = weights.build().to(self.fabric.device)
            sampling = SamplerConfig(steps=self.plan.recipe.validation_steps)
            layouts = [one.layout for one in held_out]
            topologies = sample_topologies(judged, layouts, sampling, VALIDATION_SEED, self.fabric.device)
            targets = [one.metrics["throughput"] for one in held_out]
            told = judge(topologies, targets, one_by_one=isinstance(self.corpus, PackedCorpus))
            if self.state.best is None or told["ratio"] > self.state.best:
                self.state.best, self.state.since_best = told["ratio"], 0
                write_whole(self.folder / BEST, self.weights(told).to_bytes())
            else:
                self.state.since_best += 1
        self.state = self.fabric.broadcast(self.state)
        return {f"validation/{name}": value for name, value in told.items()}

    def _gave_up(self) -> bool:
        patience = self.plan.recipe.patience
        return bool(patience) and self.state.since_best >= patience

    def _save(self) -> None:
        if not all(bool(torch.isfinite(weight).all()) for weight in self.generator.parameters()):
            raise TrainingError(f"the weights are no longer numbers after step {self.state.step}: {START_AGAIN}")
        if self.fabric.is_global_zero:
            optimizer = self.optimizer.optimizer
            save_checkpoint(self.folder / CHECKPOINT, self.run, self.generator, self.average, optimizer, self.state)
        self.fabric.barrier()

    def _tell(
        self, writer: SummaryWriter | None, report: Callable[[TrainingNews], None], figures: dict[str, float]
    ) -> None:
        if writer is None:
            return
        for name, value in figures.items():
            writer.add_scalar(name, value, self.state.step)
        report(TrainingNews(self.state.step, self.steps, figures))


def _feed(plan: Plan, corpus: Corpus | PackedCorpus, fabric: Fabric) -> Feed:
    where = fabric.device, fabric.global_rank, fabric.world_size
    return DenseFeed(plan, corpus, *where) if isinstance(corpus, Corpus) else PackedFeed(plan, corpus, *where)


def _out_of_memory(error: Exception) -> bool:
    # On a CPU PyTorch has no error of its own for it.
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "allocate memory" in str(error)


def _finite(value: float) -> bool:
    return value - value == 0
