"""Tables in Parquet, read column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from manetdiff.errors import FormatError
from manetdiff.formats.files import Source

# As many as a CSV file of the largest size could hold, and some more: a small Parquet file can hold any number.
MOST_ROWS = 2_000_000
MAGIC = b"PAR1"
TICKS_A_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def parquet_rows(source: Source, choose: Callable[[Sequence[str]], Sequence[str]]) -> list[dict[str, Any]]:
    """The rows of a table. choose: which of its columns to read; raises where one is missing.

    Timestamps are seconds of Unix time, as UTC where the column names no zone.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = source.name
    try:
        file = pq.ParquetFile(pa.BufferReader(source.data))
        columns = choose(file.schema_arrow.names)
        _check_once(name, file.schema_arrow.names, columns)
        if file.metadata.num_rows > MOST_ROWS:
            raise FormatError(
                f"{name}: holds {file.metadata.num_rows:,} rows, more than {MOST_ROWS:,}: cut out the time that matters"
            )
        table = file.read(columns=list(columns))
        plain = pa.table({column: _plain(table.column(column)) for column in columns})
        rows: list[dict[str, Any]] = plain.to_pylist()
        return rows
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: text that is no UTF-8, and the like
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FormatError(f"{name}: is not a Parquet file that can be read: {reason}") from None


def _check_once(name: str, there: Sequence[str], columns: Sequence[str]) -> None:
    for column in columns:
        if list(there).count(column) > 1:
            raise FormatError(f"{name}: the column {column} stands twice")


def _plain(column: Any) -> Any:
    """Timestamps as seconds: Python's own know neither nanoseconds nor, everywhere, the names of zones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_timestamp(column.type):
        return column
    ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    return pc.divide(ticks, TICKS_A_SECOND[column.type.unit])
