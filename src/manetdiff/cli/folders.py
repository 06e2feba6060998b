"""Folders that commands write several files into."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from manetdiff.files import made_folder
from manetdiff.formats import check_writable


def folder_for(out: str | Path, names: Iterable[str]) -> Path:
    """The folder, made if it is not there; a FormatError if it cannot be, or if one of the files cannot be written."""
    folder = made_folder(out)
    for name in names:
        check_writable(folder / name)
    return folder
