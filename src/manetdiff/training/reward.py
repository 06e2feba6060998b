"""Reward: a sparse network learns from what its own samples are worth, corrected, and may so outdo its teacher.

Several graphs are sampled on each layout, by the few steps from a spanning forest that are used where time is short.
Those that turn out better than the others of their layout are made likelier, the others less likely (a policy gradient
whose baseline is the mean of the group); the solved layout goes on being taught beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.checks import check_above_0, check_at_least_0, check_whole
from manetdiff.diffusion.sparse import (
    ArcDraws,
    SparseGenerator,
    drawn_from,
    noise_shares,
    noised,
    posterior_of,
)
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import TrainingError
from manetdiff.files import made_folder, write_whole
from manetdiff.json_settings import JsonSettings
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts
from manetdiff.model.losses import LossWeights
from manetdiff.model.packing import NODES, Room
from manetdiff.sampling import SamplerConfig, time_pairs
from manetdiff.training.judging import Sampled, judged, judges
from manetdiff.training.optimisation import AveragedWeights
from manetdiff.training.packed import Batch, PackedCorpus, packed, read_packed
from manetdiff.training.plan import stream_seed

LAST = "last.safetensors"
# Log-probabilities of what is certain.
LEAST_SHARE = 1e-5
# Random streams of a run.
ORDER, SAMPLES, TAUGHT = 10, 11, 12


@dataclass(frozen=True)
class RewardRecipe(JsonSettings):
    """How to reward.

    - steps: of learning. layouts: in each of them; samples: graphs on each. largest: nodes of a fleet at most.
    - search: moves a node of a local search after the correction, as presets have one; what it finds by itself is then
      not what the network is rewarded for.
    - chain: denoising steps of a sample, from a spanning forest at time `start`; temperature and redundancy of them.
    - rate: of learning; teaching: weight of what the solved layouts teach meanwhile. ema: of the averaged weights.
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
    rate: float = 1e-4
    teaching: float = 0.2
    ema: float = 0.99
    seed: int = 123

    def __post_init__(self) -> None:
        for name in ("steps", "layouts", "chain", "largest"):
            check_whole(TrainingError, f"reward: {name}", getattr(self, name), 1)
        check_whole(TrainingError, "reward: samples", self.samples, 2)
        check_whole(TrainingError, "reward: search", self.search, 0)
        for name in ("start", "temperature", "redundancy", "rate"):
            check_above_0(TrainingError, f"reward: {name}", getattr(self, name))
        for name in ("teaching", "ema"):
            check_at_least_0(TrainingError, f"reward: {name}", getattr(self, name))


def reward(
    data: Sequence[Path],
    out: Path,
    weights: Weights,
    recipe: RewardRecipe,
    *,
    workers: int,
    device: torch.device | str = "cpu",
    report: Callable[[int, dict[str, float]], None] = lambda step, figures: None,
) -> Weights:
    """Weights that were rewarded, kept in the folder `out` every tenth of the way."""
    generator = weights.build()
    if not isinstance(generator, SparseGenerator):
        raise TrainingError("reward: for sparse networks only")
    corpus = read_packed(data, workers=workers).to(device)
    run = _Rewarded(generator.to(device).train(), corpus, recipe)
    made_folder(out)
    with judges(workers) as pool:
        for step in range(recipe.steps):
            figures = run.step(step, pool)
            report(step + 1, figures)
            if (step + 1) % max(1, recipe.steps // 10) == 0 or step + 1 == recipe.steps:
                card = {**weights.card, "reward": {**recipe.to_dict(), "taken": step + 1}}
                made = replace(weights, tensors=dict(run.average.tensors), card=card)
                write_whole(out / LAST, made.to_bytes())
    return made


class _Rewarded:
    """A network on its way."""

    def __init__(self, generator: SparseGenerator, corpus: PackedCorpus, recipe: RewardRecipe) -> None:
        self.generator, self.corpus, self.recipe = generator, corpus, recipe
        self.average = AveragedWeights(generator, recipe.ema)
        self.optimizer = torch.optim.AdamW(generator.parameters(), lr=recipe.rate, weight_decay=0.0)
        sizes = corpus.rows.begins.diff()[NODES].cpu().numpy()
        self.fitting = np.flatnonzero(sizes <= recipe.largest)
        if len(self.fitting) < recipe.layouts:
            raise TrainingError(f"reward: only {len(self.fitting)} layouts of up to {recipe.largest} nodes")
        self.origins = [(one.folder, int(row)) for one in corpus.origins for row in one.rows]

    def step(self, step: int, pool: ProcessPoolExecutor) -> dict[str, float]:
        """Sample, judge, learn."""
        recipe, device = self.recipe, self.corpus.rows.begins.device
        rng = np.random.default_rng([recipe.seed, ORDER, step])
        layouts = rng.choice(self.fitting, recipe.layouts, replace=False)
        chosen = np.repeat(layouts, recipe.samples)
        room = exact_room(self.corpus, chosen)
        batch = packed(self.corpus.rows, torch.from_numpy(np.append(chosen, -1)).to(device), room)
        chance = torch.Generator(device)
        chance.manual_seed(stream_seed(recipe.seed, SAMPLES, step))
        path = self._sampled(batch, room, chance)
        worth = self._judged(path[-1], layouts, batch, pool)
        merit = torch.from_numpy(advantages(worth)).float().to(device)
        self.optimizer.zero_grad(set_to_none=True)
        chosen_again = -(self._likelihood(batch, path) * merit).mean()
        taught = self._taught(batch, room, chance)
        (chosen_again + recipe.teaching * taught).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
        self.optimizer.step()
        self.average.set_step(step)
        self.average.update()
        return {"worth": float(worth.mean()), "best": float(worth.max(1).mean()), "taught": float(taught.detach())}

    @torch.no_grad()
    def _sampled(self, batch: Batch, room: Room, chance: torch.Generator) -> list[ArcGraphs]:
        """The states of a chain, from the first to the last."""
        start = self._draws(room, chance)
        first = torch.arange(room.graphs, device=start.time.device) % self.recipe.samples == 0
        # The first sample of each layout begins with the forest as it is, the others with its links noised.
        noisy = noised(
            self.generator.process,
            batch.layouts,
            batch.forest,
            start._replace(time=torch.full_like(start.time, self.recipe.start)),
        )
        whole = first[batch.layouts.graph_of_link]
        states = [ArcGraphs(torch.where(whole, batch.forest.links, noisy.links), batch.forest.parity)]
        embedded = self.generator.denoiser.embed(batch.layouts)
        for times in self._times():
            shares = self._shares(batch.layouts, embedded, states[-1], times)
            draws = self._draws(room, chance)
            states.append(drawn_from(shares, ArcGraphs(draws.links, draws.parity)))
        return states

    def _likelihood(self, batch: Batch, path: Sequence[ArcGraphs]) -> Tensor:
        """(g,) mean log-probability of a chain's choices, over its nodes."""
        layouts = batch.layouts
        total = torch.zeros(len(layouts.sizes) - 1, device=layouts.real_nodes.device)
        embedded = self.generator.denoiser.embed(layouts)
        for times, state, after in zip(self._times(), path[:-1], path[1:], strict=True):
            shares = self._shares(layouts, embedded, state, times)
            for share, taken, graph, real in (
                (shares.links, after.links, layouts.graph_of_link, layouts.real_links),
                (shares.parity, after.parity, layouts.graphs.of, layouts.real_nodes),
            ):
                sure = share.clamp(LEAST_SHARE, 1 - LEAST_SHARE)
                each = (taken * sure.log() + (1 - taken) * (1 - sure).log()) * real
                total = total + torch.zeros(len(total) + 1, device=each.device).index_add(0, graph, each)[:-1]
        return total / layouts.sizes[:-1].clamp(min=1)

    def _taught(self, batch: Batch, room: Room, chance: torch.Generator) -> Tensor:
        draws = self._draws(room, chance)
        terms = self.generator.loss_terms(batch.layouts, batch.clean, draws, LossWeights(cosine=0.0), batch.forest)
        return torch.stack(list(terms.values())).sum()

    def _judged(
        self, last: ArcGraphs, layouts: npt.NDArray[np.int64], batch: Batch, pool: ProcessPoolExecutor
    ) -> npt.NDArray[np.float64]:
        """(layouts, samples)."""
        counts = self.corpus.rows.begins.diff().cpu().numpy()[:, layouts]
        links, parity = (part.to(torch.uint8).cpu().numpy() for part in last)
        sampled, at_link, at_node = [], 0, 0
        for place, number in enumerate(layouts):
            n, c, s = int(counts[1, place]), int(counts[2, place]), self.recipe.samples
            mine = links[at_link : at_link + s * c].reshape(s, c), parity[at_node : at_node + s * n].reshape(s, n)
            folder, row = self.origins[number]
            sampled.append(Sampled(folder, row, *mine, self.recipe.search))
            at_link, at_node = at_link + s * c, at_node + s * n
        return np.stack(judged(pool, sampled))

    def _shares(self, layouts: ArcLayouts, embedded: object, state: ArcGraphs, times: tuple[float, float]) -> ArcGraphs:
        time = torch.full((len(layouts.sizes),), times[0], device=layouts.real_nodes.device)
        prediction = self.generator.denoiser.predict(layouts, embedded, state, time)  # type: ignore[arg-type]
        noise = noise_shares(self.generator.process, layouts)
        sampling = SamplerConfig(temperature=self.recipe.temperature, redundancy=self.recipe.redundancy)
        pair = time[:1], torch.full_like(time[:1], times[1])
        return posterior_of(self.generator.process, prediction, state, noise, pair, sampling)

    def _times(self) -> list[tuple[float, float]]:
        return time_pairs(self.recipe.chain, "late", self.recipe.start)

    def _draws(self, room: Room, chance: torch.Generator) -> ArcDraws:
        sizes = room.graphs, room.links, room.nodes, room.graphs
        return ArcDraws(*(torch.rand(size, generator=chance, device=chance.device) for size in sizes))


def advantages(worth: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(layouts · samples,): by how much each sample is better than the mean of its layout's, in spreads of all."""
    apart = worth - worth.mean(axis=1, keepdims=True)
    return np.asarray((apart / max(float(apart.std()), 1e-6)).clip(-3, 3).ravel())


def exact_room(corpus: PackedCorpus, chosen: npt.NDArray[np.int64]) -> Room:
    """Room for just these layouts, one of each kind to fill up, and the empty graph at the end."""
    arcs, nodes, links, antennas = (corpus.rows.begins.diff().cpu().numpy()[:, chosen].sum(1) + 1).tolist()
    usual = corpus.room(2 * int(corpus.rows.begins.diff()[0].max()) + 1)
    return Room(arcs, nodes, links, antennas, len(chosen) + 1, usual.longest)
