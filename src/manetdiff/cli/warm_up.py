"""Compile before the clock starts: numba compiles a search when it is first used on a machine."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.solvers import solve
from manetdiff.solvers.warm import TOY
from manetdiff.topology import metrics

if TYPE_CHECKING:  # ONNX Runtime is loaded by the commands that need it
    from manetdiff.runtime.model import Model

# Loading compiled code from the cache takes well under this; compiling it does not.
PATIENCE_S = 1.5
# Large enough that every stage has something to do.
RING = Fleet([(math.cos(turn), math.sin(1.3 * turn)) for turn in range(9)], [0.0] * 9)


def warm_up(radio: Radio, *methods: str) -> None:
    """Solve a toy by each method, so that times are those of the searches; tells a person if that takes a while."""
    with _notice():
        for method in methods:
            budget = {"budget": 0.1} if method == "cpsat" else {"moves": 300}
            metrics(solve(TOY, _wide(radio), method, **budget), TOY, _wide(radio))


def warm_up_model(model: Model) -> None:
    """Make and update a toy's topology, for the same reason."""
    with _notice():
        toy = model.generate(RING, radio=_wide(model.radio))
        model.update(toy, RING, radio=_wide(model.radio), previous=RING)


def _wide(radio: Radio) -> Radio:
    return Radio.from_dict({**radio.to_dict(), "unit": None, "range": 10.0})


@contextmanager
def _notice() -> Iterator[None]:
    timer = threading.Timer(PATIENCE_S, _say_so)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say_so() -> None:
    if sys.stderr.isatty():
        print("compiling the searches; this happens once on a machine …", file=sys.stderr)
