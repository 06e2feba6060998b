"""Batches of a run: by fleet size for networks on all pairs, packed for networks on candidate links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from manetdiff.diffusion.generator import TrainingDraws
from manetdiff.diffusion.sparse import ArcDraws
from manetdiff.model.tensors import Graphs
from manetdiff.training.corpus import Corpus
from manetdiff.training.mirror import mirrored
from manetdiff.training.packed import PackedCorpus, chosen_layouts, packed
from manetdiff.training.plan import NOISE, ORDER, Plan, batch_draws, batch_rows, shares, steps_an_epoch, stream_seed


class DenseFeed:
    """All sizes are in every step, each in a batch of its own, so that none is padded."""

    def __init__(self, plan: Plan, corpus: Corpus, device: torch.device, rank: int, processes: int) -> None:
        self.plan, self.buckets, self.device, self.rank, self.processes = plan, corpus.buckets, device, rank, processes
        self.split = shares({n: len(bucket) for n, bucket in corpus.buckets.items()}, plan.recipe, processes)
        self.batch = float(sum(share.batch for share in self.split))
        self.epoch_steps = steps_an_epoch(self.split)
        self.shares: Sequence[float] = [share.batch / self.batch for share in self.split]
        # It depends on the number of processes.
        self.described: Any = [list(share) for share in self.split]

    def drawn(self, step: int) -> list[tuple[Tensor, ...]]:
        """Rows, times, uniform numbers of edges and parity, normal numbers, and which layouts are mirrored."""
        made: list[tuple[Tensor, ...]] = []
        for share in self.split:
            rows = batch_rows(share, step, self.plan.recipe.seed)
            draws, flipped = batch_draws(share, step, self.plan.recipe.seed, self.plan.model.latent, self.device)
            each = share.batch // self.processes
            mine = slice(self.rank * each, (self.rank + 1) * each)
            numbers = draws.time, draws.uniform.edges, draws.uniform.parity, draws.normal, flipped
            made.append((rows[mine].to(self.device, non_blocking=True), *(part[mine] for part in numbers)))
        return made

    def arguments(self, place: int, drawn: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """Layouts, clean graphs and draws."""
        rows, time, edges, parity, normal, flipped = drawn
        layouts, clean = self.buckets[self.split[place].nodes].rows(rows)
        if self.plan.recipe.mirror:
            layouts = mirrored(layouts, flipped, self.plan.model.sectors)
        return layouts, clean, TrainingDraws(time, Graphs(edges, parity), normal)


class PackedFeed:
    """Layouts of all sizes in one batch; `batch` of the recipe is its number of arcs, all processes together."""

    def __init__(self, plan: Plan, corpus: PackedCorpus, device: torch.device, rank: int, processes: int) -> None:
        self.seed, self.rows, self.device, self.rank = plan.recipe.seed, corpus.rows, device, rank
        arcs = max(1, plan.recipe.batch // processes)
        self.room = corpus.room(arcs)
        self._begins = corpus.rows.begins.cpu().numpy()
        self.epoch_steps = max(1, round(float(self._begins[0, -1]) / (processes * arcs)))
        self.batch = len(corpus) / self.epoch_steps
        self.shares: Sequence[float] = [1.0]
        self.described: Any = {"processes": processes}

    def drawn(self, step: int) -> list[tuple[Tensor, ...]]:
        """Numbers of layouts, times, uniform numbers of links, parity and graphs."""
        chosen = chosen_layouts(self._begins, self.room, (self.seed, ORDER, step, self.rank))
        generator = torch.Generator(self.device)
        generator.manual_seed(stream_seed(self.seed, NOISE, step, self.rank))
        count = len(chosen)

        def uniform(size: int) -> Tensor:
            return torch.rand(size, generator=generator, device=self.device)

        # Stratified: the times of a batch are spread evenly, which makes the loss less noisy.
        time = (torch.randperm(count, generator=generator, device=self.device) + uniform(count)) / count
        numbers = torch.from_numpy(chosen).to(self.device, non_blocking=True)
        return [(numbers, time, uniform(self.room.links), uniform(self.room.nodes), uniform(count))]

    def arguments(self, place: int, drawn: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """Layouts, clean graphs, draws and spanning forests."""
        chosen, *draws = drawn
        layouts, clean, forest = packed(self.rows, chosen, self.room)
        return layouts, clean, ArcDraws(*draws), forest
