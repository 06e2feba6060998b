"""Where the time of a large batch goes, a fleet and stage by stage, and how many fleets a second come out.

    python scripts/gpu_batches.py [--network NAME …] [--device cuda] [--fleets 8192] [--nodes 16] [--steps 3]
        [--samples 8] [--threads N …]

Three parts:

1. Stages, each alone on one core (on the device where it is the device's work): microseconds a fleet as it was before
   fleets were worked on side by side, one fleet after the other, and as it is. Ratios of one run mean something on a
   busy machine; the microseconds less so.
2. `generate` from positions to corrected links: fleets a second by threads, what share of the time the device was at
   work, where it is a GPU, and what the thread that feeds it spent the time on.
3. `generate` on one fleet: milliseconds, the median of many.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from manetdiff.cores import usable_cores
from manetdiff.data import load_benchmark
from manetdiff.fleet import Fleet
from manetdiff.gpu import BatchModel, load
from manetdiff.gpu.pieces import Piece
from manetdiff.gpu.refined import Refiner, listed_samples
from manetdiff.layout import Layout, pad
from manetdiff.layout.arc_rows import stacked_rows
from manetdiff.layout.stack import LayoutStack
from manetdiff.model.arc_tensors import stacked
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.refine import Refined, best_of
from manetdiff.scenarios import draw
from manetdiff.solvers.batch_rehearsal import rehearse_batches
from manetdiff.solvers.stack_refinement import StackSamples, best_of_stack
from manetdiff.topology import Report, Topology, find_parts, unwarned_of_parts

# Fleets that stages are measured on, and the fastest of so many times.
MEASURED, TIMES = 256, 5
LATENCIES = 30
# On a CPU the chain takes a second for a few dozen fleets.
MEASURED_ON_CPU, LATENCIES_ON_CPU = 64, 5
STREAMS = tuple(range(1, 1000))
# Calls of the thread that feeds the device, the inner ones first, and what they are for.
FEEDING = {
    "Copied.arrays": "waiting for the device",
    "Future.result": "waiting for the cores",
    "SparseNetwork.sampled": "joining, copying and launching",
    "DenseNetwork.sampled": "joining, copying and launching",
    "PendingSparse.result": "sharing samples out",
    "PendingDense.result": "sharing samples out",
    "pieces_of": "sorting fleets out",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", nargs="*", default=["netdiff", "netdiff-sparse"])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fleets", type=int)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, usable_cores()}))
    asked = parser.parse_args()
    rehearse_batches()
    count = asked.fleets or (8192 if asked.device != "cpu" else MEASURED_ON_CPU)
    fleets = _fleets(asked.nodes, count)
    where = torch.cuda.get_device_name() if asked.device != "cpu" else "a CPU"
    print(f"{asked.nodes} nodes, {asked.steps} steps, {asked.samples} samples; {usable_cores()} cores and {where}\n")
    for name in asked.network:
        model = load(name, device=asked.device)
        _print_stages(name, model, fleets[:MEASURED], asked.steps, asked.samples)
        _print_whole(model, fleets, asked.steps, asked.samples, asked.threads)
        _print_latency(model, fleets, asked.steps, asked.samples)


def _fleets(nodes: int, count: int) -> list[Fleet]:
    """Of the benchmark set of that size, where there is one, over and over; each time moved a little, so that nothing
    is computed already."""
    rng = np.random.default_rng(0)
    if nodes in (16, 32, 64):
        known = [one.fleet for one in load_benchmark(f"bench{nodes}")]
    else:
        known = [draw("mixed", nodes, rng) for _ in range(256)]
    return [_moved(known[k % len(known)], rng) for k in range(count)]


def _moved(fleet: Fleet, rng: np.random.Generator) -> Fleet:
    return fleet.replace(positions=fleet.positions + 0.01 * fleet.spread * rng.normal(size=fleet.positions.shape))


def _print_stages(name: str, model: BatchModel, fleets: Sequence[Fleet], steps: int, samples: int) -> None:
    effort, radio = Effort(steps, samples), model.radio
    dense = model.sectors is not None
    network, sampling = model.network, model.sampling_for(steps, redundant=True)
    batches = network.batches(fleets, radio, samples)
    pieces = [piece for batch in batches for piece in batch]
    for piece in pieces:
        piece.sort_out()
    read = [[network.read(piece) for piece in batch] for batch in batches]

    def sampled() -> list[StackSamples]:
        made = [
            network.sampled(batch, given, STREAMS[:samples], sampling)
            for batch, given in zip(batches, read, strict=True)
        ]
        return [graphs for one in made for graphs in one.result()]

    if model.device.type == "cuda":
        sampled()  # compiles and captures
    began = time.perf_counter()
    graphs = sampled()
    chain = 1e6 * (time.perf_counter() - began) / len(fleets)
    given = [sample for one, piece in zip(graphs, pieces, strict=True) for sample in _samples(one, piece)]
    ordered = [fleet for piece in pieces for fleet in piece.fleets]
    refiner = Refiner(effort, 0, time.perf_counter(), Report())
    state: dict[str, Any] = {}

    def layouts() -> None:
        state["layouts"] = [Layout(fleet, radio) for fleet in ordered]
        for layout in state["layouts"]:
            _ = layout.placement.every_pair

    def tables() -> None:
        for layout in state["layouts"]:
            _ = layout.tables

    def with_tables() -> None:
        layouts()
        tables()

    def features() -> None:
        state["read"] = [layout.features if dense else layout.arcs for layout in state["layouts"]]

    def packing() -> None:
        _ = pad(state["read"]) if dense else stacked(state["read"])

    def correction() -> None:
        state["best"] = [best_of(one, at, effort, 0) for one, at in zip(given, state["layouts"], strict=True)]

    def objects() -> None:
        for best, layout in zip(state["best"], state["layouts"], strict=True):
            _finished(best, layout)

    def stacks() -> None:
        state["stacks"] = [LayoutStack.of(piece.fleets[: piece.stacked], radio) for piece in pieces]
        for stack in state["stacks"]:
            _ = stack.plain, stack.arrays

    def stacked_features() -> None:
        for stack in state["stacks"]:
            _ = stack.features if dense else stacked_rows(stack)

    def stacked_correction() -> None:
        for stack, one in zip(state["stacks"], graphs, strict=True):
            best_of_stack(stack, one)

    def refined() -> None:
        for piece, one in zip(pieces, graphs, strict=True):
            refiner.topologies(piece, one)

    count = len(fleets)
    old = {
        "physics of pairs": _each(layouts, count),
        "tables": _each(tables, count, layouts),
        "features": _each(features, count, with_tables),
        "packing": _each(packing, count),
        "correction, scores": _each(correction, count),
        "topology objects": _each(objects, count),
    }
    corrected = _each(stacked_correction, count, stacks)
    new = {
        "physics of pairs": _each(stacks, count),
        # Of dense networks the correction makes them, of sparse ones the features do, too.
        "tables": None,
        "features": _each(stacked_features, count, stacks),
        "packing": None,
        "correction, scores": corrected,
        "topology objects": max(0.0, _each(refined, count) - corrected),
    }
    print(f"## {name}\n\n| stage, µs a fleet on one core | one by one | side by side |\n| --- | ---: | ---: |")
    for stage, before in old.items():
        after = new[stage]
        print(f"| {stage} | {before:.0f} | {'in others' if after is None else f'{after:.0f}'} |")
    totals = sum(old.values()), sum(after for after in new.values() if after is not None)
    print(f"| all of these | {totals[0]:.0f} | {totals[1]:.0f} ({totals[0] / totals[1]:.1f} times less) |")
    print(f"| the chain, with packing and copies, on the device | | {chain:.0f} |\n")


def _samples(graphs: StackSamples, piece: Piece) -> list[Any]:
    return [listed_samples(graphs, row) for row in range(len(piece))]


def _finished(best: Refined, layout: Layout) -> Topology:
    parts = find_parts(best.sample.links, layout)
    return Topology(*best.sample, best.report.replace(parts=parts), layout)


def _each(work: Callable[[], object], count: int, before: Callable[[], object] = lambda: None) -> float:
    """Microseconds for each of so many; before: what is done first, uncounted."""
    times = []
    for _ in range(TIMES):
        before()
        began = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return 1e6 * min(times) / count


def _print_whole(model: BatchModel, fleets: list[Fleet], steps: int, samples: int, threads: Sequence[int]) -> None:
    for number in threads:
        model.threads = number
        if model.device.type == "cuda":
            _generate(model, fleets, steps, samples)  # compiles and captures
        busy = _Busy() if model.device.type == "cuda" else None
        if busy:
            busy.watch(model)
        with _Feeding() as feeding:
            began = time.perf_counter()
            _generate(model, fleets, steps, samples)
            seconds = time.perf_counter() - began
        told = "" if busy is None else f"; the device at work {100 * busy.seconds(model) / seconds:.0f} % of the time"
        print(f"{len(fleets)} fleets on {number} threads: {len(fleets) / seconds:,.0f} fleets a second{told}")
        print(f"    the thread that feeds it: {feeding.told()}")


class _Feeding:
    """Looks every other millisecond at what this thread is busy with."""

    def __enter__(self) -> _Feeding:
        self._seen: Counter[str] = Counter()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, args=(threading.get_ident(),), daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self, thread: int) -> None:
        while not self._over.wait(0.002):
            stack = {frame.f_code.co_qualname for frame, _ in traceback.walk_stack(sys._current_frames()[thread])}
            self._seen[next((what for call, what in FEEDING.items() if call in stack), "the rest")] += 1

    def told(self) -> str:
        """Shares of the time."""
        looks = max(1, self._seen.total())
        return ", ".join(f"{what} {100 * count / looks:.0f} %" for what, count in self._seen.most_common())


class _Busy:
    """Sums up what the device takes for each batch, from the first of its kernels to the last copy back."""

    def __init__(self) -> None:
        self._events: list[tuple[Any, Any]] = []

    def watch(self, model: BatchModel) -> None:
        self._sampled = sampled = model.network.sampled

        def watched(*given: Any) -> Any:
            events = tuple(torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            events[0].record()
            pending = sampled(*given)
            events[1].record()
            self._events.append((events[0], events[1]))
            return pending

        model.network.sampled = watched  # type: ignore[method-assign, assignment]

    def seconds(self, model: BatchModel) -> float:
        model.network.sampled = self._sampled  # type: ignore[method-assign]
        torch.cuda.synchronize()
        return float(sum(first.elapsed_time(last) for first, last in self._events)) / 1e3


def _print_latency(model: BatchModel, fleets: Sequence[Fleet], steps: int, samples: int) -> None:
    for each in sorted({1, samples}):
        times = []
        _generate(model, fleets[:1], steps, each)
        for fleet in fleets[: LATENCIES if model.device.type == "cuda" else LATENCIES_ON_CPU]:
            began = time.perf_counter()
            _generate(model, [fleet], steps, each)
            times.append(time.perf_counter() - began)
        print(f"one fleet, {each} samples: {1e3 * statistics.median(times):.1f} ms")
    print()


def _generate(model: BatchModel, fleets: Sequence[Fleet], steps: int, samples: int) -> None:
    with unwarned_of_parts():
        model.generate(fleets, steps=steps, samples=samples)


if __name__ == "__main__":
    main()
