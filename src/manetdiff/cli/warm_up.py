"""Compile before the clock starts: numba compiles a solver when it is first used on a machine."""

from __future__ import annotations

import sys
import threading

from manetdiff.radio import Radio
from manetdiff.solvers import solve
from manetdiff.solvers.loading import TOY
from manetdiff.topology import metrics

# Loading compiled code from the cache takes well under this; compiling it does not.
PATIENCE_S = 1.5


def warm_up(radio: Radio, *methods: str) -> None:
    """Solve a toy by each method, so that times are those of the searches; tells a person if that takes a while."""
    notice = threading.Timer(PATIENCE_S, _say_so)
    notice.daemon = True
    notice.start()
    wide = Radio.from_dict({**radio.to_dict(), "unit": None, "range": 10.0})
    for method in methods:
        budget = {"budget": 0.1} if method == "cpsat" else {"moves": 300}
        metrics(solve(TOY, wide, method, **budget), TOY, wide)
    notice.cancel()


def _say_so() -> None:
    if sys.stderr.isatty():
        print("compiling the solvers; this happens once on a machine …", file=sys.stderr)
