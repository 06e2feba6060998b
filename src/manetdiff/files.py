"""Files that are either whole or not there, folders that are made, and a lock on a folder."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manetdiff.errors import FormatError

if sys.platform != "win32":
    import fcntl

# What a file's name ends in until it is whole; it is hidden, and in the same folder.
TEMPORARY = ".tmp"


def write_whole(path: Path, content: bytes) -> None:
    """Write the file so that whatever happens, it holds all of the content or what it held before."""
    # Several processes may write one file at once: each has a temporary name of its own. The name is cut, because a
    # file system takes only so long a one.
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}{TEMPORARY}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise FormatError(f"{printable(path)}: cannot be written: {reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)


def is_temporary(path: Path) -> bool:
    """Whether a run that was killed left it while it wrote a file."""
    return path.name.startswith(".") and path.name.endswith(TEMPORARY)


def made_folder(folder: str | Path) -> Path:
    """The folder, made if it is not there."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise FormatError(f"{printable(folder)}: the folder cannot be made: {reason(error)}") from None
    return path


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
            raise FormatError(f"{folder}: another run is writing here; wait for it or choose another folder") from None
        except OSError:
            pass  # some network file systems cannot lock a folder; better unlocked than unusable
        yield
    finally:
        os.close(descriptor)


def printable(path: str | os.PathLike[str]) -> str:
    """The path on one line, whatever it holds."""
    text = os.fspath(path)
    return text if text.isprintable() else repr(text)


def reason(error: Exception) -> str:
    """What is wrong, without the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a loss of power."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
