"""A service under load, over loopback: how long a report takes, what is shed, how it recovers, what viewers get.

Reports are sent by the clock, whether the service keeps up or not, and a report's time counts from when it was due.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from manetdiff.client.client import nodes_of
from manetdiff.scenarios import FAMILIES, draw, motions_of, move
from served import Served, served
from service_trials.light_http import LightConnection
from service_trials.section import Section

NODES = 16
# A report that takes longer counts as a sign that the service has not recovered yet.
SLOW_S = 0.25
HEADER = ("load", "reports", "taken", "shed (503)", "other", "median, ms", "p99, ms", "longest, ms", "memory, MB")


@dataclass(frozen=True)
class LoadPlan:
    """networks, seconds: of the usual load, each network a report a second. viewers: of it, one of whom stalls.

    - times: larger loads, for `overload` seconds each. updates: of one network, one by one.
    """

    networks: int = 20
    seconds: int = 60
    viewers: int = 200
    times: tuple[int, ...] = (4, 16)
    overload: int = 30
    updates: int = 10_000


@dataclass
class Seen:
    """What senders have seen. answers: when a report was due, seconds until its answer, and its status."""

    answers: list[tuple[float, float, int]] = field(default_factory=list)
    broken: int = 0

    def row(self, what: str, megabytes: float) -> list[str]:
        """Of the table."""
        counted = Counter(status for _, _, status in self.answers)
        others = sum(counted.values()) - counted[200] - counted[503] + self.broken
        spent = [1e3 * spent for _, spent, status in self.answers if status == 200]
        times = [f"{one:,.0f}" for one in np.percentile(spent, [50, 99, 100])] if spent else ["–"] * 3
        sent = len(self.answers) + self.broken
        return [what, *(f"{one:,}" for one in (sent, counted[200], counted[503], others)), *times, f"{megabytes:.0f}"]

    def recovered_s(self) -> float:
        """Seconds from the first report on until the last that was refused or slow."""
        first = min(due for due, _, _ in self.answers)
        bad = [due + spent - first for due, spent, status in self.answers if status != 200 or spent > SLOW_S]
        return max(bad, default=0.0)


def load_trial(plan: LoadPlan, folder: Path) -> list[Section]:
    """All of it, on a service of its own."""
    # No limit on a sender, so that what is shed is shed for want of time.
    with served(folder, "--max-networks", "5000", "--max-viewers", "2000", "--max-rate", "1000") as server:
        return asyncio.run(_tried(plan, server))


async def _tried(plan: LoadPlan, server: Served) -> list[Section]:
    process = psutil.Process(server.process.pid)

    def megabytes() -> float:
        return float(process.memory_info().rss) / 2**20

    usual = f"{plan.networks} networks of {NODES} nodes, 1 Hz, {plan.seconds} s"
    paths = [report_path(seed, max(plan.seconds, plan.overload)) for seed in range(plan.networks)]
    networks = await created(server.url, plan.networks)
    seen, events = await _loaded(server.url, networks, [path[: plan.seconds] for path in paths], plan.viewers)
    rows = [seen.row(f"{usual}, {plan.viewers} viewers, one stalled", megabytes())]
    told = f"The viewers got {events['snapshot']:,} snapshots and {events['delta']:,} deltas."
    for factor in plan.times:
        clock = 1e4 * factor  # a report of an older time would be dropped
        networks = await _renewed(server.url, networks, plan.networks * factor)
        larger = [[_at(body, clock) for body in paths[k % len(paths)][: plan.overload]] for k in range(len(networks))]
        seen, _ = await _loaded(server.url, networks, larger)
        rows.append(seen.row(f"{factor} times that, {plan.overload} s", megabytes()))
        after = [[_at(body, clock + 1e3) for body in path[: plan.overload]] for path in paths]
        seen, _ = await _loaded(server.url, networks[: plan.networks], after)
        rows.append(seen.row(f"as before again, {plan.overload} s", megabytes()))
        told += f" After {factor} times the load no report was refused or slow after {seen.recovered_s():.1f} s."
    (alone,) = await _renewed(server.url, networks, 1)
    began = time.monotonic()
    memory = []
    async for count in _updated(server.url, alone, plan.updates):
        memory.append([f"{count:,}", f"{megabytes():.1f}"])
    speed = plan.updates / (time.monotonic() - began)
    return [
        Section("Load", f"Slow: more than {1e3 * SLOW_S:.0f} ms. {told}", HEADER, rows),
        Section(
            "Memory",
            f"One network of {NODES} nodes, updated as soon as the last update is answered: {speed:.0f} a second.",
            ("updates", "memory, MB"),
            memory,
        ),
    ]


def report_path(seed: int, seconds: int) -> list[bytes]:
    """The reports of a fleet, a second apart, as they are sent."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    fleets = move(draw(family, NODES, rng), motions_of(family)[0], rng, duration=float(seconds), step=1.0)
    return [json.dumps({"time": float(k), "nodes": nodes_of(fleet)}).encode() for k, fleet in enumerate(fleets)]


def _at(body: bytes, clock: float) -> bytes:
    """The same report, so much later."""
    start, _, rest = body.partition(b",")
    return b'{"time": %f,%b' % (float(start.partition(b":")[2]) + clock, rest)


async def created(url: str, count: int) -> list[str]:
    """The ids of so many new networks."""
    connection = LightConnection(url)
    ids = []
    for number in range(count):
        answer = await connection.ask("POST", "/v1/networks", json.dumps({"name": f"Load {number}"}).encode())
        ids.append(str(json.loads(answer.body)["id"]))
    connection.close()
    return ids


async def _renewed(url: str, networks: list[str], count: int) -> list[str]:
    """So many new networks instead of those."""
    connection = LightConnection(url)
    for network in networks:
        await connection.ask("DELETE", f"/v1/networks/{network}")
    connection.close()
    return await created(url, count)


async def _loaded(
    url: str, networks: list[str], reports: list[list[bytes]], viewers: int = 0
) -> tuple[Seen, Counter[str]]:
    """All networks at once, each a report a second, evenly spread over the second; and viewers, one of whom stalls."""
    seen, events = Seen(), Counter[str]()
    watching = [asyncio.create_task(_view(url, networks[k % len(networks)], events)) for k in range(viewers - 1)]
    stalled = LightConnection(url)
    if viewers:
        await stalled.stall(f"/v1/networks/{networks[0]}/events")
        await asyncio.sleep(1.0)
    start = time.monotonic() + 0.5
    await asyncio.gather(
        *(
            _send(url, network, path, start + place / len(networks), seen)
            for place, (network, path) in enumerate(zip(networks, reports, strict=True))
        )
    )
    for viewer in watching:
        viewer.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    stalled.close()
    return seen, events


async def _send(url: str, network: str, reports: list[bytes], first: float, seen: Seen) -> None:
    """A report a second, by the clock, from a moment on."""
    connection = LightConnection(url)
    for second, body in enumerate(reports):
        due = first + second
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        try:
            answer = await connection.ask("POST", f"/v1/networks/{network}/positions", body)
        except OSError:
            seen.broken += 1
            continue
        seen.answers.append((due, time.monotonic() - due, answer.status))
    connection.close()


async def _view(url: str, network: str, events: Counter[str]) -> None:
    connection = LightConnection(url)
    try:
        async for line in connection.lines(f"/v1/networks/{network}/events"):
            if line.startswith(b"event: "):
                events[line[7:].decode()] += 1
    finally:
        connection.close()


async def _updated(url: str, network: str, count: int) -> AsyncIterator[int]:
    """So many updates of one network one after the other; says how many it has made every tenth of the way."""
    connection = LightConnection(url)
    path = report_path(0, 200)
    there_and_back = [*path, *path[-2:0:-1]]  # no jump from the end to the beginning
    for number in range(1, count + 1):
        body = there_and_back[number % len(there_and_back)]
        _, _, rest = body.partition(b",")
        answer = await connection.ask("POST", f"/v1/networks/{network}/positions", b'{"time": %d,%b' % (number, rest))
        if answer.status != 200:
            raise RuntimeError(f"update {number} was refused: {answer.body.decode()}")
        if number % max(1, count // 10) == 0:
            yield number
    connection.close()
