"""Reward: a sparse network learns from its own samples, and may so outdo the search that its layouts were solved by.

Several graphs are sampled on each layout: by the few steps from a spanning forest or from noise that are used where
time is short, to be corrected and searched from; or by a whole chain from noise, to be used as they are. It learns from
them twice:

- Those that turn out better than the others of their layout are made likelier, the others less likely: a policy
  gradient whose baseline is the mean of the group.
- At the states that a chain came by, the network is taught what a short local search made of where it ended. A layout
  has many good solutions, and this is the one that the chain was heading for, whatever the reference had found.

The solved layout goes on being taught beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.diffusion.sparse import SparseGenerator, noised
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import TrainingError
from manetdiff.files import locked, made_folder, write_whole
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.losses import LossWeights
from manetdiff.model.packing import LINKS, NODES
from manetdiff.model.sparse_losses import sparse_losses
from manetdiff.sampling import forest_start, grid_for, time_pairs
from manetdiff.training.checkpoint import CHECKPOINT, RunState, load_checkpoint, save_checkpoint
from manetdiff.training.judging import Judgement, Sampled, judged, judges
from manetdiff.training.merit import advantages, likelihood
from manetdiff.training.optimisation import AveragedWeights
from manetdiff.training.own_samples import Way, chain_states, predicted, step_shares, uniform_draws
from manetdiff.training.packed import Batch, PackedCorpus, fitting, packed, read_packed, room_for
from manetdiff.training.plan import stream_seed
from manetdiff.training.reward_recipe import RewardRecipe

LAST = "last.safetensors"
KEPT_EVERY = 100  # steps
# Random streams of a run.
ORDER, SAMPLES, TAUGHT = 10, 11, 12
# Of what is taught: cross-entropies and broken constraints, as in training.
LOSSES = LossWeights(cosine=0.0)


class Drawn(NamedTuple):
    """Samples on some layouts, being judged. states: of their chains. judgements: of the layouts, in their order."""

    step: int
    way: Way
    batch: Batch
    states: list[ArcGraphs]
    judgements: Iterator[Judgement]


def reward(
    data: Sequence[Path],
    out: Path,
    weights: Weights,
    recipe: RewardRecipe,
    *,
    workers: int,
    device: torch.device | str = "cpu",
    until: int | None = None,
    report: Callable[[int, dict[str, float]], None] = lambda step, figures: None,
) -> Weights:
    """Weights that were rewarded, in the folder `out`; goes on from the checkpoint there, if there is one.

    - until: stop for now at the first checkpoint from this step on. report: told of each step and its figures.
    """
    generator = weights.build()
    if not isinstance(generator, SparseGenerator):
        raise TrainingError("reward: for sparse networks only")
    made_folder(out)
    with locked(out), judges(workers) as pool:
        run = _Rewarded(generator.to(device).train(), read_packed(data, workers=workers).to(device), weights, recipe)
        run.take_up(out)
        last = recipe.steps if until is None else min(math.ceil(until / KEPT_EVERY) * KEPT_EVERY, recipe.steps)
        drawn = None
        while run.step < last:
            drawn = drawn or run.draw(run.step, pool)
            # The cores judge the next samples while the device learns from these; but not across a checkpoint, so that
            # a run that goes on from there takes the same steps.
            kept = (run.step + 1) % KEPT_EVERY == 0 or run.step + 1 == last
            later = None if kept else run.draw(run.step + 1, pool)
            figures = run.learn(drawn)
            drawn = later
            if kept:
                run.keep(out)
            report(run.step, figures)
        return run.weights()


class _Rewarded:
    """A network on its way."""

    def __init__(self, generator: SparseGenerator, corpus: PackedCorpus, start: Weights, recipe: RewardRecipe) -> None:
        self.generator, self.corpus, self.start, self.recipe = generator, corpus, start, recipe
        self.average = AveragedWeights(generator, recipe.ema)
        self.optimizer = torch.optim.AdamW(generator.parameters(), lr=recipe.rate, weight_decay=0.0)
        self.counts = corpus.rows.begins.diff().cpu().numpy()
        self.sampled_on = np.flatnonzero(self.counts[NODES] <= recipe.largest)
        if len(self.sampled_on) < recipe.layouts:
            raise TrainingError(f"reward: only {len(self.sampled_on)} layouts of up to {recipe.largest} nodes")
        # Of one shape, so that the network is compiled once.
        self.room = room_for(corpus, self.sampled_on, recipe.layouts, recipe.samples)
        if corpus.rows.begins.device.type == "cuda":
            generator.denoiser.compile(dynamic=False)
        self.origins = [(one.folder, int(row)) for one in corpus.origins for row in one.rows]
        self.state = RunState()

    @property
    def step(self) -> int:
        """Steps taken."""
        return self.state.step

    def take_up(self, folder: Path) -> None:
        """Go on from a folder's checkpoint."""
        path = folder / CHECKPOINT
        if path.exists():
            self.state = load_checkpoint(path, self._run(), self.generator, self.average, self.optimizer)

    def keep(self, folder: Path) -> None:
        """Checkpoint and weights."""
        save_checkpoint(folder / CHECKPOINT, self._run(), self.generator, self.average, self.optimizer, self.state)
        write_whole(folder / LAST, self.weights().to_bytes())

    def weights(self) -> Weights:
        """The averaged ones. Their card has all rewards that they were given, and the layouts of the last."""
        rewards = [*self.start.card.get("reward", []), {**self.recipe.to_dict(), "taken": self.step}]
        card = {**self.start.card, "reward": rewards, "reward_data": self.corpus.sources}
        return replace(self.start, tensors=dict(self.average.tensors), card=card)

    def _run(self) -> dict[str, Any]:
        """What a run that goes on must be equal in, as a checkpoint will have it."""
        made_of = {
            "data": self.corpus.sources,
            "start": self.start.digest,
            "sampling": self.start.sampling.to_dict(),
        }
        described: dict[str, Any] = json.loads(json.dumps({**self.recipe.to_dict(), **made_of}))
        return described

    def draw(self, step: int, pool: Executor) -> Drawn:
        """Sample on some layouts, and have it judged."""
        recipe, device = self.recipe, self.corpus.rows.begins.device
        rng = np.random.default_rng([recipe.seed, ORDER, step])
        layouts = rng.choice(self.sampled_on, recipe.layouts, replace=False)
        layouts = layouts[: fitting(self.room, recipe.samples * self.counts[:, layouts])]
        way = self._way(rng)
        chosen = np.full(self.room.graphs, -1)
        chosen[: len(layouts) * recipe.samples] = np.repeat(layouts, recipe.samples)
        batch = packed(self.corpus.rows, torch.from_numpy(chosen).to(device), self.room)
        states = chain_states(self.generator, batch, self.room, way, recipe.samples, self._chance(SAMPLES, step))
        sampled = self._samples(states[-1], layouts, as_it_is=way.whole)
        return Drawn(step, way, batch, states, judged(pool, sampled))

    def learn(self, drawn: Drawn) -> dict[str, float]:
        """One step, from samples as soon as they are judged."""
        recipe, layouts = self.recipe, drawn.batch.layouts
        chance = self._chance(TAUGHT, drawn.step)
        judgements = list(drawn.judgements)
        worth = np.stack([one.worth for one in judgements])
        merit = torch.zeros(self.room.graphs - 1, device=chance.device)
        merit[: worth.size] = torch.from_numpy(advantages(worth)).float().to(chance.device)
        searched = self._searched(judgements)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate * (1 - drawn.step / recipe.steps)
        self.optimizer.zero_grad(set_to_none=True)
        draws = uniform_draws(self.room, chance)
        noisy = noised(self.generator.process, layouts, drawn.batch.clean, draws, drawn.batch.forest)
        loss = recipe.teaching * _wrong(
            predicted(self.generator, layouts, noisy, draws.time), drawn.batch.clean, layouts
        )
        learned = self._learned(drawn)
        lesson = torch.zeros((), device=chance.device)
        for k in learned:
            times, state, after = drawn.way.times[k], drawn.states[k], drawn.states[k + 1]
            prediction, shares = step_shares(self.generator, layouts, state, times, drawn.way.sampling)
            gained = (likelihood(layouts, shares, after) * merit).sum() / worth.size
            loss = loss - recipe.gradient * gained / len(learned)
            lesson = lesson + _wrong(prediction, searched, layouts) / len(learned)
        (loss + recipe.lesson * lesson).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
        self.optimizer.step()
        self.average.set_step(drawn.step)
        self.average.update()
        self.state.step = drawn.step + 1
        named = "whole" if drawn.way.whole else "few"
        return {f"{named}: worth": float(worth.mean()), f"{named}: lesson": float(lesson.detach())}

    def _way(self, rng: np.random.Generator) -> Way:
        """How the samples of a step are drawn."""
        if rng.random() < self.recipe.whole:
            steps = self.recipe.whole_chain
            return Way(time_pairs(steps, grid_for(steps)), self.start.sampling, forest=False, whole=True)
        steps, forest = int(rng.integers(self.recipe.few)) + 1, bool(rng.integers(2))
        start = forest_start(steps) if forest else 1.0
        return Way(time_pairs(steps, grid_for(steps), start), self.start.sampling, forest=forest, whole=False)

    def _learned(self, drawn: Drawn) -> list[int]:
        """Which denoising steps of a chain are learned from."""
        count = len(drawn.way.times)
        rng = np.random.default_rng([self.recipe.seed, TAUGHT, drawn.step])
        return sorted(rng.choice(count, min(self.recipe.learned, count), replace=False).tolist())

    def _samples(self, last: ArcGraphs, layouts: npt.NDArray[np.int64], *, as_it_is: bool) -> list[Sampled]:
        """The graphs of each layout."""
        counts = self.counts[:, layouts]
        links, parity = (part.to(torch.uint8).cpu().numpy() for part in last)
        sampled, at_link, at_node = [], 0, 0
        for number, n, c in zip(layouts, counts[NODES], counts[LINKS], strict=True):
            s = self.recipe.samples
            mine = links[at_link : at_link + s * c].reshape(s, c), parity[at_node : at_node + s * n].reshape(s, n)
            folder, row = self.origins[number]
            sampled.append(Sampled(folder, row, *mine, self.recipe.search, as_it_is))
            at_link, at_node = at_link + s * c, at_node + s * n
        return sampled

    def _searched(self, judgements: Sequence[Judgement]) -> ArcGraphs:
        """What the search made of the samples, in the rows of their batch, and nothing in those that fill it up."""
        parts = []
        for name, size in (("links", self.room.links), ("parity", self.room.nodes)):
            made = np.concatenate([getattr(one, name).ravel() for one in judgements])
            filled = np.zeros(size, dtype=np.float32)
            filled[: len(made)] = made
            parts.append(torch.from_numpy(filled).to(self.corpus.rows.begins.device))
        return ArcGraphs(*parts)

    def _chance(self, stream: int, step: int) -> torch.Generator:
        made = torch.Generator(self.corpus.rows.begins.device)
        made.manual_seed(stream_seed(self.recipe.seed, stream, step))
        return made


def _wrong(prediction: ArcPrediction, clean: ArcGraphs, layouts: ArcLayouts) -> Tensor:
    """How wrong a prediction is, as in training."""
    terms = sparse_losses(prediction, clean, layouts, LOSSES)
    return torch.stack([getattr(LOSSES, name) * value for name, value in terms.items()]).sum()
