"""Folders that commands write several files into."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.formats import check_writable


def made_folder(out: str | Path, names: Iterable[str]) -> Path:
    """The folder, made if it is not there; a FormatError if it cannot be, or if one of the files cannot be written."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise FormatError(f"{out}: the folder cannot be made: {reason}") from None
    for name in names:
        check_writable(folder / name)
    return folder
