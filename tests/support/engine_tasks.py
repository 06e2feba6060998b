"""Tasks for workers, which import them from here."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
import psutil

from manetdiff.engine.processes import ONE_THREAD
from manetdiff.errors import FleetError


class Progress(Protocol):
    """As folders and sweeps tell it."""

    @property
    def done(self) -> int: ...


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


class KillsOne:
    """Kills a worker that has something to do, once the first task is done; beside the work, which goes on meanwhile,
    so that there is one. `killed` says which it was."""

    def __init__(self, engine: str) -> None:
        # Ray names its workers by what they call.
        self._name = "manetdiff.engine.worker" if engine == "local" else "ray::_called"
        self._killer = threading.Thread(target=self._kill, daemon=True)
        self.killed: int | None = None

    def __call__(self, progress: Progress) -> None:
        """What is told of the progress."""
        if progress.done and self._killer.ident is None:
            self._killer.start()

    def _kill(self) -> None:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if self._name in " ".join(process.cmdline()):
                        process.kill()
                        self.killed = process.pid
                        return
