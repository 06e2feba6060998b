"""NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks."""

from importlib.metadata import PackageNotFoundError, version

from manetdiff.errors import DisconnectedWarning, ManetDiffError
from manetdiff.fleet import Fleet, displacement
from manetdiff.radio import Radio
from manetdiff.solvers import METHODS, correct, greedy, polish, solve
from manetdiff.topology import Topology, continuity, kept, metrics, rates

try:
    __version__ = version("manetdiff")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "METHODS",
    "DisconnectedWarning",
    "Fleet",
    "ManetDiffError",
    "Radio",
    "Topology",
    "__version__",
    "continuity",
    "correct",
    "displacement",
    "greedy",
    "kept",
    "metrics",
    "polish",
    "rates",
    "solve",
]
