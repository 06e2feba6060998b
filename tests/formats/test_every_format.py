"""What holds for every format: what is written is read back, and whatever else stands in a file is one clear line."""

from __future__ import annotations

import gzip
import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats import files, read_tracks, write_track_table
from manetdiff.formats.conversion import Contents, Order, read_contents, write_contents
from manetdiff.formats.registry import FORMATS, READ, WRITTEN, markdown_table
from manetdiff.messages import escaped
from support.format_samples import SAMPLES, TABLE, parquet
from support.strategies import assert_same, assert_same_on_earth, placed_fleets, topologies

pytestmark = pytest.mark.filterwarnings("ignore:.*(columns that are not used|counts as away):UserWarning")

LONGEST_MESSAGE = 300
TOO_LARGE = "is larger than 50 MB, which no fleet needs"
BY_TITLE = {one.title: one for one in FORMATS}


def test_every_format_has_a_sample_and_its_row_and_section_in_the_documentation() -> None:
    assert {one.title for one in SAMPLES.values()} == {one.title for one in READ}
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert f"\n\n{markdown_table()}\n" in page
    for one in FORMATS:
        assert f"\n## {one.title.split(',')[0]}\n" in page


# Reading: under the format's own name, or with nothing to go by but how the file begins.


def read(sample: str, path: Path) -> object:
    if sample == "anything":
        return read_contents(path)
    if sample == "any tracks":
        return read_tracks(path)
    return read_contents(path, BY_TITLE[SAMPLES[sample].title].name)


UNNAMED = {"anything": SAMPLES["netjson"]._replace(suffix=""), "any tracks": SAMPLES["table"]._replace(suffix="")}
ALL = {**SAMPLES, **UNNAMED}


def outcome(sample: str, path: Path) -> str | None:
    """What the reader says is wrong, after the file's name; None where it reads the file. Any other error fails."""
    try:
        held = read(sample, path)
    except FormatError as error:
        message = str(error)
        shown = escaped(str(path))
        assert message.startswith(f"{shown}: "), message
        assert message.splitlines() == [message], message
        assert len(message) < len(shown) + LONGEST_MESSAGE, message
        return message.removeprefix(f"{shown}: ")
    tracks = held.tracks if isinstance(held, Contents) else held
    if isinstance(tracks, Tracks):
        # What was read can be used, or says why not.
        with suppress(FleetError):
            tracks.at((tracks.start + tracks.end) / 2)
        with suppress(FleetError):
            tracks.moments(1.0)
    return None


def refused(sample: str, path: Path) -> str:
    problem = outcome(sample, path)
    assert problem, f"{path} was read"
    return problem


every_sample = pytest.mark.parametrize("sample", ALL)


@every_sample
def test_a_file_that_breaks_off_anywhere_is_read_in_part_or_refused_in_one_line(tmp_path: Path, sample: str) -> None:
    valid = ALL[sample].data()
    path = tmp_path / f"broken{ALL[sample].suffix}"
    for tenth in range(11):
        path.write_bytes(valid[: len(valid) * tenth // 10])
        problem = outcome(sample, path)
        if tenth == 10:
            assert problem is None
        elif ALL[sample].whole or tenth == 0:
            assert problem, f"{tenth} tenths were read"


EMPTY = {"empty": b"", "spaces": b" \n\t\r\n ", "a mark alone": b"\xef\xbb\xbf", "packed nothing": gzip.compress(b"")}
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


@every_sample
def test_nothing_and_binary_junk_are_called_so(tmp_path: Path, sample: str) -> None:
    path = tmp_path / f"junk{ALL[sample].suffix}"
    for content in EMPTY.values():
        path.write_bytes(content)
        problem = refused(sample, path)
        assert problem == "is empty" or (path.suffix == ".parquet" and "is not a Parquet file" in problem)
    for content in JUNK.values():
        path.write_bytes(content)
        problem = refused(sample, path)
        assert any(word in problem for word in ("is not a text file", "gzip file", "is not a Parquet file")), problem
    valid = ALL[sample].data()
    for place in (0, len(valid) // 2, len(valid)) if ALL[sample].is_text else ():
        path.write_bytes(valid[:place] + b"\0" + valid[place:])
        assert refused(sample, path) == "is not a text file (it holds zero bytes)"


@every_sample
def test_a_folder_and_a_missing_file_are_called_so(tmp_path: Path, sample: str) -> None:
    suffix = ALL[sample].suffix
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert refused(sample, folder) == "is a folder, not a file"
    for nowhere in (tmp_path / f"nowhere{suffix}", folder / f"nowhere{suffix}", tmp_path / f"two\nlines{suffix}"):
        assert refused(sample, nowhere) == "there is no such file"
    for impossible in (tmp_path / f"zero\0byte{suffix}", tmp_path / ("x" * 300 + suffix)):
        assert refused(sample, impossible).startswith("cannot be read: ")


@every_sample
def test_a_file_too_large_packed_or_not_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: str
) -> None:
    monkeypatch.setattr(files, "LARGEST_BYTES", 10_000)
    path = tmp_path / f"large{ALL[sample].suffix}"
    path.write_bytes(ALL[sample].data() + b"\n" * 10_000)
    assert refused(sample, path).startswith("is larger than ")
    path.write_bytes(gzip.compress(TABLE.encode() + b"\n" * 10_000))
    assert refused(sample, path).startswith("is larger than ") or path.suffix == ".parquet"


def test_no_more_is_read_or_unpacked_than_is_needed_to_refuse(tmp_path: Path) -> None:
    large, bomb = tmp_path / "large.movements", tmp_path / "bomb.movements"
    with large.open("wb") as file:
        file.truncate(1_000_000_000)
    bomb.write_bytes(gzip.compress(b"0 0 0 1 1 1\n" * 1_000_000, 1) * 17)  # 200 MB in as many kilobytes
    for path in (large, bomb):
        tracemalloc.start()
        try:
            assert refused("bonnmotion", path) == TOO_LARGE
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 150_000_000


def test_parquet_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    names = pq.read_schema(pa.BufferReader(parquet())).names
    table = pa.table({name: pa.array([b"\xff\xfe", b"\xff"]).view(pa.string()) for name in names})
    pq.write_table(table, tmp_path / "text.parquet")
    problem = refused("adsb parquet", tmp_path / "text.parquet")
    assert problem.startswith("is not a Parquet file that can be read: 'utf-8' codec")


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_a_damaged_parquet_file_is_read_or_refused_in_one_line(tmp_path: Path, compression: str) -> None:
    valid = parquet(compression)
    path = tmp_path / "damaged.parquet"
    for place in range(0, len(valid), 7):
        path.write_bytes(valid[:place] + bytes([valid[place] ^ 0x55]) + valid[place + 1 :])
        outcome("adsb parquet", path)


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


@st.composite
def damaged(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file with a piece cut out, doubled or written over."""
    start = draw(st.integers(0, len(valid)))
    end = draw(st.integers(start, min(len(valid), start + 40)))
    insert = draw(
        st.binary(max_size=12) | st.sampled_from([valid[start:end] * 2, b"nan", b"1e999", b"-1", b",,", b"\n"])
    )
    return valid[:start] + insert + valid[end:]


@settings(max_examples=120)
@given(data=st.data())
@every_sample
def test_any_text_any_bytes_and_any_damage_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, sample: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / f"fuzz{ALL[sample].suffix}"
    text = (st.text(max_size=200) | LINES).map(str.encode)
    path.write_bytes(data.draw(text | st.binary(max_size=200) | damaged(ALL[sample].data())))
    outcome(sample, path)


# Writing and reading back.

# CSV cannot keep spaces around an id, XML no control characters; NetJSON and JSON take any text.
WORDS_ALONE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Z"]) | st.sampled_from(",;\"'#"), min_size=1)
IDS = {"NetJSON": st.text(min_size=1), "Fleet, JSON": st.text(min_size=1)}
BOTH_WAYS = [one for one in FORMATS if one in READ and one in WRITTEN]


@settings(max_examples=40)
@given(data=st.data())
@pytest.mark.parametrize("title", [one.title for one in BOTH_WAYS if one.name not in ("ns2", "bonnmotion", "table")])
def test_what_is_written_is_read_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, title: str, data: st.DataObject
) -> None:
    fleet = data.draw(placed_fleets(IDS.get(title, WORDS_ALONE)))
    topology = data.draw(topologies(len(fleet)))
    path = tmp_path_factory.getbasetemp() / f"back{BY_TITLE[title].suffixes[0]}"
    name = write_contents(
        Contents("made", fleet=fleet, topology=topology), Order(path, Radio(range=10.0)), BY_TITLE[title].name
    )
    held = read_contents(path, name)
    assert held.fleet is not None
    if title == "Fleet, CSV" and fleet.frame is not None:
        assert_same_on_earth(held.fleet, fleet)  # through degrees, which the frame is made of anew
    else:
        assert_same(held.fleet, fleet)
    if name != "fleet":
        assert held.topology == topology
        assert held.topology is not None and held.topology.layout is not None
        assert held.topology.layout.radio == Radio(range=10.0)


@settings(max_examples=40)
@given(placed_fleets(WORDS_ALONE, 3, 3), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_a_table_of_a_fleet_over_time_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, first: Fleet, count: int, seed: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "tracks.csv"
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(1e-3, 10, count)).tolist()
    places = [first.positions + rng.normal(size=first.positions.shape) for _ in times]
    fleets = [first.replace(one, first.yaw + 0.1 * number) for number, one in enumerate(places)]
    write_track_table(zip(times, fleets, strict=True), path)
    tracks = read_tracks(path)
    for time, fleet in zip(times, fleets, strict=True):
        if fleet.frame is None:
            assert_same(tracks.at(time), fleet)  # to the last bit
        else:
            assert_same_on_earth(tracks.at(time), fleet)


@pytest.mark.parametrize("title", ["Fleet, CSV", "GraphML"])
@pytest.mark.parametrize("name", [" a", "a\t", "a\rb", "a\x01", "a\x0b", "a\0", "a\ufffe", "a\ud800"])
def test_an_id_that_a_format_cannot_keep_is_refused_and_nothing_is_written(
    tmp_path: Path, title: str, name: str
) -> None:
    fleet = Fleet([(0, 0), (1, 1)], [0, 0], [name, "b"])
    target = BY_TITLE[title]
    path = tmp_path / f"out{target.suffixes[0]}"
    try:
        write_contents(Contents("made", fleet=fleet, topology=Topology([], [0, 1])), Order(path), target.name)
    except FormatError as error:
        assert any(words in str(error) for words in ("cannot keep", "is not text that UTF-8 can hold"))
        assert list(tmp_path.iterdir()) == []
    else:
        assert read_contents(path, target.name).fleet_at().ids == (name, "b")
