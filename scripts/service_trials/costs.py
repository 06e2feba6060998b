"""What a version costs a service and its database, and what a network does: figures to reckon larger services with."""

from __future__ import annotations

import asyncio
import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from served import Served, served
from service_trials.light_http import LightConnection
from service_trials.load import NODES, created, report_path
from service_trials.section import Section

HEADER = (
    "database",
    "service: ms of a core",
    "database: ms of a core",
    "written to its log, bytes",
    "kept, bytes",
    "report, bytes",
    "answer, bytes",
    "event, bytes",
    "memory of a network, kB",
)
# No limit on what one sender may send: a version is made as soon as the one before is answered.
OPTIONS = ("--max-networks", "5000", "--max-rate", "100000", "--keep-versions", "1000000")


@dataclass(frozen=True)
class CostPlan:
    """networks: that are kept and updated in turn, so many rounds."""

    networks: int = 200
    rounds: int = 20


@dataclass(frozen=True)
class Costs:
    """Of a version: core_ms of the service and of the database, bytes; memory_kb of a network. nan: not known."""

    service_core_ms: float
    database_core_ms: float
    logged: float
    kept: float
    report: float
    answer: float
    event: float
    memory_kb: float

    def row(self) -> list[str]:
        """Of the table."""
        times = f"{self.service_core_ms:.1f}", _known(self.database_core_ms, ".2f")
        sizes = self.logged, self.kept, self.report, self.answer, self.event, self.memory_kb
        return [*times, *(_known(one, ",.0f") for one in sizes)]


@dataclass
class _Spent:
    """By now. core_s: of the service's and the database's processes. logged, kept: bytes of log and of tables."""

    service_core_s: float
    database_core_s: float
    logged: float
    kept: float


def cost_trial(plan: CostPlan, folder: Path, databases: dict[str, AbstractContextManager[str]]) -> list[Section]:
    """On each database. databases: what gives an empty one's address, by what people call it."""
    costs = {}
    for name, opened in databases.items():
        place = folder / name
        place.mkdir()
        with opened as address, served(place, *OPTIONS, database=address) as server:
            costs[name] = asyncio.run(_costs(plan, server))
    about = (
        f"{plan.networks} networks of {NODES} nodes in flight, updated in turn, {plan.rounds:,} times each, with a "
        "viewer each; of one version, but for the last column. *Log*: ahead of PostgreSQL's tables (WAL); SQLite's is "
        "written over again and again. *Kept*: growth of tables and indices. *Memory*: growth of the service from no "
        "network to all of them, each with a version. *Event*: what a viewer is sent."
    )
    table = Section("What a version costs", about, HEADER, [[name, *one.row()] for name, one in costs.items()])
    return [table, *(needs(one) for name, one in costs.items() if name == "PostgreSQL")]


def needs(costs: Costs, networks: int = 100_000) -> Section:
    """What so many networks would need, each with a report a second and a viewer."""
    day = 86_400
    rows = [
        ("busy cores of services", f"{networks * costs.service_core_ms / 1e3:,.0f}"),
        ("memory of networks, GB", f"{networks * costs.memory_kb / 1e6:,.1f}"),
        ("busy cores of databases", f"{networks * costs.database_core_ms / 1e3:,.0f}"),
        ("versions a second, each a commit where few share a service", f"{networks:,}"),
        ("databases' logs, MB/s", f"{networks * costs.logged / 1e6:,.0f}"),
        ("databases' growth where nothing is pruned, TB a day", f"{networks * costs.kept * day / 1e12:,.1f}"),
        ("databases with the latest 10,000 versions of each, TB", f"{networks * costs.kept * 1e4 / 1e12:,.1f}"),
        ("databases with the latest 100 versions of each, GB", f"{networks * costs.kept * 1e2 / 1e9:,.0f}"),
        ("reports in, Gbit/s", f"{8 * networks * costs.report / 1e9:.1f}"),
        ("answers out, Gbit/s", f"{8 * networks * costs.answer / 1e9:.1f}"),
        ("events out, Gbit/s", f"{8 * networks * costs.event / 1e9:.1f}"),
    ]
    about = (
        f"Reckoned from PostgreSQL's row above, not tried: {networks:,} networks, each a report a second and a viewer."
    )
    return Section(f"{networks:,} networks", about, ("what", "needed"), rows)


def _known(value: float, how: str) -> str:
    return "–" if math.isnan(value) else format(value, how)


async def _costs(plan: CostPlan, server: Served) -> Costs:
    process = psutil.Process(server.process.pid)
    paths = [report_path(seed, plan.rounds + 1) for seed in range(plan.networks)]
    connection = LightConnection(server.url)
    empty = process.memory_info().rss
    networks = await created(server.url, plan.networks)

    async def told(round_: int) -> int:
        """Bytes of the answers."""
        size = 0
        for network, path in zip(networks, paths, strict=True):
            answer = await connection.ask("POST", f"/v1/networks/{network}/positions", path[round_])
            if answer.status != 200:
                raise RuntimeError(f"a report was refused: {answer.body.decode()}")
            size += len(answer.body)
        return size

    await told(0)
    each_kb = (process.memory_info().rss - empty) / plan.networks / 1e3
    events = [0]
    viewers = [asyncio.create_task(_viewed(server.url, network, events)) for network in networks]
    await asyncio.sleep(2.0)
    events[0] = 0  # snapshots are sent once
    before = _spent(server, process)
    answered = 0
    for round_ in range(1, plan.rounds + 1):
        answered += await told(round_)
    await asyncio.sleep(1.0)  # what is written behind
    after = _spent(server, process)
    for viewer in viewers:
        viewer.cancel()
    await asyncio.gather(*viewers, return_exceptions=True)
    connection.close()
    versions = plan.networks * plan.rounds
    reported = sum(len(one) for path in paths for one in path[1 : plan.rounds + 1])
    return Costs(
        1e3 * (after.service_core_s - before.service_core_s) / versions,
        1e3 * (after.database_core_s - before.database_core_s) / versions,
        (after.logged - before.logged) / versions,
        (after.kept - before.kept) / versions,
        reported / versions,
        answered / versions,
        events[0] / versions,
        each_kb,
    )


def _spent(server: Served, process: psutil.Process) -> _Spent:
    cpu = process.cpu_times()
    core_s = cpu.user + cpu.system
    if not server.database.startswith("postgresql"):
        file = Path(server.database.removeprefix("sqlite:///"))
        files = [one for one in file.parent.glob(f"{file.name}*") if not one.name.endswith("-shm")]
        return _Spent(core_s, math.nan, math.nan, sum(one.stat().st_size for one in files))
    with psycopg.connect(server.database, autocommit=True) as asked:
        asked.execute("checkpoint")
        row = asked.execute("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), pg_database_size(current_database())")
        written, kept = row.fetchone() or (0, 0)
        (pid,) = asked.execute("select pg_backend_pid()").fetchone() or (0,)
    return _Spent(core_s, _family_core_s(psutil.Process(int(pid)).parent()), float(written), float(kept))


def _family_core_s(first: psutil.Process | None) -> float:
    """Of a process and those that it has started, with those that are gone."""
    if first is None:
        return 0.0
    own = first.cpu_times()
    ended = own.children_user + own.children_system
    each = [one.cpu_times() for one in (first, *first.children(recursive=True))]
    return float(ended + sum(one.user + one.system for one in each))


async def _viewed(url: str, network: str, size: list[int]) -> None:
    connection = LightConnection(url)
    try:
        async for line in connection.lines(f"/v1/networks/{network}/events"):
            size[0] += len(line) + 1
    finally:
        connection.close()
