"""Tasks for workers, which import them from here."""

from __future__ import annotations

import os
import time
from pathlib import Path

from manetdiff.errors import FleetError


def nap(seconds: float) -> tuple[float, int]:
    time.sleep(seconds)
    return seconds, os.getpid()


def own_number(_: object) -> int:
    return os.getpid()


def fail(task: str) -> str:
    if task == "bad":
        raise FleetError("this one is bad")
    return task


def die_once(task: tuple[str, int]) -> int:
    """Kills its worker the first time."""
    folder, number = task
    mark = Path(folder) / str(number)
    if not mark.exists():
        mark.touch()
        os._exit(9)
    return number


def die_always(_: object) -> None:
    os._exit(9)
