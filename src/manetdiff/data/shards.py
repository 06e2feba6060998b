"""One Parquet file of solved layouts: to bytes, from bytes, and whether what lies on disk is what was written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from manetdiff.data.columns import check_rows, schema, settings_of, to_table
from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.settings import Settings
from manetdiff.errors import DataError
from manetdiff.files import write_whole

# Values that hardly ever repeat. Their bytes compress better sorted by significance than in a dictionary.
MEASURED = (
    *("x", "y", "z", "yaw", "blocked_start", "blocked_stop", "displacement"),
    *("metric_mean_length", "metric_link_throughput", "metric_throughput"),
)
# Values that count up.
COUNTED = ("index", "solver_seed")
# Texts that are alike but never the same.
ALIKE = ("radio",)


def shard_name(shard: int) -> str:
    """The file name of a shard."""
    return f"shard-{shard:05d}.parquet"


def write_shard(path: Path, layouts: Sequence[SolvedLayout], settings: Settings) -> None:
    """Write the file and then its checksum."""
    write_sealed(path, to_bytes(to_table(layouts, settings)))


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file and then its checksum: one without a checksum is one that was not finished."""
    write_whole(path, content)
    write_whole(checksum_name(path), checksum_line(path, content))


def to_bytes(table: pa.Table) -> bytes:
    """The table as a Parquet file. Same table, same bytes (for one version of pyarrow, which writes its own in it)."""
    sink = pa.BufferOutputStream()
    encodings = {**dict.fromkeys(MEASURED, "BYTE_STREAM_SPLIT"), **dict.fromkeys(COUNTED, "DELTA_BINARY_PACKED")}
    fields = list(table.schema)
    pq.write_table(
        table,
        sink,
        row_group_size=max(1, len(table)),
        compression="zstd",
        compression_level=9,
        use_dictionary=[_leaf(field) for field in fields if field.name not in (*encodings, *ALIKE)],
        column_encoding={_leaf(field): encodings[field.name] for field in fields if field.name in encodings},
        write_page_checksum=True,
    )
    return bytes(sink.getvalue().to_pybytes())


def from_bytes(content: bytes, name: str) -> tuple[pa.Table, Settings]:
    """The checked table of a Parquet file and its settings; `name` is what to call the file in an error."""
    try:
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            settings = settings_of(file.schema_arrow, name)
            table = file.read(columns=schema(settings).names)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"{name}: not a whole Parquet file ({reason})") from None
    check_rows(table, settings, name)
    return table.replace_schema_metadata(None), settings


def read_content(path: Path) -> bytes:
    """The bytes of a file, or a DataError that says why not."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def read_sealed(path: Path) -> bytes:
    """The bytes of a file that has a checksum beside it, which must match."""
    content = read_content(path)
    seal = checksum_name(path)
    if not seal.exists():
        raise DataError(f"{path}: its checksum {seal.name} is missing")
    if read_content(seal) != checksum_line(path, content):
        raise DataError(f"{path}: altered or torn: it does not match its checksum {seal.name}")
    return content


def is_done(path: Path, settings: Settings, indices: range) -> bool:
    """Whether this shard lies there whole and unaltered, is one of this very set, and holds these layouts."""
    try:
        content = read_sealed(path)
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            if settings_of(file.schema_arrow, path.name) != settings:
                return False
            there: list[int] = file.read(columns=["index"])["index"].to_pylist()
            return there == [index for index in indices for _ in range(settings.rows_each)]
    except (DataError, pa.ArrowException, OSError):
        return False


def checksum_name(path: Path) -> Path:
    """The file that holds a file's checksum."""
    return path.with_name(path.name + ".sha256")


def checksum_line(path: Path, content: bytes) -> bytes:
    """What `sha256sum` writes for a file of this name and content."""
    return f"{hashlib.sha256(content).hexdigest()}  {path.name}\n".encode()


def _leaf(field: pa.Field) -> str:
    """What Parquet calls the column that holds a field's values."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)
