"""Reading whole files and writing them: `-` is standard input or output, and nothing is ever left half-written."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.files import printable, reason, write_whole

STANDARD = "-"
LARGEST_BYTES = 50_000_000
GZIP_MAGIC = b"\x1f\x8b"
GZIP_SUFFIX = ".gz"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Source:
    """A file that was read. name: what messages call it. suffix: of its name; of a packed file, before .gz."""

    name: str
    data: bytes
    suffix: str = ""

    @cached_property
    def content(self) -> str:
        """Its text, UTF-8, unpacked where it is packed by gzip; anything else is a FormatError of one line."""
        data = _unpacked(self.data, self.name)
        try:
            content = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FormatError(f"{self.name}: is not a text file (UTF-8)") from None
        if "\0" in content:
            raise FormatError(f"{self.name}: is not a text file (it holds zero bytes)")
        if not content.strip():
            raise FormatError(f"{self.name}: is empty")
        return content

    @cached_property
    def first_line(self) -> str:
        """The first line of its text that says something: neither blank nor a comment."""
        lines = (line.strip() for line in self.content.splitlines())
        return next((line for line in lines if line and not line.startswith("#")), "")


def read_source(path: PathLike) -> Source:
    """All that the file holds, if it is not too much."""
    name = "standard input" if os.fspath(path) == STANDARD else printable(path)
    data = _read_bytes(path, name)
    _check_size(data, name)
    suffix = suffix_of(path)
    return Source(name, data, suffix_of(Path(path).stem) if suffix == GZIP_SUFFIX else suffix)


def suffix_of(path: PathLike) -> str:
    """What a file's name ends in, with the dot and in lower case."""
    return Path(path).suffix.lower()


def write_text(path: PathLike, content: str) -> None:
    """Write UTF-8 text; see `write_bytes`."""
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:  # JSON can spell half of a character, UTF-8 cannot
        raise FormatError(f"{printable(path)}: cannot be written: an id is not text that UTF-8 can hold") from None
    write_bytes(path, data)


def write_bytes(path: PathLike, data: bytes) -> None:
    """Put the data into the file, all of it or nothing: it is written next to it and then moved into its place."""
    if os.fspath(path) == STANDARD:
        _write_standard_output(data)
        return
    check_writable(path)
    target = Path(os.path.realpath(path))  # through a symbolic link, not in place of it
    if not target.exists() or target.is_file():
        write_whole(target, data)
        return
    try:
        target.write_bytes(data)  # /dev/stdout, a named pipe: must not be replaced by a file
    except OSError as error:
        raise FormatError(f"{printable(path)}: cannot be written: {reason(error)}") from None


def check_writable(path: PathLike) -> None:
    """Raise a FormatError if the path clearly cannot be written, before any work is spent on what would go there."""
    if os.fspath(path) == STANDARD:
        return
    try:
        refusal = _refusal(Path(os.path.realpath(path)))
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        refusal = reason(error)
    if refusal:
        raise FormatError(f"{printable(path)}: cannot be written: {refusal}")


def _refusal(target: Path) -> str | None:
    """Why the target cannot be written, if it is clear already."""
    if target.is_dir():
        return "it is a folder"
    if not target.parent.is_dir():
        return f"the folder {printable(target.parent)} does not exist"
    writable = os.access(target, os.W_OK) if target.exists() else os.access(target.parent, os.W_OK | os.X_OK)
    return None if writable else "permission denied"


def _read_bytes(path: PathLike, name: str) -> bytes:
    if os.fspath(path) == STANDARD and sys.stdin is None:
        raise FormatError(f"{name}: is closed")
    try:
        if os.fspath(path) == STANDARD:
            return sys.stdin.buffer.read(LARGEST_BYTES + 1)
        with Path(path).open("rb") as file:
            return file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise FormatError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{name}: is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{name}: cannot be read: {reason(error)}") from None


def _check_size(data: bytes, name: str) -> None:
    if len(data) > LARGEST_BYTES:
        raise FormatError(f"{name}: is larger than {LARGEST_BYTES // 1_000_000} MB, which no fleet needs")


def _unpacked(data: bytes, name: str) -> bytes:
    """What a gzip file holds, in all its parts, but no more than one byte too much: it may unpack to any size."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        content = gzip.GzipFile(fileobj=io.BytesIO(data)).read(LARGEST_BYTES + 1)
    except EOFError:
        raise FormatError(f"{name}: is a gzip file that breaks off before its end") from None
    except (OSError, zlib.error) as error:
        raise FormatError(f"{name}: is not a gzip file that can be unpacked: {error}") from None
    _check_size(content, name)
    return content


def _write_standard_output(data: bytes) -> None:
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has had enough (`| head`). Python would complain again when it flushes at exit: give it nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
