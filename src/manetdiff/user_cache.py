"""Where this user's cache folder is: for what was measured or made on this machine and can be made again."""

from __future__ import annotations

import os
from pathlib import Path

# Who names a folder may have forbidden the usual one: that and no other.
TOLD = "MANETDIFF_CACHE_DIR"
OF_NUMBA = "NUMBA_CACHE_DIR"


def user_cache() -> Path | None:
    """The folder, which need not be there yet: as told in the environment, or where the system keeps a user's caches.

    None where the user has no home.
    """
    if told := os.environ.get(TOLD):
        return Path(told)
    usual = os.environ.get(OF_NUMBA) or os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        place = Path(usual) if usual else Path.home() / ".cache"
    except RuntimeError:
        return None
    return place / "manetdiff" if place.is_absolute() else None
