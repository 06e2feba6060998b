"""NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from manetdiff.errors import DisconnectedWarning, ManetDiffError
from manetdiff.fleet import Fleet, displacement
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.solvers import METHODS, correct, greedy, polish, solve
from manetdiff.topology import Report, Topology, continuity, kept, metrics, rates

if TYPE_CHECKING:
    from manetdiff.runtime.model import Model, load


def __getattr__(name: str) -> Any:
    """`load` and `Model` come with ONNX Runtime, which is loaded when it is first asked for."""
    if name in ("Model", "load"):
        from manetdiff.runtime import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


try:
    __version__ = version("manetdiff")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "METHODS",
    "DisconnectedWarning",
    "Fleet",
    "Layout",
    "ManetDiffError",
    "Model",
    "Radio",
    "Report",
    "Topology",
    "__version__",
    "continuity",
    "correct",
    "displacement",
    "greedy",
    "kept",
    "load",
    "metrics",
    "polish",
    "rates",
    "solve",
]
