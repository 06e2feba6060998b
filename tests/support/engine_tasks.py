"""Tasks for workers, which import them from here."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from manetdiff.engine.processes import ONE_THREAD
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


class TwoWordsError(Exception):
    """Pickles, but does not come back."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def hard_to_send(task: str) -> object:
    if task == "error":
        raise TwoWordsError("no", "way")
    return threading.Lock() if task == "result" else task


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


def fail_or_die(task: str) -> str:
    if task == "deadly":
        os._exit(9)
    return fail(task)


def threads(_: object) -> dict[str, int]:
    """What libraries would start in this worker, and how many threads a topology by the network adds to it."""
    import numba

    import manetdiff as md
    from manetdiff.scenarios import draw

    fleet = draw("wedge", 16, np.random.default_rng(0))
    model = md.load()
    before = psutil.Process().num_threads()
    model.generate(fleet, preset="instant")
    told = {name: int(os.environ[name]) for name in ONE_THREAD}
    return {**told, "numba": numba.get_num_threads(), "added": psutil.Process().num_threads() - before}


def busy_worker(engine: str) -> int:
    """The process number of a worker of this process that has something to do: Ray names them by what they call."""
    for _ in range(200):
        for process in psutil.Process().children(recursive=True):
            line = process.cmdline()
            if "manetdiff.engine.worker" in line if engine == "local" else "ray::_called" in "".join(line[:1]):
                return int(process.pid)
        time.sleep(0.05)
    raise AssertionError("no worker")
