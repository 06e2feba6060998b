"""Files that are either whole or not there, alone or together; folders that are made; and a lock on a folder."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.messages import escaped

if sys.platform != "win32":
    import fcntl

# What a file's name ends in until it is whole; it is hidden, and in the same folder.
TEMPORARY = ".tmp"
OUR_TEMPORARY = re.compile(rf"\..*\.[0-9a-f]{{12}}{re.escape(TEMPORARY)}", re.DOTALL)
# A temporary file of nobody is removed when it is so old: younger ones may not be locked by their writer yet. Where
# files cannot be locked, only age tells.
SETTLED_S, ABANDONED_S = 10.0, 3600.0


def write_whole(path: Path, content: bytes) -> None:
    """Write the file so that whatever happens, it holds all of the content or what it held before."""
    try:
        _remove_abandoned(path.parent)
        written = _Temporary(path, content)
        waiting = _waiting.get()
        if waiting is None:
            written.take_place()
        else:
            waiting.append(written)
    except OSError as error:
        raise _not_written(path, error) from None


@contextmanager
def together() -> Iterator[None]:
    """Files that are written inside come into place at the end: all of them or, if anything fails, none."""
    if _waiting.get() is not None:
        yield
        return
    written: list[_Temporary] = []
    mark = _waiting.set(written)
    try:
        yield
        for one in written:
            try:
                one.take_place()
            except OSError as error:
                raise _not_written(one.path, error) from None
    finally:
        _waiting.reset(mark)
        for one in written:
            one.drop()


class _Temporary:
    """A file that is whole, beside the place that it is for. While its writer lives it is locked, so that others can
    tell it from one that a killed process has left."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        # Several processes may write one file at once: each has a temporary name of its own. The name is cut, because
        # a file system takes only so long a one.
        self._place = path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}{TEMPORARY}")
        self._file = self._place.open("xb")
        try:
            _locked_at_once(self._file.fileno())
            self._file.write(content)
            self._file.flush()
            os.fsync(self._file.fileno())
        except BaseException:
            self.drop()
            raise

    def take_place(self) -> None:
        """Be the file."""
        try:
            if sys.platform == "win32":
                self._file.close()  # an open file cannot be moved there
            self._place.replace(self.path)
            _sync_folder(self.path.parent)
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing behind; without effect once it has taken its place."""
        with suppress(OSError):  # what could not be written cannot be flushed either
            self._file.close()
        self._place.unlink(missing_ok=True)


_waiting: ContextVar[list[_Temporary] | None] = ContextVar("files that wait for others", default=None)
_cleaned: set[Path] = set()


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of ours that a killed process has left, once a folder."""
    if folder in _cleaned:
        return
    _cleaned.add(folder)
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if OUR_TEMPORARY.fullmatch(entry.name)]
    for entry in found:
        with suppress(OSError):  # somebody else's, or gone by now
            if entry.is_file(follow_symlinks=False) and _is_abandoned(entry):
                Path(entry.path).unlink()


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    if age < SETTLED_S:
        return False
    with Path(entry.path).open("rb") as file:
        free = _locked_at_once(file.fileno())
    return age > ABANDONED_S if free is None else free


def _locked_at_once(descriptor: int) -> bool | None:
    """Whether the file could be locked for this process alone; None where files cannot be locked."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems cannot
        return None
    return True


def _not_written(path: Path, error: OSError) -> FormatError:
    return FormatError(f"{printable(path)}: cannot be written: {reason(error)}")


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
        if _locked_at_once(descriptor) is False:  # where a folder cannot be locked, better unlocked than unusable
            raise FormatError(f"{folder}: another run is writing here; wait for it or choose another folder")
        yield
    finally:
        os.close(descriptor)


def printable(path: str | os.PathLike[str]) -> str:
    """The path on one line, whatever it holds."""
    return escaped(os.fspath(path))


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
