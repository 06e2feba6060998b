"""A service killed again and again under load: nothing that it has acknowledged may be lost or changed."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from manetdiff.client.client import nodes_of
from manetdiff.scenarios import draw, move
from served import Served
from service_trials.light_http import LightConnection
from service_trials.section import Section

NODES, NETWORKS = 8, 6
LONGEST_S = 0.6  # of a life under load, from the first report that is taken
OPTIONS = ("--keep-versions", "1000000", "--max-rate", "1000")
HEADER = ("database", "kills", "acknowledged", "lost", "changed", "settings lost", "longest start, s")


@dataclass
class Acknowledged:
    """What a network's senders were told. answers: by version, the answer to the report that it came of.

    - topologies: digests of the documents that were read, by version. name: the last one that was acknowledged.
    """

    answers: dict[int, dict[str, object]] = field(default_factory=dict)
    topologies: dict[int, str] = field(default_factory=dict)
    name: str = ""


@dataclass
class Damage:
    """What was not as it had been acknowledged."""

    lost: int = 0
    changed: int = 0
    settings: int = 0


def kill_trial(kills: int, folder: Path, databases: dict[str, AbstractContextManager[str]]) -> list[Section]:
    """So many kills on each database. databases: what gives an empty one's address, by what people call it."""
    rows = []
    for name, opened in databases.items():
        place = folder / name
        place.mkdir()
        with opened as address:
            rows.append([name, *asyncio.run(_killed(kills, place, address))])
    about = (
        f"{NETWORKS} networks of {NODES} nodes, reported to without a pause and renamed, the service killed (SIGKILL) "
        f"within {LONGEST_S:g} s and started again. After each start the last versions, and at the end "
        "every version that was ever acknowledged, are compared with what senders were told: version, time, links, T; "
        "and, for one in four, the whole NetJSON document."
    )
    return [Section("Killed", about, HEADER, rows)]


@contextmanager
def sqlite(folder: Path) -> Iterator[str]:
    """A database in a file."""
    yield f"sqlite:///{folder / 'killed.db'}"


async def _killed(kills: int, folder: Path, database: str) -> list[str]:
    rng = random.Random(0)
    bodies = [path_of(seed, NODES) for seed in range(NETWORKS)]
    clock = itertools.count(1)  # goes on over all lives: the newest positions win
    told: dict[str, Acknowledged] = {}
    damage = Damage()
    starts = []
    for life in range(kills + 1):
        began = time.monotonic()
        server = Served(folder, *OPTIONS, database=database)
        starts.append(time.monotonic() - began)
        last = life == kills
        if told:
            await _check(server.url, told, damage, all_versions=last)
        else:
            told |= {network: Acknowledged() for network in await _created(server.url)}
        if last:
            server.stop()
            break
        senders = [
            asyncio.create_task(_report(server.url, network, body, clock, told[network]))
            for network, body in zip(told, bodies, strict=True)
        ]
        await asyncio.sleep(rng.uniform(0.02, LONGEST_S))
        await asyncio.to_thread(server.kill)
        await asyncio.gather(*senders)
    acknowledged = sum(len(one.answers) for one in told.values())
    if not acknowledged:
        raise RuntimeError(f"nothing was acknowledged, so nothing was tried: {server.log.read_text()}")
    counted = (kills, acknowledged, damage.lost, damage.changed, damage.settings)
    return [*(f"{one:,}" for one in counted), f"{max(starts):.1f}"]


async def _created(url: str) -> list[str]:
    connection = LightConnection(url)
    ids = []
    for number in range(NETWORKS):
        body = json.dumps({"name": f"Killed {number}", "settings": {"preset": "instant"}}).encode()
        ids.append(str(json.loads((await connection.ask("POST", "/v1/networks", body)).body)["id"]))
    connection.close()
    return ids


async def _report(
    url: str, network: str, bodies: list[list[dict[str, object]]], clock: Iterator[int], told: Acknowledged
) -> None:
    """Report, rename and read until the service is gone; what is acknowledged is noted, what is not is not."""
    connection = LightConnection(url)
    path = f"/v1/networks/{network}"
    try:
        for number in itertools.count():
            moment = next(clock)
            body = json.dumps({"time": moment, "nodes": bodies[moment % len(bodies)]}).encode()
            answer = await connection.ask("POST", f"{path}/positions", body)
            if answer.status != 200:
                continue
            said = json.loads(answer.body)
            told.answers[said["version"]] = said
            if number % 4 == 0:
                told.topologies[said["version"]] = await _digest(connection, path, said["version"])
            if number % 5 == 0:
                name = f"Renamed {moment}"
                told.name = ""  # it may be either name until the new one is acknowledged
                if (await connection.ask("PATCH", path, json.dumps({"name": name}).encode())).status == 200:
                    told.name = name
    except OSError:
        connection.close()


async def _check(url: str, told: dict[str, Acknowledged], damage: Damage, *, all_versions: bool) -> None:
    connection = LightConnection(url)
    for network, one in told.items():
        path = f"/v1/networks/{network}"
        found = await connection.ask("GET", path)
        if found.status != 200:
            damage.lost += len(one.answers)
            continue
        damage.settings += bool(one.name) and json.loads(found.body)["name"] != one.name
        kept = await _history(connection, path, all_versions)
        oldest = min(kept, default=0)
        for version, said in one.answers.items():
            if version < oldest and not all_versions:
                continue
            if version not in kept:
                damage.lost += 1
            elif any(kept[version][name] != value for name, value in comparable(said)):
                damage.changed += 1
        for version, digest in one.topologies.items():
            if version in kept and (all_versions or version == max(one.topologies)):
                damage.changed += await _digest(connection, path, version) != digest
    connection.close()


def comparable(said: dict[str, object]) -> Iterator[tuple[str, object]]:
    """What an answer and a row of the history both say."""
    metrics = said["metrics"]
    assert isinstance(metrics, dict)
    yield from ((name, said[name]) for name in ("version", "time", "added", "dropped"))
    yield "throughput", metrics["throughput"]
    yield "links", metrics["links"]


async def _history(connection: LightConnection, path: str, whole: bool) -> dict[int, dict[str, object]]:
    """The rows of the history by version: all, or the last ones."""
    rows: dict[int, dict[str, object]] = {}
    before = ""
    while True:
        answer = await connection.ask("GET", f"{path}/history?limit=1000{before}")
        page = json.loads(answer.body)["versions"]
        rows |= {row["version"]: row for row in page}
        if not page or not whole:
            return rows
        before = f"&before={page[-1]['version']}"


async def _digest(connection: LightConnection, path: str, version: int) -> str:
    answer = await connection.ask("GET", f"{path}/topology?version={version}")
    return hashlib.sha256(answer.body).hexdigest() if answer.status == 200 else f"answered {answer.status}"


def path_of(seed: int, nodes: int) -> list[list[dict[str, object]]]:
    """Where the nodes of a fleet are, moment by moment, and back again."""
    rng = np.random.default_rng(seed)
    fleets = move(draw("wedge", nodes, rng), "gauss-markov", rng, duration=100.0, step=1.0)
    return [nodes_of(fleet) for fleet in [*fleets, *fleets[-2:0:-1]]]
