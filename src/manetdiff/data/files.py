"""Files that are either whole or not there, checksums beside them, and a lock on a folder."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manetdiff.errors import DataError

if sys.platform != "win32":
    import fcntl

TEMPORARY = ".tmp"
CHECKSUM = ".sha256"


def write_whole(path: Path, content: bytes) -> None:
    """Write the file so that whatever happens, it holds all of the content or what it held before."""
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    sync_folder(path.parent)


def temporary_name(path: Path) -> Path:
    """Where a file is written before it takes its own name: hidden, and in the same folder."""
    return path.with_name(f".{path.name}{TEMPORARY}")


def checksum_name(path: Path) -> Path:
    """The file that holds a file's checksum."""
    return path.with_name(path.name + CHECKSUM)


def checksum_line(path: Path, content: bytes) -> bytes:
    """What `sha256sum` writes for a file of this name and content."""
    return f"{hashlib.sha256(content).hexdigest()}  {path.name}\n".encode()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a loss of power."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this run alone. The folder itself is locked, so nothing is left in it, even after a kill."""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"{folder}: another run is writing here; wait for it or choose another folder") from None
        except OSError:
            pass  # some network file systems cannot lock a folder; better unlocked than unusable
        yield
    finally:
        os.close(descriptor)
