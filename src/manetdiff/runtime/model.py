"""The model that users hold: positions in, links and parity out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_whole
from manetdiff.cores import usable_cores
from manetdiff.errors import BatchError, FleetError, ManetDiffError, ModelError, TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.carry import Carried, carried_over
from manetdiff.runtime.chain import TOGETHER, Chain, Noise, States
from manetdiff.runtime.effort import UPDATE, Effort, chosen_effort
from manetdiff.runtime.modes import Mending, Mode, chosen_mode, mending
from manetdiff.runtime.options import Asked, Options
from manetdiff.runtime.pins import check_pins
from manetdiff.runtime.refine import Sample, best_of, samples_of
from manetdiff.runtime.speed import MachineSpeed, affordable, machine_speed
from manetdiff.sampling import plain_settings, time_pairs
from manetdiff.topology import Report, Topology, continuity
from manetdiff.weights import DEFAULT, SMALL

FEWEST, MOST = 2, 256  # nodes


def load(weights: str | Path = DEFAULT, *, threads: int | None = None) -> Model:
    """Packaged weights by name, or a file that `manetdiff export` made.

    threads: fleets of a batch that are worked on at the same time; by default as many as there are cores to use.
    """
    bundle = find_bundle(weights)
    return Model(bundle, threads=threads, companion=find_bundle(SMALL) if str(weights) == DEFAULT else None)


class Model:
    """A trained network that makes topologies.

    name, radio: of the weights, and the radio that they were trained for. card: how they were made.
    companion: a smaller network that takes the steps where a preset asks for many samples in little time.
    """

    def __init__(self, bundle: Bundle, *, threads: int | None = None, companion: Bundle | None = None) -> None:
        self.name, self.radio, self.card = bundle.name, bundle.radio, bundle.card
        self.sampling = bundle.sampling
        self.threads = checked_threads(threads)
        self._chain = Chain(bundle)
        self._companion = None if companion is None else Chain(companion)
        self._speeds: dict[int, MachineSpeed] = {}

    def __repr__(self) -> str:
        return f"Model({self.name!r}, threads={self.threads})"

    @overload
    def generate(self, fleet: Fleet | Layout, **asked: Unpack[Asked]) -> Topology: ...
    @overload
    def generate(self, fleet: Sequence[Fleet | Layout], **asked: Unpack[Asked]) -> list[Topology]: ...
    def generate(
        self, fleet: Fleet | Layout | Sequence[Fleet | Layout], **asked: Unpack[Asked]
    ) -> Topology | list[Topology]:
        """A topology for a fleet, or one for each of several.

        radio: by default the one that the weights were trained for. seed: the same one gives the same topology, alone
        or in a batch, whatever the threads.
        preset: 'instant', 'fast', 'balanced' (default), 'careful', 'thorough' or 'best'. budget_ms: milliseconds a
        fleet instead, from which the preset follows. steps, samples, correct, polish replace what the preset says;
        polish: True, False, or a number of moves. correct=False, polish=False gives the network's own samples.
        keep, avoid, silent: links that must be there, pairs that must not be linked, nodes that stay silent; nodes by
        id or by index.

        A fleet that cannot be served raises an error that says why; in a batch, a BatchError with the others' results.
        """
        options = Options(**asked)
        if isinstance(fleet, Fleet | Layout):
            return self._generate(fleet, options)
        given: object = fleet
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise FleetError(f"give a Fleet, or several, not {type(fleet).__name__}")
        return self._each(lambda single: self._generate(single, options), list(fleet))

    def update(
        self,
        topology: Topology,
        fleet: Fleet | Layout,
        *,
        previous: Fleet | None = None,
        mode: Mode = "auto",
        **asked: Unpack[Asked],
    ) -> Topology:
        """The topology of a fleet that has moved, close to its previous one.

        previous: the fleet that the topology was made for, by default the one that it knows. radio: by default the one
        that it was made for, where it knows that.
        Nodes are matched by id: those that have joined are linked, those that have left are forgotten.
        mode: 'minor', 'standard', 'guided', 'anew' (without regard to the previous topology), or 'auto', which picks by
        how far the nodes have moved. The other arguments are those of :meth:`generate`.
        """
        options = Options(**asked)
        began = time.perf_counter()
        if not isinstance(topology, Topology):
            raise TopologyError(f"give the previous Topology, not {type(topology).__name__}")
        if previous is not None and not isinstance(previous, Fleet):
            raise FleetError(f"previous must be a Fleet, not {type(previous).__name__}")
        if options.budget_ms is not None:
            raise ModelError("budget_ms goes with generate; an update takes as long as its steps")
        known = topology.layout
        layout = self._layout(fleet, options.radio, self.radio if known is None else known.radio)
        before = previous if previous is not None or known is None else known.fleet
        carried = carried_over(topology, before, layout.fleet)
        picked = chosen_mode(mode, carried.moved)
        told = Report(mode=picked, moved=carried.moved)
        if picked == "anew":
            made = self._made(layout, options, chosen_effort(options, len(layout)), None, told, began)
        else:
            how = mending(picked, carried.moved, options.steps)
            effort = dataclasses.replace(chosen_effort(options, len(layout), UPDATE), steps=how.steps)
            made = self._made(layout, options, effort, (carried, how), told, began)
        return made.with_report(continuity=continuity(carried.topology, made))

    def _generate(self, fleet: Fleet | Layout, options: Options) -> Topology:
        layout = self._layout(fleet, options.radio, self.radio)
        if options.budget_ms is not None:
            picked = self._affordable(layout, options.budget_ms)
            options = dataclasses.replace(options, preset=picked, budget_ms=None)
        began = time.perf_counter()
        effort = chosen_effort(options, len(layout))
        return self._made(layout, options, effort, None, Report(preset=options.preset), began)

    def _affordable(self, layout: Layout, budget_ms: float) -> str:
        """The preset that a time budget has room for, by how fast this machine is on fleets of this size."""
        n = len(layout)
        if n not in self._speeds:
            self._speeds[n] = machine_speed(lambda preset: self._generate(layout, Options(preset=preset)), n)
        return affordable(budget_ms / 1e3, self._speeds[n], n)

    def _layout(self, fleet: Fleet | Layout, asked: Radio | None, usual: Radio) -> Layout:
        """The layout of a fleet under the radio asked for, or the usual one, if the network takes it."""
        layout = Layout.of(fleet, asked) if isinstance(fleet, Layout) else Layout(fleet, asked or usual)
        if not FEWEST <= len(layout) <= MOST:
            raise FleetError(f"the network takes fleets of {FEWEST} to {MOST} nodes, not {len(layout)}")
        if layout.radio.sectors != self.radio.sectors:
            trained, there = self.radio.sectors, layout.radio.sectors
            raise ModelError(f"{self.name} was trained for {trained} sectors; the radio has {there}")
        return layout

    def _made(
        self,
        layout: Layout,
        options: Options,
        effort: Effort,
        change: tuple[Carried, Mending] | None,
        told: Report,
        began: float,
    ) -> Topology:
        """A topology from noise, or by a change from a previous one."""
        n, seed = len(layout), options.seed
        pins = check_pins(options.pins, layout) if options.pins else None
        chain = self._companion if effort.small and self._companion is not None else self._chain
        embedded = chain.embed(layout.features)
        ready = time.perf_counter()
        redundancy = chain.sampling.redundancy if change is None and effort.redundant else 1.0
        settings = plain_settings(n, chain.sampling.temperature, redundancy)
        if pins is not None:
            settings = settings._replace(edge_bias=settings.edge_bias + pins.edge_bias())
        way = _way(embedded.noise, change, effort)
        if change is not None and change[1].pull:
            settings = settings._replace(guide=change[0].states.edges, guide_weight=_weights(*change))
        sampled: list[Sample] = []
        for start in range(0, effort.samples, TOGETHER):
            streams = [(seed, k) for k in range(start, min(start + TOGETHER, effort.samples))]
            draws = chain.draws(streams, n, effort.steps + 1)
            first = chain.noised(embedded, way.noise, way.clean, way.noised_to, draws)
            outcome = chain.run(embedded, way.noise, first, way.pairs, draws.rounds(1), settings)
            sampled += samples_of(outcome.states, pins)
        done = time.perf_counter()
        judged = layout if pins is None else layout.pinned(pins.keep, pins.avoid)
        best = best_of(sampled, judged, effort, seed)
        report = best.report.replace(
            method="netdiff",
            weights=chain.name,
            seed=int(seed),
            preset=told.preset,
            mode=told.mode,
            moved=told.moved,
            steps=effort.steps,
            samples=effort.samples,
            finalists=effort.searched if effort.polish else 0,
            throughput=best.throughput,
            seconds=time.perf_counter() - began,
            stages={"layout": ready - began, "sampling": done - ready, **best.report.stages},
        )
        return Topology(*best.sample, report, layout)

    def _each(self, one: Callable[[Fleet | Layout], Topology], fleets: Sequence[Fleet | Layout]) -> list[Topology]:
        """Every fleet by itself, so that a bad one fails alone."""

        def guarded(fleet: Fleet | Layout) -> Topology | ManetDiffError:
            try:
                return one(fleet)
            except ManetDiffError as error:
                return error

        if self.threads == 1 or len(fleets) < 2:
            outcomes = [guarded(fleet) for fleet in fleets]
        else:
            with ThreadPoolExecutor(min(self.threads, len(fleets))) as pool:
                outcomes = list(pool.map(guarded, fleets))
        errors = {index: outcome for index, outcome in enumerate(outcomes) if isinstance(outcome, ManetDiffError)}
        if errors:
            raise BatchError([None if isinstance(one, ManetDiffError) else one for one in outcomes], errors)
        return [outcome for outcome in outcomes if isinstance(outcome, Topology)]


class _Way(NamedTuple):
    """Where a chain begins and goes: clean graphs that are noised to a time, and the times of its steps."""

    clean: States
    noise: Noise
    noised_to: float
    pairs: Sequence[tuple[float, float]]


def _way(noise: Noise, change: tuple[Carried, Mending] | None, effort: Effort) -> _Way:
    if change is None:
        n = noise.parity.shape[1]
        nothing = States(np.zeros((1, n, n), np.float32), np.zeros((1, n), np.float32))
        return _Way(nothing, noise, 1.0, time_pairs(effort.steps, effort.grid))
    carried, how = change
    own = carried.as_noise(noise) if how.own_noise else noise
    # Noised to time 0, the previous topology stays as it is: with noise more of T comes back, but no more than with a
    # later start.
    return _Way(carried.states, own, 0.0, time_pairs(how.steps, "linear", how.start))


def _weights(carried: Carried, how: Mending) -> npt.NDArray[np.float32]:
    return (how.pull * carried.both_known)[None].astype(np.float32)


def checked_threads(threads: int | None) -> int:
    """As many as asked for, or as there are cores to use."""
    if threads is None:
        return usable_cores()
    check_whole(ModelError, "threads", threads, 1)
    return threads
