"""The model that users hold: positions in, links and parity out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Unpack, overload

from manetdiff.checks import check_whole
from manetdiff.cores import usable_cores
from manetdiff.errors import BatchError, FleetError, ManetDiffError, ModelError, TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.effort import UPDATE, Effort, chosen_effort
from manetdiff.runtime.options import Asked, Options
from manetdiff.runtime.partial import Mode, chosen_mode, partial_diffusion
from manetdiff.runtime.pins import check_pins
from manetdiff.runtime.previous import previous_links
from manetdiff.runtime.refine import best_of
from manetdiff.runtime.samples import Update, draw_samples
from manetdiff.runtime.speed import MachineSpeed, affordable, machine_speed
from manetdiff.topology import Report, Topology, continuity, find_parts, warn_of_parts, warn_of_parts_in_batch
from manetdiff.weights import DEFAULT, SMALL

FEWEST, MOST = 2, 256  # nodes


def load(weights: str | Path = DEFAULT, *, threads: int | None = None) -> Model:
    """Packaged weights by name, or a file that `manetdiff export` made.

    - threads: fleets of a batch that are worked on at the same time; by default as many as there are cores to use.
    """
    bundle = find_bundle(weights)
    return Model(bundle, threads=threads, companion=find_bundle(SMALL) if str(weights) == DEFAULT else None)


class Model:
    """A trained network that makes topologies.

    - name, radio: of the weights, and the radio that they were trained for. card: how they were made.
    - companion: a smaller network that takes the steps where a preset asks for many samples in little time.
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

        - radio: by default the layout's, or the one that the weights were trained for.
        - seed: the same one gives the same topology, alone or in a batch, whatever the threads.
        - preset: 'instant', 'fast', 'balanced' (default), 'careful', 'thorough' or 'best'.
        - budget_ms: milliseconds a fleet instead, from which the preset follows.
        - steps, samples, correct, polish: instead of what the preset says. polish: True, False, or a number of moves;
          correct=False, polish=False gives the network's own samples.
        - keep, avoid, silent: links that must be there, pairs that must not be linked, nodes that stay silent; nodes by
          id or by index.

        A fleet that cannot be served raises an error that says why; in a batch, a BatchError with the others' results.
        A network that comes out in parts gives a DisconnectedWarning; `parts` in its report says which nodes are
        outside, why, and what range would join them.
        """
        options = Options(**asked)
        if isinstance(fleet, Fleet | Layout):
            made = self._generate(fleet, options)
            warn_of_parts(made.report.parts)
            return made
        given: object = fleet
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise FleetError(f"give a Fleet, or several, not {type(fleet).__name__}")
        batch = self._each(lambda single: self._generate(single, options), list(fleet))
        warn_of_parts_in_batch({index: one.report.parts for index, one in enumerate(batch)})
        return batch

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

        - previous: the fleet that the topology was made for, by default the one that it knows. radio: by default the
          one that it was made for, where it knows that. Nodes are matched by id: those that have joined are linked,
          those that have left are forgotten. A fleet that shares no node with the topology is refused.
        - mode: 'minor', 'standard', 'guided', 'anew' (without regard to the previous topology), or 'auto', which picks
          by how far the nodes have moved. The other arguments are those of `generate`.
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
        links = previous_links(topology, before, layout.fleet)
        picked = chosen_mode(mode, links.moved)
        told = Report(mode=picked, moved=links.moved)
        if picked == "anew":
            made = self._made(layout, options, chosen_effort(options, len(layout)), None, told, began)
        else:
            how = partial_diffusion(picked, links.moved, options.steps)
            effort = dataclasses.replace(chosen_effort(options, len(layout), UPDATE), steps=how.steps)
            made = self._made(layout, options, effort, Update(links, how), told, began)
        warn_of_parts(made.report.parts)
        old = topology if before is None else Topology(topology.links, topology.parity, layout=Layout(before))
        return made.with_report(continuity=continuity(old, made))

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
        update: Update | None,
        told: Report,
        began: float,
    ) -> Topology:
        """A topology from noise, or by an update of a previous one."""
        seed = options.seed
        pins = check_pins(options.pins, layout) if options.pins else None
        chain = self._companion if effort.small and self._companion is not None else self._chain
        embedded = chain.embed(layout.features)
        ready = time.perf_counter()
        sampled = draw_samples(chain, embedded, effort, seed, update, pins)
        done = time.perf_counter()
        judged = layout if pins is None else layout.pinned(pins.keep, pins.avoid)
        best = best_of(sampled, judged, effort, seed)
        parts = find_parts(best.sample.links, judged)
        report = best.report.replace(
            method="netdiff",
            components=1 if parts is None else parts.components,
            parts=parts,
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


def checked_threads(threads: int | None) -> int:
    """As many as asked for, or as there are cores to use."""
    if threads is None:
        return usable_cores()
    check_whole(ModelError, "threads", threads, 1)
    return threads
