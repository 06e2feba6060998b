"""A folder that is filled file by file: whole and sealed or not there, all of one kind, by one run at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from manetdiff.data.settings import first_difference
from manetdiff.errors import DataError
from manetdiff.files import TEMPORARY, locked, made_folder, write_whole


@dataclass(frozen=True)
class Kind:
    """What such a folder is. called: what it holds, for people. description: the file that says which one it is.

    - own: names of its files, the description and checksums among them; others are left alone, or refused.
    """

    called: str
    description: str
    own: str

    @cached_property
    def own_file(self) -> re.Pattern[str]:
        """Matches names of its files."""
        return re.compile(self.own)

    @cached_property
    def own_temporary(self) -> re.Pattern[str]:
        """Matches names of its files while they are not whole."""
        return re.compile(rf"\.({self.own})(\.[0-9a-f]+)?{re.escape(TEMPORARY)}")


@contextmanager
def filling(
    folder: Path,
    kind: Kind,
    settings: Mapping[str, Any],
    *,
    content: bytes,
    read: Callable[[Path], Mapping[str, Any]],
) -> Iterator[None]:
    """Hold the folder while it is filled. One that holds anything else is refused.

    - settings: which one it is to be, JSON-ready. content: of the description. read: the settings of what is there.
    """
    refuse_other(folder, kind, settings, read)
    with locked(made_folder(folder)):
        # Again, now that nobody else can write here.
        refuse_other(folder, kind, settings, read)
        for path in folder.iterdir():
            if kind.own_temporary.fullmatch(path.name):
                path.unlink()
        if not (folder / kind.description).exists():
            write_whole(folder / kind.description, content)
        yield


def refuse_other(
    folder: Path, kind: Kind, settings: Mapping[str, Any], read: Callable[[Path], Mapping[str, Any]]
) -> None:
    """Raise unless the folder is new, empty, or holds what has the very same settings."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: a file; give a folder")
    if (folder / kind.description).exists():
        difference = first_difference(dict(read(folder)), dict(settings))
        if difference:
            name, old, new = difference
            raise DataError(
                f"{folder}: holds {kind.called} with {name} = {json.dumps(old)}, not {json.dumps(new)}: "
                "give the same settings to continue it, or another folder"
            )
    elif folder.exists():
        foreign = sorted(path.name for path in folder.iterdir() if not kind.own_temporary.fullmatch(path.name))
        if foreign:
            raise DataError(f"{folder}: holds {foreign[0]!r} but no {kind.description}: give an empty or a new folder")


def remove_parts(folder: Path, kind: Kind) -> None:
    """Delete its files, and the folder if nothing else is in it."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if kind.own_file.fullmatch(path.name):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()
