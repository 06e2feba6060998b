"""The cache folder: code compiled on this machine, kept for the next process.

What is read from it is run. So it must belong to this user, and nobody else may write to it. Files are written whole
and carry a checksum: one that was damaged counts as not there. Several processes may use it at once: they would write
the same.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from manetdiff.errors import ManetDiffError
from manetdiff.files import write_whole
from manetdiff.user_cache import user_cache

SUFFIX = ".code"
CHECKSUM = hashlib.sha256().digest_size
DAY = 24 * 3600.0
# Code that nobody has used for so long is thrown away: of other versions, mostly.
FORGOTTEN = 60 * DAY


class CacheFolder:
    """Code by name, in a folder that is safe to use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._swept = False

    def read(self, name: str) -> bytes | None:
        """The code of that name; None if there is none, or none that is whole."""
        path = self.path / f"{name}{SUFFIX}"
        with suppress(OSError):
            content = path.read_bytes()
            code = content[CHECKSUM:]
            if hashlib.sha256(code).digest() == content[:CHECKSUM]:
                if time.time() - path.stat().st_mtime > DAY:
                    os.utime(path)  # so that it is not forgotten
                return code
        return None

    def write(self, name: str, code: bytes) -> None:
        """Keep code under a name, if the disk lets us."""
        with suppress(OSError, ManetDiffError):
            write_whole(self.path / f"{name}{SUFFIX}", hashlib.sha256(code).digest() + code)
            self._sweep()

    def names(self) -> list[str]:
        """What is kept here."""
        return sorted(path.stem for path in self.path.glob(f"*{SUFFIX}"))

    def _sweep(self) -> None:
        """Once a process that has compiled something: forget what nobody uses, here and beside this folder."""
        if self._swept:
            return
        self._swept = True
        # Only what this class has written: who names the cache folder may keep other things under such a name.
        for path in self.path.parent.glob(f"*/*{SUFFIX}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > FORGOTTEN:
                    path.unlink()
                    path.parent.rmdir()  # refused while anything else is in it


def cache_folder(name: str) -> CacheFolder | None:
    """The one of that name, if it can be made, is ours alone and can be written to."""
    place = user_cache()
    if place is None:
        return None
    path = place / "kernels" / name
    with suppress(OSError, ValueError):  # ValueError: a zero byte in the path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_ours_alone(path) and os.access(path, os.W_OK | os.X_OK):
            return CacheFolder(path)
    return None


def is_ours_alone(path: Path) -> bool:
    """Whether a folder belongs to this user, and only this user may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
