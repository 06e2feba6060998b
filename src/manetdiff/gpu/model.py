"""Topologies for many fleets at once: sampled on the GPU, corrected and polished on the cores beside it."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from manetdiff.checks import check_whole
from manetdiff.cores import usable_cores
from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import FleetError, ModelError
from manetdiff.fleet import Fleet
from manetdiff.gpu.captured import BatchChain
from manetdiff.gpu.dense import DenseNetwork
from manetdiff.gpu.network import Network, Pending
from manetdiff.gpu.pieces import Piece
from manetdiff.gpu.refined import Refiner
from manetdiff.gpu.sparse import SparseNetwork
from manetdiff.gpu.sparse_chain import SparseChain
from manetdiff.radio import Radio
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.options import Options
from manetdiff.sampling import SamplerConfig, grid_for
from manetdiff.solvers.batch_rehearsal import rehearse_batches
from manetdiff.solvers.local_search import THOROUGH
from manetdiff.topology import Report, Topology, warn_of_parts_in_batch
from manetdiff.weights import PAPER

# Batches that the cores read before the device is ready for them.
READ_AHEAD = 2


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
        if not isinstance(generator, DiffusionGenerator | SparseGenerator):
            raise ModelError("only diffusion models sample in steps")
        self.radio, self.sampling, self.device = weights.radio, weights.sampling, device
        self.name, self.threads = name, usable_cores() if threads is None else threads
        check_whole(ModelError, "threads", self.threads, 1)
        self.network: Network[Any]
        if isinstance(generator, SparseGenerator):
            self.network, self.sectors = SparseNetwork(SparseChain(generator, device, half=half)), None
        else:
            self.chain = BatchChain(generator, device, half=half)
            self.network, self.sectors = DenseNetwork(self.chain), self.radio.sectors

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
        """A topology for each fleet, of any sizes; the same seed gives the same one whatever the batch, as far as the
        device's matrix products round alike in batches of any size (a CPU's do).

        - samples: drawn for each, the best kept. polish: moves of the local search on each sample.

        Networks that come out in parts are named by one DisconnectedWarning.
        """
        options = Options(radio=radio, seed=seed)
        effort = Effort(steps, samples, polish=polish, correct=correct, annealing=THOROUGH)
        chosen = options.radio or self.radio
        if self.sectors is not None and chosen.sectors != self.sectors:
            raise ModelError(f"trained for {self.sectors} sectors; the radio has {chosen.sectors}")
        if isinstance(fleets, Fleet) or not isinstance(fleets, Sequence):
            raise FleetError(f"give a list of fleets, not {type(fleets).__name__}")
        for place, fleet in enumerate(fleets):
            if not isinstance(fleet, Fleet) or len(fleet) < 2:
                raise FleetError(f"fleet {place}: give a Fleet of at least 2 nodes, not {fleet!r}")
        rehearse_batches()
        told = Report(method="netdiff", weights=self.name, seed=int(seed), steps=steps, samples=samples)
        refiner = Refiner(effort, seed, time.perf_counter(), told)
        sampling = self.sampling_for(steps, redundant=effort.redundant)
        made: list[Topology | None] = [None] * len(fleets)
        # Streams, events and captured graphs are the current device's, whichever it is.
        on_device = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with on_device, ThreadPoolExecutor(self.threads) as pool:
            try:
                pieces, topologies = self._pipeline(pool, fleets, chosen, sampling, refiner)
                for piece, refined in zip(pieces, topologies, strict=True):
                    for place, topology in zip(piece.places, refined.result(), strict=True):
                        made[place] = topology
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # nobody wants the rest any more
                raise
        whole = [topology for topology in made if topology is not None]
        warn_of_parts_in_batch({index: one.report.parts for index, one in enumerate(whole)})
        return whole

    def _pipeline(
        self,
        pool: ThreadPoolExecutor,
        fleets: Sequence[Fleet],
        radio: Radio,
        sampling: SamplerConfig,
        refiner: Refiner,
    ) -> tuple[list[Piece], list[Future[list[Topology]]]]:
        """All pieces, and their topologies to come. While the device works on a batch, the cores read those that follow
        and refine those before."""
        network, samples = self.network, refiner.effort.samples
        streams = [_stream(refiner.seed, draw) for draw in range(samples)]
        batches = network.batches(fleets, radio, samples)

        def read(piece: Piece) -> Any:
            piece.sort_out()
            return network.read(piece)

        def submitted(batch: list[Piece]) -> list[Future[Any]]:
            return [pool.submit(read, piece) for piece in batch]

        reading = deque(submitted(batch) for batch in batches[:READ_AHEAD])
        done: list[Piece] = []
        topologies: list[Future[list[Topology]]] = []

        def refine(batch: list[Piece], pending: Pending) -> None:
            for piece, graphs in zip(batch, pending.result(), strict=True):
                done.append(piece)
                topologies.append(pool.submit(refiner.topologies, piece, graphs))

        before: tuple[list[Piece], Pending] | None = None
        for k, batch in enumerate(batches):
            given = [one.result() for one in reading.popleft()]
            if k + READ_AHEAD < len(batches):
                reading.append(submitted(batches[k + READ_AHEAD]))
            pending = network.sampled(batch, given, streams, sampling)
            if before is not None:
                refine(*before)
                before = None
            if pending.under_way:
                before = batch, pending
            else:
                refine(batch, pending)
        if before is not None:
            refine(*before)
        return done, topologies

    def sampling_for(self, steps: int, *, redundant: bool) -> SamplerConfig:
        """How so many steps are taken. redundant: whether with more links than needed, see Effort."""
        redundancy = self.sampling.redundancy if redundant else 1.0
        return dataclasses.replace(self.sampling, steps=steps, grid=grid_for(steps), redundancy=redundancy)


def _stream(seed: int, draw: int) -> int:
    """The seed of one graph's random numbers; all layouts share it, as they do in manetdiff.load()."""
    return int(np.random.SeedSequence((seed, draw)).generate_state(1, np.uint64)[0] >> 1)
