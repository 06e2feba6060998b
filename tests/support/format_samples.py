"""A file of each format that is read: what tests of all formats begin with."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from manetdiff import Fleet, Topology
from manetdiff.errors import FormatError
from manetdiff.formats.files import Source
from manetdiff.formats.graph_libraries import to_networkx
from manetdiff.formats.netjson import network_graph

FLEET = Fleet.from_geodetic([48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [90.0, 10.0, 200.0], ["a", "b", "c"])
TOPOLOGY = Topology([(0, 1), (1, 2)], [0, 1, 0])

NS2 = "# made by hand, for tests\n" + "".join(
    f"$node_({node}) set X_ {node}.5\n$node_({node}) set Y_ 20.5\n$node_({node}) set Z_ 0.0\n"
    f'$ns_ at {node}.25 "$node_({node}) setdest 40.5 2{node}.5 5.5"\n'
    f'$ns_ at 9.5 "$node_({node}) set X_ {node}.5"\n'
    for node in range(4)
)
BONNMOTION = "".join(f"0.0 {node}.5 1.5 10.5 40.5 {node}.5 20.5 1.5 1.5\n" for node in range(4))
SPACE = "#3D\n" + "".join(f"0.0 {node}.5 1.5 100.5 20.5 40.5 {node}.5 100.5\n" for node in range(4))
TABLE = "time, id, x, y, yaw\n" + "".join(f"{t}.5,n{node},{node}.5,{t}.5,0.5\n" for t in range(4) for node in range(3))
DEGREES = "time,id,lat,lon,heading\n" + "".join(
    f"{t}.5,n{node},48.{node},11.{t},90.5\n" for t in range(4) for node in range(3)
)
ADSB = "timestamp, icao24, latitude, longitude, altitude, groundspeed, track\n" + "".join(
    f"2026-01-31 12:00:0{t},abc{node},48.{node},11.{t},9000,450,90.5\n" for t in range(4) for node in range(3)
)
FLEET_JSON = {"nodes": [{"id": f"n{node}", "x": node, "y": node**2, "yaw": 0.5} for node in range(4)]}
FLEET_CSV = "id,x,y,yaw\n" + "".join(f"n{node},48.{node},11.5,0.5\n" for node in range(4))


def graphml() -> bytes:
    networkx: Any = pytest.importorskip("networkx")
    return "\n".join(networkx.generate_graphml(to_networkx(TOPOLOGY, FLEET))).encode()


def parquet(compression: str = "snappy") -> bytes:
    names, *rows = ([cell.strip() for cell in line.split(",")] for line in ADSB.splitlines())
    buffer = io.BytesIO()
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), buffer, compression=compression)
    return buffer.getvalue()


class Sample(NamedTuple):
    """A file. title: of its format. suffix: of its usual name. whole: whether any part of it alone is refused."""

    title: str
    suffix: str
    data: Callable[[], bytes]
    whole: bool = False

    @property
    def is_text(self) -> bool:
        return not self.suffix.endswith((".parquet", ".gz"))


SAMPLES = {
    "netjson": Sample("NetJSON", ".json", lambda: json.dumps(network_graph(TOPOLOGY, FLEET)).encode(), True),
    "graphml": Sample("GraphML", ".graphml", graphml, True),
    "fleet": Sample("Fleet, JSON", ".json", lambda: json.dumps(FLEET_JSON).encode(), True),
    "fleet csv": Sample("Fleet, CSV", ".csv", FLEET_CSV.encode),
    "ns2": Sample("ns-2", ".tcl", NS2.encode),
    "bonnmotion": Sample("BonnMotion", ".movements", BONNMOTION.encode),
    "bonnmotion 3D": Sample("BonnMotion", ".movements", SPACE.encode),
    "bonnmotion packed": Sample(
        "BonnMotion", ".movements.gz", lambda: gzip.compress(BONNMOTION.encode(), mtime=0), True
    ),
    "adsb parquet": Sample("ADS-B, Parquet", ".parquet", parquet, True),
    "adsb": Sample("ADS-B, CSV", ".csv", ADSB.encode),
    "table": Sample("Plain table", ".csv", TABLE.encode),
    "table in degrees": Sample("Plain table", ".csv", DEGREES.encode),
}


def refusal(read: Callable[[Source], object], name: str, content: str) -> str:
    """The one line that a reader says about a file, which begins with the file's name."""
    with pytest.raises(FormatError) as caught:
        read(Source(name, content.encode()))
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{name}: ")
