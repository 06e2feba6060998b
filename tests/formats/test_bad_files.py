"""Whatever stands in a file: a reader reads it, or one line that begins with the file's name says what is wrong."""

from __future__ import annotations

import gzip
import io
import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Topology
from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats import read_fleet, read_topology, read_tracks
from manetdiff.formats.adsb import read_adsb
from manetdiff.formats.bonnmotion import read_bonnmotion
from manetdiff.formats.conversion import read_contents
from manetdiff.formats.graph_libraries import to_networkx
from manetdiff.formats.graphml import read_graphml
from manetdiff.formats.netjson import network_graph
from manetdiff.formats.ns2 import read_ns2
from manetdiff.formats.track_table import read_track_table

FLEET = Fleet([(0, 0), (100, 0), (0, 120)], [0.5, -1.0, 3.0], ["A1", "A7", "B"])
TOPOLOGY = Topology([(0, 1), (0, 2)], [0, 1, 1])
LONGEST_MESSAGE = 300

NS2 = "".join(
    f"$node_({node}) set X_ {node}.5\n$node_({node}) set Y_ 20.5\n$node_({node}) set Z_ 0.0\n"
    f'$ns_ at {node}.25 "$node_({node}) setdest 40.5 25.5 5.5"\n'
    f'$ns_ at 9.5 "$node_({node}) set X_ {node}.5"\n'
    for node in range(4)
)
BONN = "".join(f"0.0 {node}.5 1.5 10.5 40.5 {node}.5 20.5 1.5 1.5\n" for node in range(4))
SPACE = "#3D\n" + "".join(f"0.0 {node}.5 1.5 100.5 20.5 40.5 {node}.5 100.5\n" for node in range(4))
TABLE = "time,id,x,y,yaw\n" + "".join(f"{t}.5,n{node},{node}.5,{t}.5,0.5\n" for t in range(4) for node in range(3))
DEGREES = "time,id,lat,lon,heading\n" + "".join(
    f"{t}.5,n{node},48.{node},11.{t},90.5\n" for t in range(4) for node in range(3)
)
ADSB = "timestamp,icao24,latitude,longitude,altitude,groundspeed,track\n" + "".join(
    f"2026-01-31 12:00:0{t},abc{node},48.{node},11.{t},9000,450,90.5\n" for t in range(4) for node in range(3)
)
FLEET_JSON = json.dumps({"nodes": [{"id": f"n{node}", "x": node, "y": node**2, "yaw": 0.5} for node in range(4)]})
FLEET_CSV = "id,lat,lon,heading\n" + "".join(f"n{node},48.{node},11.5,90.5\n" for node in range(4))
NETJSON = json.dumps(network_graph(TOPOLOGY, FLEET), indent=1)


def graphml() -> str:
    networkx: Any = pytest.importorskip("networkx")
    return "\n".join(networkx.generate_graphml(to_networkx(TOPOLOGY, FLEET)))


def parquet_bytes(compression: str = "snappy") -> bytes:
    names, *rows = (line.split(",") for line in ADSB.splitlines())
    buffer = io.BytesIO()
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), buffer, compression=compression)
    return buffer.getvalue()


@dataclass(frozen=True)
class Reader:
    """A reader, the suffix of its files, and a file that it reads. swap: a change that must be refused, and why."""

    read: Callable[[Path], object]
    suffix: str
    valid: Callable[[], bytes]
    swaps: tuple[tuple[str, str, str], ...] = ()


def text(content: str) -> Callable[[], bytes]:
    return lambda: content.encode()


READERS = {
    "ns2": Reader(
        read_ns2,
        ".tcl",
        text(NS2),
        (
            ("set X_ 0.5", "set X_ 0.5m", "line 1: X_ is not a finite number"),
            ("$node_(1)", "$node_(A1)", "line 6: "),
            ("setdest 40.5 25.5 5.5", "setdest 40.5 25.5 30.0 5.5", "line 4: a setdest with a third coordinate"),
        ),
    ),
    "bonnmotion": Reader(
        read_bonnmotion,
        ".movements",
        text(BONN),
        (("0.0 1.5 1.5", "0.0 1.5 1.5 100.0", "line 2: has 10 numbers"), ("0.0 0.5", "12:00 0.5", "line 1: number 1")),
    ),
    "bonnmotion in space": Reader(
        read_bonnmotion, ".movements", text(SPACE), (("#3D\n", "", "line 1: has 8 numbers"),)
    ),
    "packed bonnmotion": Reader(read_bonnmotion, ".movements.gz", lambda: gzip.compress(BONN.encode(), mtime=0)),
    "table": Reader(
        read_track_table,
        ".csv",
        text(TABLE),
        (
            ("time,id,x,y,yaw", "time,id,lat,lon,yaw", "the column yaw does not go with lat, lon"),
            ("time,id", "t,id", "the first line must name the columns"),
            ("1.5,n0,0.5", "1.5,n0,0.5 m", "row 4: field 'x' is not a number"),
            ("time,id,x", "time;id;x", "the first line must name the columns"),
        ),
    ),
    "table in degrees": Reader(
        read_track_table,
        ".csv",
        text(DEGREES),
        (
            ("0.5,n1,48.1", "0.5,n1,5332841.2", "row 2: field 'lat' is outside"),
            ("0.5,n1,", "0.5,,", "row 2: field 'id'"),
        ),
    ),
    "adsb": Reader(
        read_adsb,
        ".csv",
        text(ADSB),
        (
            ("latitude", "lat", "latitude is missing"),
            ("abc1,48.1", "abc1,481", "row 2: field 'latitude' is outside"),
            ("2026-01-31 12:00:00", "1769860800000", "row 1: field 'timestamp' is beyond the year 9999"),
            ("abc0", "", "row 1: field 'icao24' is missing"),
        ),
    ),
    "parquet": Reader(read_adsb, ".parquet", parquet_bytes, ()),
    "fleet": Reader(
        read_fleet,
        ".json",
        text(FLEET_JSON),
        (
            ('"n1"', '"n0"', "stands twice"),
            ('"n1"', "1.5", "field 'id' must be text"),
            ('"yaw"', '"heading"', "stands"),
        ),
    ),
    "fleet csv": Reader(
        read_fleet, ".csv", text(FLEET_CSV), (("n1", "n0", "stands twice"), ("48.1", "481", "outside"))
    ),
    "netjson": Reader(read_topology, ".json", text(NETJSON), (('"A7"', '"A1"', "stands twice"),)),
    "graphml": Reader(
        read_graphml,
        ".graphml",
        lambda: graphml().encode(),
        (('node id="A7"', 'node id="C"', ""), ('edgedefault="undirected"', 'edgedefault="directed"', "undirected")),
    ),
    "any tracks": Reader(read_tracks, "", text(TABLE), (("time,id,x,y", "when,who,x,y", "is no mobility file"),)),
    "anything": Reader(read_contents, "", text(NETJSON)),
}
WITH_TEXT = [name for name in READERS if name not in ("parquet", "packed bonnmotion")]


def outcome(reader: Reader, path: Path) -> str | None:
    """What the reader says is wrong, after the file's name; None where it reads the file. Any other error fails."""
    try:
        held = reader.read(path)
    except FormatError as error:
        message = str(error)
        shown = str(path) if str(path).isprintable() else repr(str(path))
        assert message.startswith(f"{shown}: "), message
        assert message.splitlines() == [message], message
        assert len(message) < len(shown) + LONGEST_MESSAGE, message
        return message.removeprefix(f"{shown}: ")
    if isinstance(held, Tracks):
        # What was read can be used, or says why not.
        with suppress(FleetError):
            held.at((held.start + held.end) / 2)
        with suppress(FleetError):
            held.moments(1.0)
    return None


def refused(reader: Reader, path: Path) -> str:
    problem = outcome(reader, path)
    assert problem, f"{path} was read"
    return problem


@pytest.fixture(params=list(READERS))
def reader(request: pytest.FixtureRequest) -> Reader:
    return READERS[request.param]


def test_the_valid_files_are_valid(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / f"valid{reader.suffix}"
    path.write_bytes(reader.valid())
    assert outcome(reader, path) is None


def test_a_file_that_breaks_off_anywhere_is_read_in_part_or_refused_in_one_line(reader: Reader, tmp_path: Path) -> None:
    valid = reader.valid()
    path = tmp_path / f"broken{reader.suffix}"
    for tenth in range(10):
        path.write_bytes(valid[: len(valid) * tenth // 10])
        problem = outcome(reader, path)
        if reader.suffix in (".json", ".graphml", ".parquet", ".movements.gz") or tenth == 0:
            assert problem, f"{tenth} tenths were read"


@pytest.mark.parametrize(
    ("name", "swap"),
    [(name, swap) for name, one in READERS.items() for swap in one.swaps],
    ids=lambda value: str(value)[:50],
)
def test_wrong_units_columns_and_ids_are_named(tmp_path: Path, name: str, swap: tuple[str, str, str]) -> None:
    old, new, problem = swap
    one = READERS[name]
    content = one.valid().decode()
    assert old in content
    path = tmp_path / f"changed{one.suffix}"
    path.write_text(content.replace(old, new, 1))
    assert problem in refused(one, path)


EMPTY = {"empty": b"", "spaces": b" \n\t\r\n ", "a mark alone": b"\xef\xbb\xbf", "packed nothing": gzip.compress(b"")}


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
def test_an_empty_file_is_called_so(reader: Reader, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / f"empty{reader.suffix}"
    path.write_bytes(content)
    problem = refused(reader, path)
    assert problem == "is empty" or (reader.suffix == ".parquet" and "is not a Parquet file" in problem)


JUNK = {
    "every byte": bytes(range(256)),
    "random": b"\x93\xfe\x07\xd1" * 500,
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "zero bytes": bytes(1000),
    "UTF-16": "time,id,x,y\n".encode("utf-16"),
    "gzip in name only": b"\x1f\x8b\x08" + b"junk" * 50,
    "packed junk": gzip.compress(bytes(range(256))),
    "Parquet in name only": b"PAR1" + b"\xff" * 100 + b"PAR1",
    "Parquet of nothing": b"PAR1\0\0\0\0PAR1",
}


@pytest.mark.parametrize("content", JUNK.values(), ids=JUNK)
def test_binary_junk_is_refused(reader: Reader, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / f"junk{reader.suffix}"
    path.write_bytes(content)
    assert any(word in refused(reader, path) for word in ("is not a text file", "gzip file", "is not a Parquet file"))


@pytest.mark.parametrize("name", WITH_TEXT)
def test_a_zero_byte_in_a_valid_file_is_refused(tmp_path: Path, name: str) -> None:
    content = READERS[name].valid()
    path = tmp_path / f"zero{READERS[name].suffix}"
    for place in (0, len(content) // 2, len(content)):
        path.write_bytes(content[:place] + b"\0" + content[place:])
        assert refused(READERS[name], path) == "is not a text file (it holds zero bytes)"


def test_a_folder_and_a_missing_file_are_called_so(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / f"folder{reader.suffix}"
    folder.mkdir()
    assert refused(reader, folder) == "is a folder, not a file"
    assert refused(reader, tmp_path / f"nowhere{reader.suffix}") == "there is no such file"
    assert refused(reader, folder / f"nowhere{reader.suffix}") == "there is no such file"
    assert refused(reader, tmp_path / f"two\nlines{reader.suffix}") == "there is no such file"
    assert refused(reader, tmp_path / f"zero\0byte{reader.suffix}").startswith("cannot be read: ")
    assert refused(reader, tmp_path / ("x" * 300 + reader.suffix)).startswith("cannot be read: ")


def refused_quickly(reader: Reader, path: Path) -> str:
    began = time.perf_counter()
    problem = refused(reader, path)
    assert time.perf_counter() - began < 2
    return problem


def test_a_file_of_100_mb_is_refused_at_once(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / f"large{reader.suffix}"
    with path.open("wb") as file:
        file.write(reader.valid())
        file.truncate(100_000_000)
    assert refused_quickly(reader, path) == "is larger than 50 MB, which no fleet needs"


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """200 MB of lines in as many kilobytes."""
    return gzip.compress(b"0 0 0 1 1 1\n" * 1_000_000, 1) * 17


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_at_once(
    reader: Reader, tmp_path: Path, bomb: bytes
) -> None:
    path = tmp_path / f"bomb{reader.suffix}"
    path.write_bytes(bomb)
    problem = refused_quickly(reader, path)
    assert problem == "is larger than 50 MB, which no fleet needs" or reader.suffix == ".parquet"


def test_a_small_parquet_file_of_millions_of_rows_is_refused_at_once(tmp_path: Path) -> None:
    rows = 3_000_000
    table = pa.table({name: pa.nulls(rows, pa.float32()) for name in ADSB.split("\n", 1)[0].split(",")})
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    assert refused_quickly(READERS["parquet"], tmp_path / "bomb.parquet").startswith("holds 3,000,000 rows, more than")


def test_no_more_is_unpacked_than_is_needed_to_refuse(tmp_path: Path, bomb: bytes) -> None:
    path = tmp_path / "bomb.movements.gz"
    path.write_bytes(bomb)
    tracemalloc.start()
    try:
        refused(READERS["packed bonnmotion"], path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 150_000_000


def test_parquet_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    names = ADSB.split("\n", 1)[0].split(",")
    table = pa.table({name: pa.array([b"\xff\xfe", b"\xff"]).view(pa.string()) for name in names})
    pq.write_table(table, tmp_path / "text.parquet")
    assert "is not a Parquet file that can be read: 'utf-8' codec" in refused(
        READERS["parquet"], tmp_path / "text.parquet"
    )


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_a_damaged_parquet_file_is_read_or_refused_in_one_line(tmp_path: Path, compression: str) -> None:
    valid = bytearray(parquet_bytes(compression))
    path = tmp_path / "damaged.parquet"
    for place in range(0, len(valid), 7):
        damaged = bytearray(valid)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        outcome(READERS["parquet"], path)


# Pieces of all formats, so that what is put together by chance comes near to being valid.
VOCABULARY = """
    $node_(0) $node_(1) $node_(x) $ns_ at set setdest X_ Y_ Z_ "$node_(0) # #3D ; "
    0 1.5 -1 1e308 1e-308 -1e308 nan inf 1_0 é ,
    time,id,x,y time,id,lat,lon,heading id,x,y,yaw timestamp,icao24,latitude,longitude,track
    0,a,0,0 1,b,1e308,-1e308 0,a,1,2,3 2026-01-01,a,1,2, a,90,360,0 b,-90,180,1
    { } [ ] "nodes": "type": "NetworkGraph" <graphml> </graphml> <graph> </graph> <node/> <edge/> <key/> <data/>
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\u2028", "\x0b", "\x1c"])
LINES = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", ",", "\r\n", ""])), max_size=40).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


@settings(max_examples=120)
@given(content=st.text(max_size=200) | LINES)
@pytest.mark.parametrize("name", WITH_TEXT)
def test_any_text_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"fuzz{READERS[name].suffix}"
    path.write_text(content, encoding="utf-8", newline="")
    outcome(READERS[name], path)


@st.composite
def damaged(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file with a piece cut out, doubled or written over."""
    start = draw(st.integers(0, len(valid)))
    end = draw(st.integers(start, min(len(valid), start + 40)))
    insert = draw(
        st.binary(max_size=12) | st.sampled_from([valid[start:end] * 2, b"nan", b"1e999", b"-1", b",,", b"\n"])
    )
    return valid[:start] + insert + valid[end:]


@settings(max_examples=100)
@given(data=st.data())
@pytest.mark.parametrize("name", list(READERS))
def test_any_bytes_and_any_damage_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damage{READERS[name].suffix}"
    path.write_bytes(data.draw(st.binary(max_size=200) | damaged(READERS[name].valid())))
    outcome(READERS[name], path)
