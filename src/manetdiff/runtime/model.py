"""The model that users hold: positions in, links and parity out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from manetdiff.cores import usable_cores
from manetdiff.errors import BatchError, FleetError, ManetDiffError, ModelError, TopologyError
from manetdiff.features import layout_features
from manetdiff.fleet import Fleet
from manetdiff.radio import LinkTables, Radio, link_tables
from manetdiff.runtime.bundle import DEFAULT, SMALL, Bundle, find_bundle
from manetdiff.runtime.carry import Carried, carried_over
from manetdiff.runtime.chain import TOGETHER, Chain, Noise, States
from manetdiff.runtime.effort import UPDATE, Effort, chosen_effort
from manetdiff.runtime.modes import Mending, Mode, chosen_mode, mending
from manetdiff.runtime.options import Asked, Options
from manetdiff.runtime.pace import Pace, affordable, pace_of
from manetdiff.runtime.pins import CheckedPins, check_pins
from manetdiff.runtime.refine import Refinement, Sample, Stages, best_of, samples_of
from manetdiff.sampling import plain_settings, time_pairs
from manetdiff.topology import Topology

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
        self._paces: dict[int, Pace] = {}

    def __repr__(self) -> str:
        return f"Model({self.name!r}, threads={self.threads})"

    @overload
    def generate(self, fleet: Fleet, **asked: Unpack[Asked]) -> Topology: ...
    @overload
    def generate(self, fleet: Sequence[Fleet], **asked: Unpack[Asked]) -> list[Topology]: ...
    def generate(self, fleet: Fleet | Sequence[Fleet], **asked: Unpack[Asked]) -> Topology | list[Topology]:
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
        return self._served(fleet, lambda single: self._generate(single, options))

    def _served(self, fleet: Fleet | Sequence[Fleet], one: Callable[[Fleet], Topology]) -> Topology | list[Topology]:
        if isinstance(fleet, Fleet):
            return one(fleet)
        given: object = fleet
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise FleetError(f"give a Fleet, or several, not {type(fleet).__name__}")
        return self._each(one, list(fleet))

    def update(
        self,
        topology: Topology,
        fleet: Fleet,
        *,
        previous: Fleet | None = None,
        mode: Mode = "auto",
        **asked: Unpack[Asked],
    ) -> Topology:
        """The topology of a fleet that has moved, close to its previous one.

        previous: the fleet that the topology was made for; by default the one that generate or update last gave it to.
        Nodes are matched by id: those that have joined are linked, those that have left are forgotten.
        mode: 'minor', 'standard', 'guided', 'anew' (without regard to the previous topology), or 'auto', which picks by
        how far the nodes have moved. The other arguments are those of :meth:`generate`.
        """
        options = Options(**asked)
        began = time.perf_counter()
        self._check_fleet(fleet)
        if not isinstance(topology, Topology):
            raise TopologyError(f"give the previous Topology, not {type(topology).__name__}")
        if previous is not None and not isinstance(previous, Fleet):
            raise FleetError(f"previous must be a Fleet, not {type(previous).__name__}")
        if options.budget_ms is not None:
            raise ModelError("budget_ms goes with generate; an update takes as long as its steps")
        before = previous if previous is not None else topology.report.get("fleet")
        carried = carried_over(topology, before, fleet)
        picked = chosen_mode(mode, carried.moved)
        told = {"mode": picked, "moved": carried.moved}
        if picked == "anew":
            made = self._made(fleet, options, chosen_effort(options, len(fleet)), None, told, began)
        else:
            how = mending(picked, carried.moved, options.steps)
            effort = dataclasses.replace(chosen_effort(options, len(fleet), UPDATE), steps=how.steps)
            made = self._made(fleet, options, effort, (carried, how), told, began)
        return Topology(made.links, made.parity, {**made.report, "continuity": carried.continuity(made)})

    def _generate(self, fleet: Fleet, options: Options) -> Topology:
        self._check_fleet(fleet)
        if options.budget_ms is not None:
            options = dataclasses.replace(options, preset=self._affordable(fleet, options), budget_ms=None)
        began = time.perf_counter()
        told = {"preset": options.preset} if options.preset else {}
        return self._made(fleet, options, chosen_effort(options, len(fleet)), None, told, began)

    def _affordable(self, fleet: Fleet, options: Options) -> str:
        """The preset that a time budget has room for, by how fast this machine is on fleets of this size."""
        n = len(fleet)
        if n not in self._paces:
            self._paces[n] = pace_of(
                lambda preset: self._generate(fleet, Options(radio=options.radio, preset=preset)), n
            )
        assert options.budget_ms is not None
        return affordable(options.budget_ms / 1e3, self._paces[n], n)

    def _made(
        self,
        fleet: Fleet,
        options: Options,
        effort: Effort,
        change: tuple[Carried, Mending] | None,
        told: Mapping[str, Any],
        began: float,
    ) -> Topology:
        """A topology from noise, or by a change from a previous one."""
        radio, seed, pins = options.radio or self.radio, options.seed, options.pins
        tables = self._tables(fleet, radio)
        checked = check_pins(pins, fleet, tables) if pins else None
        chain = self._companion if effort.small and self._companion is not None else self._chain
        layout = chain.embed(layout_features(fleet, radio, tables))
        embedded = time.perf_counter()
        redundancy = chain.sampling.redundancy if change is None and effort.redundant else 1.0
        settings = plain_settings(len(fleet), chain.sampling.temperature, redundancy)
        if checked is not None:
            settings = settings._replace(edge_bias=settings.edge_bias + checked.edge_bias())
        way = _way(layout.noise, change, effort)
        if change is not None and change[1].pull:
            settings = settings._replace(guide=change[0].states.edges, guide_weight=_weights(*change))
        sampled: list[Sample] = []
        for start in range(0, effort.samples, TOGETHER):
            streams = [(seed, k) for k in range(start, min(start + TOGETHER, effort.samples))]
            draws = chain.draws(streams, len(fleet), effort.steps + 1)
            first = chain.noised(layout, way.noise, way.clean, way.noised_to, draws)
            outcome = chain.run(layout, way.noise, first, way.pairs, draws.rounds(1), settings)
            sampled += samples_of(outcome.states, checked)
        seconds = {"layout": embedded - began, "sampling": time.perf_counter() - embedded}
        made = {"method": "netdiff", "weights": chain.name, "seed": seed, "fleet": fleet, **told}
        return self._finished(sampled, tables, checked, effort, seed, made, seconds, began)

    def _check_fleet(self, fleet: Fleet) -> None:
        if not isinstance(fleet, Fleet):
            raise FleetError(f"give a Fleet, not {type(fleet).__name__}")
        if not FEWEST <= len(fleet) <= MOST:
            raise FleetError(f"the network takes fleets of {FEWEST} to {MOST} nodes, not {len(fleet)}")

    def _tables(self, fleet: Fleet, radio: Radio) -> LinkTables:
        if radio.sectors != self.radio.sectors:
            raise ModelError(f"{self.name} was trained for {self.radio.sectors} sectors; the radio has {radio.sectors}")
        return link_tables(fleet, radio)

    def _finished(
        self,
        sampled: Sequence[Sample],
        tables: LinkTables,
        pins: CheckedPins | None,
        effort: Effort,
        seed: int,
        told: Mapping[str, Any],
        seconds: Mapping[str, float],
        began: float,
    ) -> Topology:
        """The best sample after refinement, and what was done."""
        stages = Stages()
        judged = tables if pins is None else pins.applied(tables)
        how = Refinement(effort.correct, effort.polish, effort.heat, effort.finalists)
        best = best_of(sampled, judged, how, seed, stages)
        stages_s = {"correction": stages.correction, "polish": stages.polish}
        report = {
            **told,
            "steps": effort.steps,
            "samples": effort.samples,
            **({"finalists": effort.searched} if effort.polish else {}),
            "kept": best.place,
            **best.report,
            "valid": best.valid,
            "connected": best.connected,
            "throughput": best.throughput,
            "seconds": {**seconds, **stages_s, "total": time.perf_counter() - began},
        }
        return Topology(best.sample.links, best.sample.parity, report)

    def _each(self, one: Callable[[Fleet], Topology], fleets: Sequence[Fleet]) -> list[Topology]:
        """Every fleet by itself, so that a bad one fails alone."""

        def guarded(fleet: Fleet) -> Topology | ManetDiffError:
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
        topologies = [None if isinstance(outcome, ManetDiffError) else outcome for outcome in outcomes]
        if errors:
            raise BatchError(topologies, errors)
        return [topology for topology in topologies if topology is not None]


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
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ModelError(f"threads must be a whole number of at least 1, not {threads!r}")
    return threads
