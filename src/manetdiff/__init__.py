"""NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manetdiff.errors import DisconnectedWarning, ManetDiffError
    from manetdiff.fleet import Fleet, displacement, predicted
    from manetdiff.flights import Transition, delivered, explain, transition
    from manetdiff.layout import Layout
    from manetdiff.radio import Radio
    from manetdiff.runtime.model import Model, load
    from manetdiff.solvers import METHODS, correct, greedy, polish, solve
    from manetdiff.topology import Report, Topology, continuity, kept, metrics, rates

# What is public, and where it is. It is loaded when it is first asked for: a command that needs no network need not
# wait for ONNX Runtime, and one that is stopped while it loads can say so.
_PLACES = {
    "errors": ("DisconnectedWarning", "ManetDiffError"),
    "fleet": ("Fleet", "displacement", "predicted"),
    "flights": ("Transition", "delivered", "explain", "transition"),
    "layout": ("Layout",),
    "radio": ("Radio",),
    "runtime.model": ("Model", "load"),
    "solvers": ("METHODS", "correct", "greedy", "polish", "solve"),
    "topology": ("Report", "Topology", "continuity", "kept", "metrics", "rates"),
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(f"manetdiff.{place}"), name))
        if name == place:  # a room, such as manetdiff.radio
            return import_module(f"manetdiff.{place}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
    "Transition",
    "__version__",
    "continuity",
    "correct",
    "delivered",
    "displacement",
    "explain",
    "greedy",
    "kept",
    "load",
    "metrics",
    "polish",
    "predicted",
    "rates",
    "solve",
    "transition",
]
