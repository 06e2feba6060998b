"""Several services on one PostgreSQL, as processes, and what the database says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from served import Served

OPTIONS = ("--keep-versions", "1000000", "--max-rate", "1000", "--workers", "1")


class Replicas:
    """Those that run, each at an address of its own that it keeps."""

    def __init__(self, count: int, folder: Path, database: str) -> None:
        self.database, self._folder = database, folder
        self.running: list[Served] = []
        try:
            for number in range(count):
                (folder / str(number)).mkdir()
                self.running.append(self._started(number, 0))
        except BaseException:
            self.kill()
            raise
        self.urls = [one.url for one in self.running]

    def again(self, number: int) -> None:
        """Start one that was killed, where it was."""
        self.running[number] = self._started(number, self.running[number].port)

    def kill(self) -> None:
        """All of them."""
        for one in self.running:
            one.kill()

    def networks_of(self, number: int) -> dict[str, str]:
        """That it runs, as the database says, with the name that it has there."""
        asked = "select n.id, n.owner from networks n join replicas r on n.owner = r.id where r.address = %s"
        with psycopg.connect(self.database) as connection:
            return dict(connection.execute(asked, [self.urls[number]]).fetchall())

    def owners(self) -> dict[str, str]:
        """Of all networks that somebody runs."""
        with psycopg.connect(self.database) as connection:
            return dict(connection.execute("select id, owner from networks where owner is not null").fetchall())

    def versions_of(self, network: str) -> dict[int, dict[str, Any]]:
        """What the database has of them, by number."""
        asked = "select version, time, added, dropped, throughput, links from versions where network = %s"
        with psycopg.connect(self.database, row_factory=dict_row) as connection:
            return {row["version"]: row for row in connection.execute(asked, [network])}

    def numbers(self) -> list[tuple[int, int]]:
        """Of each network, how many versions it has and the number of the latest."""
        with psycopg.connect(self.database) as connection:
            rows = connection.execute("select count(*), max(version) from versions group by network").fetchall()
        return [(int(count), int(latest)) for count, latest in rows]

    def _started(self, number: int, port: int) -> Served:
        return Served(self._folder / str(number), *OPTIONS, database=self.database, port=port)
