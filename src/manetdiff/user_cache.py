"""Where this user's cache folder is: for what was measured or made on this machine and can be made again."""

from __future__ import annotations

import os
from pathlib import Path

TOLD = "MANETDIFF_CACHE_DIR"


def user_cache() -> Path | None:
    """The folder, which need not be there yet; None where the user has no home.

    As told in MANETDIFF_CACHE_DIR, or where the system keeps a user's caches.
    """
    if told := os.environ.get(TOLD):
        return Path(told)
    usual = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if usual and Path(usual).is_absolute():
        return Path(usual) / "manetdiff"
    try:
        return Path.home() / ".cache" / "manetdiff"
    except RuntimeError:
        return None
