"""Topologies for many fleets at once: sampled on the GPU, corrected and polished on the cores beside it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from manetdiff.checks import check_whole
from manetdiff.cores import usable_cores
from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import FleetError, ModelError
from manetdiff.fleet import Fleet
from manetdiff.gpu.captured import BatchChain
from manetdiff.layout import Layout, LayoutFeatures, pad
from manetdiff.model.tensors import Layouts
from manetdiff.radio import Radio
from manetdiff.runtime.chain import States
from manetdiff.runtime.dense import as_lists, every_pair
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.options import Options
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Sample, samples_of
from manetdiff.sampling import SamplerConfig, grid_for
from manetdiff.solvers.local_search import THOROUGH
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.topology import Topology, find_parts, warn_of_parts_in_batch
from manetdiff.weights import PAPER

# Graphs that are sampled together at most.
MOST_TOGETHER = 4096


def load(
    weights: str | Path = PAPER, *, device: str = "cuda", half: bool | None = None, threads: int | None = None
) -> BatchModel:
    """Weights by name or file, on a device of PyTorch's.

    - half: whether the network computes in bfloat16, by default on a GPU. threads: of what follows the sampling.
    """
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise ModelError(f"{device!r} is not a device of PyTorch's; give 'cuda', or 'cpu' to try things out") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"{device}: there is no GPU here that PyTorch can use; manetdiff.load() runs on any CPU")
    return BatchModel(find_weights(weights), chosen, name=str(weights), half=half, threads=threads)


class BatchModel:
    """The same network for fleets by the thousand. For one fleet at a time, and for updates, see manetdiff.load()."""

    def __init__(
        self,
        weights: Weights,
        device: torch.device,
        *,
        name: str = "weights",
        half: bool | None = None,
        threads: int | None = None,
    ) -> None:
        generator = weights.build()
        if weights.config.kind == "sparse":
            raise ModelError(f"{name}: sparse networks do not run in batches on a GPU; dense ones do, such as {PAPER}")
        if not isinstance(generator, DiffusionGenerator):
            raise ModelError("only diffusion models sample in steps")
        self.radio, self.sampling, self.device = weights.radio, weights.sampling, device
        self.name, self.threads = name, usable_cores() if threads is None else threads
        check_whole(ModelError, "threads", self.threads, 1)
        self.chain = BatchChain(generator, device, half=half)

    def generate(
        self,
        fleets: Sequence[Fleet],
        *,
        radio: Radio | None = None,
        seed: int = 0,
        steps: int = 50,
        samples: int = 1,
        correct: bool = True,
        polish: int = 0,
    ) -> list[Topology]:
        """A topology for each fleet, of any sizes; the same seed gives the same one whatever the batch.

        - samples: drawn for each, the best kept. polish: moves of the local search on each sample.

        Networks that come out in parts are named by one DisconnectedWarning.
        """
        options = Options(radio=radio, seed=seed)
        effort = Effort(steps, samples, polish=polish, correct=correct, annealing=THOROUGH)
        chosen = options.radio or self.radio
        if chosen.sectors != self.radio.sectors:
            raise ModelError(f"trained for {self.radio.sectors} sectors; the radio has {chosen.sectors}")
        if isinstance(fleets, Fleet) or not isinstance(fleets, Sequence):
            raise FleetError(f"give a list of fleets, not {type(fleets).__name__}")
        for place, fleet in enumerate(fleets):
            if not isinstance(fleet, Fleet) or len(fleet) < 2:
                raise FleetError(f"fleet {place}: give a Fleet of at least 2 nodes, not {fleet!r}")
        rehearse()
        began = time.perf_counter()
        with ThreadPoolExecutor(self.threads) as pool:
            layouts = [Layout(fleet, chosen) for fleet in fleets]
            features = list(pool.map(lambda layout: layout.features, layouts))
            sampled = self._sampled(features, seed, self.sampling_for(steps, redundant=effort.redundant), samples)
            sampling = time.perf_counter() - began

            def refined(place: int) -> Topology:
                best = best_of(sampled[place], layouts[place], effort, seed)
                parts = find_parts(best.sample.links, layouts[place])
                report = best.report.replace(
                    method="netdiff",
                    components=1 if parts is None else parts.components,
                    parts=parts,
                    weights=self.name,
                    seed=int(seed),
                    steps=steps,
                    samples=samples,
                    throughput=best.throughput,
                    seconds=time.perf_counter() - began,  # of the batch, up to here
                    stages={"sampling": sampling, **best.report.stages},
                )
                return Topology(*best.sample, report, layouts[place])

            made = list(pool.map(refined, range(len(fleets))))
        warn_of_parts_in_batch({index: one.report.parts for index, one in enumerate(made)})
        return made

    def sampling_for(self, steps: int, *, redundant: bool) -> SamplerConfig:
        """How so many steps are taken. redundant: whether with more links than needed, see Effort."""
        redundancy = self.sampling.redundancy if redundant else 1.0
        return dataclasses.replace(self.sampling, steps=steps, grid=grid_for(steps), redundancy=redundancy)

    def _sampled(
        self, features: Sequence[LayoutFeatures], seed: int, sampling: SamplerConfig, samples: int
    ) -> list[list[Sample]]:
        """The samples of each layout; layouts of one size go together."""
        made: list[list[Sample]] = [[] for _ in features]
        for n in sorted({len(one.node) for one in features}):
            places = [place for place, one in enumerate(features) if len(one.node) == n for _ in range(samples)]
            draws = [draw for one in features if len(one.node) == n for draw in range(samples)]
            for start in range(0, len(places), MOST_TOGETHER):
                part = slice(start, start + MOST_TOGETHER)
                states = self._batch([features[place] for place in places[part]], draws[part], seed, sampling)
                for place, sample in zip(places[part], samples_of(states, every_pair(n)), strict=True):
                    made[place].append(sample)
        return made

    def _batch(self, features: list[LayoutFeatures], draws: list[int], seed: int, sampling: SamplerConfig) -> States:
        """Padded with the last layout to a power of two, so that few shapes are ever compiled and captured."""
        count = len(features)
        whole = 1 << (count - 1).bit_length()
        layouts = Layouts.from_numpy(pad(features + features[-1:] * (whole - count)), self.device)
        numbers = [_stream(seed, draw) for draw in draws + draws[-1:] * (whole - count)]
        seeds = torch.tensor(numbers, dtype=torch.int64, device=self.device)
        made = self.chain.sample(layouts, seeds, sampling)
        edges, parity = (part[:count].float().cpu().numpy() for part in made)
        return States(as_lists(edges), parity)


def _stream(seed: int, draw: int) -> int:
    """The seed of one graph's random numbers; all layouts share it, as they do in manetdiff.load()."""
    return int(np.random.SeedSequence((seed, draw)).generate_state(1, np.uint64)[0] >> 1)
