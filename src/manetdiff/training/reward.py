"""Reward: a sparse network learns from its own samples, and may so outdo the search that its layouts were solved by.

Several graphs are sampled on each layout: by the few steps from a spanning forest that are used where time is short, to
be corrected and searched from; or by a whole chain from noise, to be used as they are. It learns from them twice:

- Those that turn out better than the others of their layout are made likelier, the others less likely: a policy
  gradient whose baseline is the mean of the group.
- At the states that a chain came by, the network is taught what a short local search made of where it ended. A layout
  has many good solutions, and this is the one that the chain was heading for, whatever the reference had found.

The solved layout goes on being taught beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.checks import check_above_0, check_at_least_0, check_whole, check_within
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import TrainingError
from manetdiff.files import locked, made_folder, write_whole
from manetdiff.json_settings import JsonSettings
from manetdiff.model.arc_tensors import ArcGraphs
from manetdiff.model.losses import LossWeights
from manetdiff.model.packing import LINKS, NODES, Room
from manetdiff.model.sparse_losses import sparse_losses
from manetdiff.sampling import SamplerConfig, grid_for, time_pairs
from manetdiff.training.checkpoint import CHECKPOINT, RunState, load_checkpoint, save_checkpoint
from manetdiff.training.judging import Judgement, Sampled, judged, judges
from manetdiff.training.merit import advantages, likelihood
from manetdiff.training.optimisation import AveragedWeights
from manetdiff.training.own_samples import Way, chain_states, step_shares, uniform_draws
from manetdiff.training.packed import Batch, PackedCorpus, exact_room, packed, read_packed
from manetdiff.training.plan import stream_seed

LAST = "last.safetensors"
KEPT_EVERY = 100  # steps
# Random streams of a run.
ORDER, SAMPLES, TAUGHT = 10, 11, 12
# Of what is taught: cross-entropies and broken constraints, as in training.
LOSSES = LossWeights(cosine=0.0)


@dataclass(frozen=True)
class RewardRecipe(JsonSettings):
    """How to reward.

    - steps: of learning. layouts: in each of them; samples: graphs on each. largest: nodes of a fleet at most.
    - search: moves a node of a local search after the correction, as presets have one; what it finds by itself is then
      not what the network is rewarded for.
    - chain: denoising steps of a sample, from a spanning forest at time `start`; temperature and redundancy of them.
    - whole: share of the steps of learning that sample by a whole chain from noise instead, with temperature and
      redundancy of the weights, whose graphs are worth what they are uncorrected. whole_chain: its denoising steps.
    - learned: denoising steps of a chain that are learned from, at random; the others are only sampled.
    - gradient: weight of the policy gradient. lesson: of what the search makes of the samples. teaching: of what the
      solved layouts teach meanwhile.
    - rate: of learning, falling evenly to nothing. ema: of the averaged weights.
    """

    ERROR = TrainingError
    WHAT = "reward"

    steps: int = 2000
    layouts: int = 128
    samples: int = 8
    largest: int = 64
    search: int = 0
    chain: int = 2
    start: float = 0.75
    temperature: float = 0.5
    redundancy: float = 2.0
    whole: float = 0.0
    whole_chain: int = 10
    learned: int = 2
    gradient: float = 1.0
    lesson: float = 0.0
    teaching: float = 0.2
    rate: float = 1e-4
    ema: float = 0.99
    seed: int = 123

    def __post_init__(self) -> None:
        for name in ("steps", "layouts", "chain", "whole_chain", "learned", "largest"):
            check_whole(TrainingError, f"reward: {name}", getattr(self, name), 1)
        check_whole(TrainingError, "reward: samples", self.samples, 2)
        check_whole(TrainingError, "reward: search", self.search, 0)
        for name in ("start", "temperature", "redundancy", "rate"):
            check_above_0(TrainingError, f"reward: {name}", getattr(self, name))
        for name in ("gradient", "lesson", "teaching", "ema"):
            check_at_least_0(TrainingError, f"reward: {name}", getattr(self, name))
        check_within(TrainingError, "reward: whole", self.whole, 0.0, 1.0)


class Drawn(NamedTuple):
    """Samples on some layouts, being judged. states: of their chains. judgements: of the layouts, in their order."""

    step: int
    way: Way
    batch: Batch
    room: Room
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

    - until: the step to stop at for now. report: told of each step and its figures.
    """
    generator = weights.build()
    if not isinstance(generator, SparseGenerator):
        raise TrainingError("reward: for sparse networks only")
    made_folder(out)
    with locked(out), judges(workers) as pool:
        run = _Rewarded(generator.to(device).train(), read_packed(data, workers=workers).to(device), weights, recipe)
        run.take_up(out)
        last = recipe.steps if until is None else min(until, recipe.steps)
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
        few = SamplerConfig(temperature=recipe.temperature, redundancy=recipe.redundancy)
        self.few = Way(time_pairs(recipe.chain, "late", recipe.start), few, whole=False)
        steps = recipe.whole_chain
        self.whole = Way(time_pairs(steps, grid_for(steps)), start.sampling, whole=True)
        self.average = AveragedWeights(generator, recipe.ema)
        self.optimizer = torch.optim.AdamW(generator.parameters(), lr=recipe.rate, weight_decay=0.0)
        sizes = corpus.rows.begins.diff()[NODES].cpu().numpy()
        self.fitting = np.flatnonzero(sizes <= recipe.largest)
        if len(self.fitting) < recipe.layouts:
            raise TrainingError(f"reward: only {len(self.fitting)} layouts of up to {recipe.largest} nodes")
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
        """The averaged ones."""
        taught = {**self.recipe.to_dict(), "taken": self.step}
        card = {**self.start.card, "reward": taught, "reward_data": self.corpus.sources}
        return replace(self.start, tensors=dict(self.average.tensors), card=card)

    def _run(self) -> dict[str, Any]:
        """What a run that goes on must be equal in, as a checkpoint will have it."""
        made_of = {"data": self.corpus.sources, "start": self.start.digest}
        described: dict[str, Any] = json.loads(json.dumps({**self.recipe.to_dict(), **made_of}))
        return described

    def draw(self, step: int, pool: Executor) -> Drawn:
        """Sample on some layouts, and have it judged."""
        recipe, device = self.recipe, self.corpus.rows.begins.device
        rng = np.random.default_rng([recipe.seed, ORDER, step])
        layouts = rng.choice(self.fitting, recipe.layouts, replace=False)
        way = self.whole if rng.random() < recipe.whole else self.few
        chosen = np.repeat(layouts, recipe.samples)
        room = exact_room(self.corpus, chosen)
        batch = packed(self.corpus.rows, torch.from_numpy(np.append(chosen, -1)).to(device), room)
        states = chain_states(self.generator, batch, room, way, recipe.samples, self._chance(SAMPLES, step))
        sampled = self._samples(states[-1], layouts, as_it_is=way.whole)
        return Drawn(step, way, batch, room, states, judged(pool, sampled))

    def learn(self, drawn: Drawn) -> dict[str, float]:
        """One step, from samples as soon as they are judged."""
        recipe, layouts = self.recipe, drawn.batch.layouts
        chance = self._chance(TAUGHT, drawn.step)
        judgements = list(drawn.judgements)
        worth = np.stack([one.worth for one in judgements])
        merit = torch.from_numpy(advantages(worth)).float().to(chance.device)
        searched = self._searched(judgements)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate * (1 - drawn.step / recipe.steps)
        self.optimizer.zero_grad(set_to_none=True)
        loss = recipe.teaching * _summed(
            self.generator.loss_terms(layouts, drawn.batch.clean, uniform_draws(drawn.room, chance), LOSSES)
        )
        embedded = self.generator.denoiser.embed(layouts)
        learned = self._learned(drawn)
        lesson = torch.zeros((), device=chance.device)
        for k in learned:
            times, state, after = drawn.way.times[k], drawn.states[k], drawn.states[k + 1]
            prediction, shares = step_shares(self.generator, layouts, embedded, state, times, drawn.way.sampling)
            loss = loss - recipe.gradient * (likelihood(layouts, shares, after) * merit).mean()
            lesson = lesson + _summed(sparse_losses(prediction, searched, layouts, LOSSES)) / len(learned)
        (loss + recipe.lesson * lesson).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
        self.optimizer.step()
        self.average.set_step(drawn.step)
        self.average.update()
        self.state.step = drawn.step + 1
        named = "whole" if drawn.way.whole else "few"
        return {f"{named}: worth": float(worth.mean()), f"{named}: lesson": float(lesson.detach())}

    def _learned(self, drawn: Drawn) -> list[int]:
        """Which denoising steps of a chain are learned from."""
        count = len(drawn.way.times)
        rng = np.random.default_rng([self.recipe.seed, TAUGHT, drawn.step])
        return sorted(rng.choice(count, min(self.recipe.learned, count), replace=False).tolist())

    def _samples(self, last: ArcGraphs, layouts: npt.NDArray[np.int64], *, as_it_is: bool) -> list[Sampled]:
        """The graphs of each layout."""
        counts = self.corpus.rows.begins.diff().cpu().numpy()[:, layouts]
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
        """What the search made of the samples, in the rows of their batch, and a row that fills it up."""
        device = self.corpus.rows.begins.device
        parts = ([getattr(one, name).ravel() for one in judgements] for name in ("links", "parity"))
        filled = (np.append(np.concatenate(one), 0).astype(np.float32) for one in parts)
        return ArcGraphs(*(torch.from_numpy(one).to(device) for one in filled))

    def _chance(self, stream: int, step: int) -> torch.Generator:
        made = torch.Generator(self.corpus.rows.begins.device)
        made.manual_seed(stream_seed(self.recipe.seed, stream, step))
        return made


def _summed(terms: dict[str, Tensor]) -> Tensor:
    return torch.stack(list(terms.values())).sum()
