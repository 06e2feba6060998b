"""Batches of a run: by fleet size for networks on all pairs, packed for networks on candidate links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from manetdiff.diffusion.generator import TrainingDraws
from manetdiff.diffusion.sparse import ArcDraws
from manetdiff.model.packing import Room
from manetdiff.model.tensors import Graphs
from manetdiff.training.corpus import Corpus
from manetdiff.training.mirror import mirrored
from manetdiff.training.packed import PackedCorpus, chosen_layouts, packed
from manetdiff.training.parts import Part, part_of_row, part_room, parts_of_batch
from manetdiff.training.plan import NOISE, ORDER, Plan, batch_draws, batch_rows, shares, steps_an_epoch, stream_seed


class DenseFeed:
    """All sizes are in every step, each in a batch of its own, so that none is padded."""

    def __init__(self, plan: Plan, corpus: Corpus, device: torch.device, rank: int, processes: int) -> None:
        self.plan, self.buckets, self.device = plan, corpus.buckets, device
        self.split = shares({n: len(bucket) for n, bucket in corpus.buckets.items()}, plan.recipe)
        self.batch = float(sum(share.batch for share in self.split))
        self.epoch_steps = steps_an_epoch(self.split)
        self.mine = [part_of_row(share.batch, rank, processes) for share in self.split]
        # Gradients are averaged over the processes: a graph counts the same wherever it is.
        self.shares: Sequence[float] = [processes * part.count / self.batch for part in self.mine]
        self.described: Any = [list(share) for share in self.split]

    def drawn(self, step: int) -> list[tuple[Tensor, ...]]:
        """Rows, times, uniform numbers of edges and parity, normal numbers, and which layouts are mirrored."""
        made: list[tuple[Tensor, ...]] = []
        for share, part in zip(self.split, self.mine, strict=True):
            rows = batch_rows(share, step, self.plan.recipe.seed)
            draws, flipped = batch_draws(share, step, self.plan.recipe.seed, self.plan.model.latent, self.device)
            # A process that has no part still computes one graph, whose share is 0.
            mine = slice(part.first, part.first + max(1, part.count))
            numbers = draws.time, draws.uniform.edges, draws.uniform.parity, draws.normal, flipped
            made.append((rows[mine].to(self.device, non_blocking=True), *(whole[mine] for whole in numbers)))
        return made

    def arguments(self, place: int, drawn: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """Layouts, clean graphs and draws."""
        rows, time, edges, parity, normal, flipped = drawn
        layouts, clean = self.buckets[self.split[place].nodes].rows(rows)
        if self.plan.recipe.mirror:
            layouts = mirrored(layouts, flipped, self.plan.model.sectors)
        return layouts, clean, TrainingDraws(time, Graphs(edges, parity), normal)


class PackedFeed:
    """Layouts of all sizes in one batch; `batch` of the recipe is its number of arcs, all processes together.

    - whole: the room of a batch; room: of this process's part of it.
    """

    def __init__(self, plan: Plan, corpus: PackedCorpus, device: torch.device, rank: int, processes: int) -> None:
        self.seed, self.rows, self.device = plan.recipe.seed, corpus.rows, device
        self.rank, self.processes = rank, processes
        self._begins = corpus.rows.begins.cpu().numpy()
        self.whole = corpus.room(plan.recipe.batch)
        self.room = part_room(self.whole, self._begins, processes)
        self.epoch_steps = max(1, round(float(self._begins[0, -1]) / plan.recipe.batch))
        self.batch = len(corpus) / self.epoch_steps
        self.shares: Sequence[float] = [1.0]
        self.described: Any = {}

    def drawn(self, step: int) -> list[tuple[Tensor, ...]]:
        """Numbers of layouts, times, uniform numbers of links, parity and graphs."""
        chosen = chosen_layouts(self._begins, self.whole, (self.seed, ORDER, step, 0))
        generator = torch.Generator(self.device)
        generator.manual_seed(stream_seed(self.seed, NOISE, step, 0))
        count = len(chosen)

        def uniform(size: int) -> Tensor:
            return torch.rand(size, generator=generator, device=self.device)

        # Stratified: the times of a batch are spread evenly, which makes the loss less noisy.
        time = (torch.randperm(count, generator=generator, device=self.device) + uniform(count)) / count
        draws = time, uniform(self.whole.links), uniform(self.whole.nodes), uniform(count)
        if self.processes > 1:
            mine = parts_of_batch(self._begins, chosen, self.whole, self.processes)[self.rank]
            room = self.room if mine.fits(self.room) else self.whole
            draws = (
                _cut(draws[0], mine.graphs, room.graphs),
                _cut(draws[1], mine.links, room.links),
                _cut(draws[2], mine.nodes, room.nodes),
                _cut(draws[3], mine.graphs, room.graphs),
            )
            taken = chosen[mine.graphs.rows]
            chosen = np.concatenate([taken, np.full(room.graphs - len(taken), -1)])
        return [(torch.from_numpy(chosen).to(self.device, non_blocking=True), *draws)]

    def arguments(self, place: int, drawn: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """Layouts, clean graphs, draws and spanning forests."""
        chosen, *draws = drawn
        layouts, clean, forest = packed(self.rows, chosen, self._room_of(chosen))
        return layouts, clean, ArcDraws(*draws), forest

    def _room_of(self, chosen: Tensor) -> Room:
        return self.room if len(chosen) == self.room.graphs else self.whole


def _cut(numbers: Tensor, part: Part, size: int) -> Tensor:
    """A part of some numbers, filled up to a size."""
    made = numbers.new_zeros(size)
    made[: part.count] = numbers[part.rows]
    return made
