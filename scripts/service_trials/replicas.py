"""Several services on one PostgreSQL, under load: one is killed every few seconds, and one is stopped for a while.

Reports go from one replica to the next, but for those that fail their health checks. What was acknowledged
is compared with what the database has. A take-over is timed from the signal: until the database has another owner, and
until a report of the network is acknowledged again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service_trials.balancer import Balancer
from service_trials.kills import comparable, path_of
from service_trials.light_http import Answer, LightConnection
from service_trials.running_replicas import Replicas
from service_trials.section import Section

NODES, FLOWN_HZ = 8, 5
# Seconds that a sender waits for an answer, and until it tries again what was not taken.
PATIENCE_S, AGAIN_S = 1.0, 0.1
# Seconds between two looks who owns what.
LOOK_S = 0.05
# Seconds at the end of a round, for what is being taken over.
REST_S = 6.0
HEADER = (
    *("round", "seconds", "reports", "acknowledged", "refused (503)", "broken off", "no answer", "other"),
    *("versions", "lost", "changed", "numbered twice", "missing numbers"),
)
TAKEN_HEADER = (
    *("round", "times", "networks taken over", "owner: median, s", "longest, s"),
    *("acknowledged again: median, s", "longest, s"),
)


@dataclass(frozen=True)
class ReplicaPlan:
    """networks: with a report at `rate` Hz each. flown: others, in flights of the service's own.

    - kills: one every `every` seconds. stopped: seconds that one is stopped for after that.
    """

    replicas: int = 3
    networks: int = 9
    flown: int = 3
    rate: float = 2.0
    kills: int = 12
    every: float = 10.0
    stopped: float = 8.0


@dataclass
class Round:
    """What senders have seen of it. outcomes: by status, or by what there was instead."""

    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    twice: int = 0
    owned_s: list[float] = field(default_factory=list)
    acknowledged_s: list[float] = field(default_factory=list)
    times: int = 0


@dataclass(frozen=True)
class _Lost:
    """A network whose replica was killed or stopped. since: when. owner: who that was, as the database knows it."""

    since: float
    owner: str


def replica_trial(plan: ReplicaPlan, folder: Path, opened: AbstractContextManager[str]) -> list[Section]:
    """All of it. opened: what gives the address of an empty PostgreSQL."""
    with opened as address:
        replicas = Replicas(plan.replicas, folder, address)
        try:
            rounds, stopped = asyncio.run(_Trial(plan, replicas).run())
        finally:
            replicas.kill()
        rows = [[name, *_counted(one, replicas)] for name, one in rounds.items()]
        numbers = replicas.numbers()
    missing = sum(latest - count for count, latest in numbers)
    for row in rows:
        row.append(f"{missing:,}")
    about = (
        f"{plan.replicas} replicas on one PostgreSQL, all on this machine's cores, with {plan.networks} networks of "
        f"{NODES} nodes that are reported to {plan.rate:g} times a second each, every report to the next replica in "
        f"turn that answers its health checks (as in the example for HAProxy), and {plan.flown} networks in flights of "
        f"the service's own, {FLOWN_HZ} Hz. *Killed*: one after the other by SIGKILL, every {plan.every:g} s, and "
        f"started again at once. *Stopped*: one by SIGSTOP for {plan.stopped:g} s, while another takes over what it "
        f"runs, and then continued. What was not acknowledged was tried again after {AGAIN_S:g} s at the next replica; "
        f"*no answer*: not within {PATIENCE_S:g} s. Every "
        "acknowledged version was compared with the database in the end: version, time, links, T. *Missing numbers*: "
        f"of all versions of all networks, flown ones too ({sum(count for count, _ in numbers):,} versions in all)."
    )
    given_up, refused = stopped
    taken = (
        "From the signal, for each network that the replica ran: until the database has another owner for it, flown "
        "ones too, and until a report of it is acknowledged by that one. The replica that was stopped gave up "
        f"{given_up} networks when it was continued, and {refused} versions that it wanted to write by then were "
        "refused because the fence had gone on."
    )
    return [
        Section("Replicas", about, HEADER, rows),
        Section("Taken over", taken, TAKEN_HEADER, [[name, *_times(one)] for name, one in rounds.items()]),
    ]


class _Trial:
    """One run of it."""

    def __init__(self, plan: ReplicaPlan, replicas: Replicas) -> None:
        self._plan, self._replicas = plan, replicas
        self._round = Round()
        self._balancer = Balancer(replicas.urls)
        self._clock = itertools.count(1)  # goes on over all rounds: the newest positions win
        self._unowned: dict[str, _Lost] = {}  # networks that are to be taken over
        self._unserved: dict[str, _Lost] = {}  # and those that have not been heard of since
        self._reported_to: set[str] = set()
        self._flown: set[str] = set()
        self._told: dict[tuple[str, int], float] = {}  # times of acknowledged versions

    async def run(self) -> tuple[dict[str, Round], list[int]]:
        """The rounds; and of the one that was stopped, how many networks it gave up and updates were refused."""
        plan = self._plan
        networks = [await self._created(number) for number in range(plan.networks)]
        self._reported_to = set(networks)
        for number in range(plan.flown):
            flown = await self._created(number)
            self._flown.add(flown)
            plane = {"nodes": NODES, "rate": FLOWN_HZ, "seed": number}
            await self._asked(number, "PUT", f"/v1/networks/{flown}/flight", plane)
        rounds = {}
        for name, happens in (("killed", self._kills()), ("stopped", self._stop())):
            rounds[name] = self._round = Round()
            began = time.monotonic()
            senders = [asyncio.create_task(self._send(number, one)) for number, one in enumerate(networks)]
            senders += [asyncio.create_task(self._look()), asyncio.create_task(self._balancer.check())]
            try:
                stopped = await happens
                await asyncio.sleep(REST_S)
            finally:
                for sender in senders:
                    sender.cancel()
                await asyncio.gather(*senders, return_exceptions=True)
            self._round.seconds = time.monotonic() - began
        return rounds, stopped

    async def _kills(self) -> list[int]:
        """By the clock, whether the one before has started again or not."""
        began = time.monotonic()
        starting: dict[int, asyncio.Future[None]] = {}
        for number in range(self._plan.kills):
            await asyncio.sleep(max(0.0, began + (number + 1) * self._plan.every - time.monotonic()))
            victim = number % self._plan.replicas
            if victim in starting:
                await starting[victim]
            self._lose(victim)
            await asyncio.to_thread(self._replicas.running[victim].kill)
            starting[victim] = asyncio.ensure_future(asyncio.to_thread(self._replicas.again, victim))
        await asyncio.gather(*starting.values())
        return []

    async def _stop(self) -> list[int]:
        await asyncio.sleep(1.0)
        # One that flies goes on to write by itself when it is continued.
        runs = {number: self._flown & {*self._replicas.networks_of(number)} for number in range(self._plan.replicas)}
        victim = max(runs, key=lambda number: len(runs[number]))
        self._lose(victim)
        process = self._replicas.running[victim].process
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(self._plan.stopped)
        finally:
            process.send_signal(signal.SIGCONT)
        await asyncio.sleep(2.0)
        counters = (await self._asked(victim, "GET", "/metrics")).body.decode()
        return [_counter(counters, name) for name in ("given_up_total", 'failures_total{kind="MovedError"}')]

    def _lose(self, victim: int) -> None:
        lost = {
            network: _Lost(time.monotonic(), owner) for network, owner in self._replicas.networks_of(victim).items()
        }
        self._unowned |= lost
        self._unserved |= {network: one for network, one in lost.items() if network in self._reported_to}
        self._round.times += 1

    async def _look(self) -> None:
        """Whether networks that were lost have another owner."""
        while True:
            await asyncio.sleep(LOOK_S)
            if not self._unowned:
                continue
            owners = await asyncio.to_thread(self._replicas.owners)
            for network, one in list(self._unowned.items()):
                if owners.get(network, one.owner) != one.owner:
                    self._round.owned_s.append(time.monotonic() - one.since)
                    del self._unowned[network]

    async def _send(self, number: int, network: str) -> None:
        """Reports by the clock, each to the next replica."""
        connections = [LightConnection(url) for url in self._replicas.urls]
        bodies = path_of(number, NODES)
        due = time.monotonic() + number / len(bodies)
        try:
            while True:
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                moment = next(self._clock)
                body = json.dumps({"time": moment, "nodes": bodies[moment % len(bodies)]}).encode()
                taken = await self._reported(connections[self._balancer.chosen()], network, body)
                due = max(due + 1.0 / self._plan.rate, time.monotonic()) if taken else time.monotonic() + AGAIN_S
        finally:
            for one in connections:
                one.close()

    async def _reported(self, connection: LightConnection, network: str, body: bytes) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await connection.ask("POST", f"/v1/networks/{network}/positions", body)
        except TimeoutError:
            self._round.outcomes["no answer"] += 1
            return False
        except OSError:
            self._round.outcomes["broken off"] += 1
            return False
        self._round.outcomes[str(answer.status)] += 1
        if answer.status != 200:
            return False
        if network in self._unserved and network not in self._unowned:
            self._round.acknowledged_s.append(time.monotonic() - self._unserved.pop(network).since)
        said = json.loads(answer.body)
        self._round.told.append((network, said))
        # A sender waits for each answer, so no two of its reports share a version.
        self._round.twice += (network, said["version"]) in self._told
        self._told[network, said["version"]] = said["time"]
        return True

    async def _created(self, number: int) -> str:
        body = {"name": f"Replicas {number}", "settings": {"preset": "instant"}}
        return str(json.loads((await self._asked(number, "POST", "/v1/networks", body)).body)["id"])

    async def _asked(self, number: int, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
        connection = LightConnection(self._replicas.urls[number % self._plan.replicas])
        try:
            answer = await connection.ask(method, path, b"" if body is None else json.dumps(body).encode())
        finally:
            connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body.decode()}")
        return answer


def _counted(one: Round, replicas: Replicas) -> Iterator[str]:
    """The row of a round, but for its name and what is missing."""
    kept = {network: replicas.versions_of(network) for network in {network for network, _ in one.told}}
    lost = [said for network, said in one.told if said["version"] not in kept[network]]
    changed = [
        said
        for network, said in one.told
        if (row := kept[network].get(said["version"])) is not None
        and any(row[name] != value for name, value in comparable(said))
    ]
    known = ("200", "503", "broken off", "no answer")
    yield f"{one.seconds:.0f}"
    yield f"{one.outcomes.total():,}"
    yield from (f"{one.outcomes[name]:,}" for name in known)
    yield f"{one.outcomes.total() - sum(one.outcomes[name] for name in known):,}"
    yield f"{len({(network, said['version']) for network, said in one.told}):,}"
    yield from (f"{len(found):,}" for found in (lost, changed))
    yield f"{one.twice:,}"


def _times(one: Round) -> Iterator[str]:
    yield f"{one.times}"
    yield f"{len(one.owned_s)}"
    for spent in (one.owned_s, one.acknowledged_s):
        yield from (f"{statistics.median(spent):.1f}", f"{max(spent):.1f}") if spent else ("–", "–")


def _counter(text: str, name: str) -> int:
    """Of what a replica tells Prometheus."""
    values = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(f"manetdiff_{name}")]
    return int(float(values[0])) if values else 0
