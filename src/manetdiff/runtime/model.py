"""The model that users hold: positions in, links and parity out."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack, overload

from manetdiff.checks import check_whole
from manetdiff.engine import Processes
from manetdiff.errors import BatchError, FleetError, ManetDiffError, ModelError, TopologyError
from manetdiff.fleet import Fleet, same_places
from manetdiff.layout import Layout
from manetdiff.layout.choosing import NO_LINKS
from manetdiff.radio import Radio
from manetdiff.runtime.batches import spread
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.calibration import measured, remember, remembered
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.costs import ASSUMED, Calibration
from manetdiff.runtime.denoising import denoised
from manetdiff.runtime.effort import Effort, chosen_effort
from manetdiff.runtime.no_harm import as_it_was, carried_over, keeps_to
from manetdiff.runtime.objective import Before, LoyaltyAsked, Objective, layouts_ahead, usual_link
from manetdiff.runtime.options import Asked, Options
from manetdiff.runtime.partial import Mode, chosen_mode, partial_diffusion, usual_effort
from manetdiff.runtime.plan import Plan, last_move, planned
from manetdiff.runtime.previous import previous_links
from manetdiff.runtime.refine import Refined, best_of
from manetdiff.runtime.samples import Update, constructed, draw_samples
from manetdiff.runtime.task import Task
from manetdiff.sampling.contract import Network
from manetdiff.solvers.rehearsal import TOY, rehearse, rehearse_ahead
from manetdiff.topology import Topology, continuity, warn_of_parts, warn_of_parts_in_batch
from manetdiff.weights import DEFAULT

# Nodes. A dense network looks at all pairs; and it was trained for one number of sectors and one kind of beam.
FEWEST = 2
MOST: Mapping[Network, int] = {"dense": 256, "sparse": 1024}


def load(weights: str | Path = DEFAULT, *, workers: int = 1, threads: int | None = None) -> Model:
    """Packaged weights by name, or a file that `manetdiff export` made.

    - workers: processes that share the fleets of a batch, each with the network for itself; 1: this one. They are
      started by the first batch, and there until `close` or the end. threads: what workers were called before.
    """
    return Model(find_bundle(weights), workers=workers if threads is None else threads, source=str(weights))


class Model:
    """A trained network that makes topologies.

    - name, radio: of the weights, and the radio that they were trained for. card: how they were made.
    - workers: see `load`. source: from where other processes load the same.
    """

    def __init__(self, bundle: Bundle, *, workers: int = 1, source: str | None = None) -> None:
        self.name, self.radio, self.card = bundle.name, bundle.radio, bundle.card
        self.sampling, self.network = bundle.sampling, bundle.network
        check_whole(ModelError, "workers", workers, 1)
        self.workers = workers if source is not None else 1
        self._source, self._processes = source, Processes(self.workers)
        self._chain = Chain(bundle)
        self._calibration = remembered(self._chain)
        self._prepared: set[str] = set()

    def __repr__(self) -> str:
        return f"Model({self.name!r}, workers={self.workers})"

    def close(self) -> None:
        """End the processes of batches; the next batch starts them again."""
        self._processes.close()

    @overload
    def generate(self, fleet: Fleet | Layout, **asked: Unpack[Asked]) -> Topology: ...
    @overload
    def generate(self, fleet: Sequence[Fleet | Layout], **asked: Unpack[Asked]) -> list[Topology]: ...
    def generate(
        self, fleet: Fleet | Layout | Sequence[Fleet | Layout], **asked: Unpack[Asked]
    ) -> Topology | list[Topology]:
        """A topology for a fleet, or one for each of several.

        - radio: by default the layout's, or the one that the weights were trained for.
        - seed: the same one gives the same topology, alone or in a batch, whatever the workers.
        - preset: 'instant', 'fast', 'balanced' (default), 'careful', 'thorough' or 'best'.
        - budget_ms: milliseconds a fleet instead, from which the preset follows; where none fits, a construction and a
          local search take the network's place, and the report's method says so. See `calibrate`.
        - steps, samples, correct, polish: instead of what the preset says. polish: True, False, or a number of moves;
          correct=False, polish=False gives the network's own samples.
        - ahead: fleets to come, predicted (`md.predicted`) or planned, in which the same links will be used: what is
          raised is the mean of T now and then; more than three, or one with uncertainty, are compiled for first, which
          takes some twenty seconds once. uncertainty: of the nodes' places, metres (standard deviation of each
          coordinate): links are preferred that hold wherever in there the nodes are.
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
        if options.ahead:
            raise ModelError("ahead is of one fleet: call generate for each")
        batch = self._each(list(fleet), options, asked)
        warn_of_parts_in_batch({index: one.report.parts for index, one in enumerate(batch)})
        return batch

    def update(
        self,
        topology: Topology,
        fleet: Fleet | Layout,
        *,
        previous: Fleet | None = None,
        mode: Mode = "auto",
        loyalty: float | None = None,
        setup: float | None = None,
        elapsed: float | None = None,
        **asked: Unpack[Asked],
    ) -> Topology:
        """The topology of a fleet that has moved, close to its previous one: raised is T + loyalty · (kept - new) / 2.

        - previous: the fleet that the topology was made for, by default the one that it knows. radio: by default the
          one that it was made for, where it knows that. Nodes are matched by id: those that have joined are linked,
          those that have left are forgotten. A fleet that shares no node with the topology is refused.
        - mode: how the network starts: 'quick' (also 'auto'), the paper's 'minor', 'standard' and 'guided', or 'anew',
          without regard to the previous topology. The other arguments are those of `generate`.
        - loyalty: what a link is worth that is kept instead of being exchanged, in bit/s/Hz. By default it follows from
          `setup`, the seconds until a new link carries anything, and `elapsed`, the seconds since the last update;
          without them it is three tenths of what a link carries. A fleet that has not moved, and is not about to, keeps
          its links in any case.
        """
        options = Options(**asked)
        wanted = LoyaltyAsked(loyalty, setup, elapsed)
        if mode == "anew" and (loyalty is not None or setup is not None):
            raise ModelError("mode anew has no regard to the old links: leave loyalty and setup out")
        began = time.perf_counter()
        if not isinstance(topology, Topology):
            raise TopologyError(f"give the previous Topology, not {type(topology).__name__}")
        if previous is not None and not isinstance(previous, Fleet):
            raise FleetError(f"previous must be a Fleet, not {type(previous).__name__}")
        if options.budget_ms is not None:
            raise ModelError("budget_ms goes with generate; an update takes as long as its steps")
        began += self._prepare(Effort(steps=1), options.moments)
        known = topology.layout
        layout = self._layout(fleet, options.radio, self.radio if known is None else known.radio)
        before = previous if previous is not None or known is None else known.fleet
        links = previous_links(topology, before, layout.fleet)
        picked = chosen_mode(mode)
        link = usual_link(links, layout)
        share = wanted.share(link)
        how = None if picked == "anew" else partial_diffusion(picked, links.moved, options.steps, share)
        usual = usual_effort(len(layout), correct=options.correct is not False)
        effort = chosen_effort(options, len(layout), None if how is None else usual)
        # A sparse network can keep only links that it sees; a dense one sees all.
        offered = links.topology.links if self.network == "sparse" and how is not None else NO_LINKS
        task = Task(layout, options, began, offered=offered)
        same_radio = known is None or known.radio == layout.radio
        ahead = layouts_ahead(options.ahead, layout)
        still = all(same_places(one.fleet, layout.fleet) for one in ahead)
        if mode != "anew" and links.unmoved and still and same_radio and keeps_to(links, task.pins):
            kept = task.finished(as_it_was(links, task), method="netdiff", mode="unmoved", moved=0.0, continuity=1.0)
            warn_of_parts(kept.report.parts)
            return kept
        if how is not None:
            effort = dataclasses.replace(effort, steps=how.steps)
        worth = share * link * layout.radio.bandwidth / 1e6
        old = Before(carried_over(links, task.pins), links, worth) if mode != "anew" else None
        objective = Objective(ahead, old, options.uncertainty)
        best = self._sampled(task, effort, objective, None if how is None else Update(links, how))
        loyal = math.nan if old is None or not effort.correct else share * link
        made = task.finished(best, mode=picked, moved=links.moved, loyalty=loyal)
        warn_of_parts(made.report.parts)
        was = topology if before is None else Topology(topology.links, topology.parity, layout=Layout(before))
        return made.with_report(continuity=continuity(was, made))

    def denoised(self, layout: Layout, *, steps: int, seed: int = 0) -> list[tuple[float, Topology]]:
        """A denoising to look at: times from 1 (pure noise) to 0, and the raw graph at each of them."""
        self._prepare(Effort(steps=1))
        return denoised(self._chain, self._layout(layout, None, self.radio), steps, seed)

    def calibrate(self, *, again: bool = False) -> Calibration:
        """Get ready for calls with `budget_ms`: measure how fast this machine is, in a few seconds, and remember it.

        - again: measure even if that was done on this machine before.

        Everything that is only done the first time, such as loading compiled code, is done here as well: call it once
        in a process that promises times. Without it budgets are planned with costs that are assumed.
        """
        self._prepare(Effort(steps=1))
        if self._calibration is None or again:
            self._calibration = measured(self._chain, self.radio)
            remember(self._chain, self._calibration)
        return self._calibration

    def _prepare(self, effort: Effort, moments: int = 0) -> float:
        """Load what is loaded once in a process, or compiled once on a machine; the seconds that it took, which are no
        part of the time of a topology."""
        began = time.perf_counter()
        rehearse()
        if moments:
            rehearse_ahead(moments)
        chain = self._chain
        if chain.name not in self._prepared:
            once = dataclasses.replace(effort, steps=1, samples=1)
            draw_samples(chain, chain.embed(Layout(TOY, self.radio)), once, 0, None, None)
            self._prepared.add(chain.name)
        return time.perf_counter() - began

    def _generate(self, fleet: Fleet | Layout, options: Options) -> Topology:
        began = time.perf_counter()
        layout = self._layout(fleet, options.radio, self.radio)
        effort = chosen_effort(options, len(layout))
        began += self._prepare(effort, options.moments)
        if options.budget_ms is not None:
            return self._within(Task(layout, options, began, last_move(began, options.budget_ms / 1e3)))
        task = Task(layout, options, began)
        return task.finished(self._sampled(task, effort, _objective(task)), preset=options.preset)

    def _within(self, task: Task) -> Topology:
        """What a budget has room for, by how fast this machine is."""
        assert task.options.budget_ms is not None
        budget, layout = task.options.budget_ms / 1e3, task.layout
        # Under another kind of beam than it was trained for, a dense network is worth less than the time it takes.
        trained = self.network == "sparse" or layout.radio.pattern == self.radio.pattern
        plan = planned(budget, self._calibration or ASSUMED, len(layout), layout.radio, network=trained)
        best = _constructed(task, plan) if plan.preset is None else self._sampled(task, plan.effort, _objective(task))
        return task.finished(best, preset=plan.preset, budget_ms=task.options.budget_ms)

    def _layout(self, fleet: Fleet | Layout, asked: Radio | None, usual: Radio) -> Layout:
        """The layout of a fleet under the radio asked for, or the usual one, if the network takes it."""
        layout = Layout.of(fleet, asked) if isinstance(fleet, Layout) else Layout(fleet, asked or usual)
        most = MOST[self.network]
        if not FEWEST <= len(layout) <= most:
            raise FleetError(f"the network takes fleets of {FEWEST} to {most:,} nodes, not {len(layout):,}")
        if self.network == "dense" and layout.radio.sectors != self.radio.sectors:
            trained, there = self.radio.sectors, layout.radio.sectors
            raise ModelError(f"{self.name} was trained for {trained} sectors; the radio has {there}")
        return layout

    def _sampled(self, task: Task, effort: Effort, objective: Objective, update: Update | None = None) -> Refined:
        """The best of the network's samples, from noise or from a previous topology, and of that topology itself."""
        chain = self._chain
        embedded = chain.embed(task.judged)
        grown = effort.forest and update is None and self.network == "sparse"
        forest = constructed(task.judged, task.pins, greedy=False) if grown else None
        ready = time.perf_counter()
        drawn = draw_samples(chain, embedded, effort, task.options.seed, update, task.pins, forest)
        done = time.perf_counter()
        best = best_of(drawn.samples, task.judged, effort, task.options.seed, task.deadline, objective, drawn.plausible)
        report = best.report.replace(
            method="netdiff",
            weights=chain.name,
            steps=effort.steps,
            samples=effort.samples,
            finalists=effort.searched if effort.polish else 0,
            stages={"layout": ready - task.began, "sampling": done - ready, **best.report.stages},
        )
        return best._replace(report=report)

    def _each(self, fleets: list[Fleet | Layout], options: Options, asked: Asked) -> list[Topology]:
        """Every fleet by itself, so that a bad one fails alone."""
        outcomes: list[Topology | ManetDiffError] = []
        if self.workers == 1 or len(fleets) < 2:
            for fleet in fleets:
                try:
                    outcomes.append(self._generate(fleet, options))
                except ManetDiffError as error:
                    outcomes.append(error)
        else:
            assert self._source is not None  # or there would be one worker
            for fleet, made in zip(fleets, spread(self._processes, self._source, fleets, asked), strict=True):
                if isinstance(made, ManetDiffError):
                    outcomes.append(made)
                else:
                    layout = self._layout(fleet, options.radio, self.radio)
                    outcomes.append(Topology(made.links, made.parity, made.report, layout))
        errors = {index: outcome for index, outcome in enumerate(outcomes) if isinstance(outcome, ManetDiffError)}
        if errors:
            raise BatchError([None if isinstance(one, ManetDiffError) else one for one in outcomes], errors)
        return [outcome for outcome in outcomes if isinstance(outcome, Topology)]


def _objective(task: Task) -> Objective:
    """Of a topology that is made without regard to others."""
    options = task.options
    return Objective(layouts_ahead(options.ahead, task.layout), uncertainty=options.uncertainty)


def _constructed(task: Task, plan: Plan) -> Refined:
    """What is made where there is no time for the network."""
    sample = constructed(task.judged, task.pins, greedy=plan.greedy)
    done = time.perf_counter()
    best = best_of([sample], task.judged, plan.effort, task.options.seed, task.deadline, _objective(task))
    stages = {"construction": done - task.began, **best.report.stages}
    return best._replace(report=best.report.replace(method="mst-greedy" if plan.greedy else "mst", stages=stages))
