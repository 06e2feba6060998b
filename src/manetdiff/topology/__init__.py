"""Links and parity of a fleet, the constraints on them, and the metrics."""

from manetdiff.topology.constraints import antenna_loads, component_labels, out_of_range, same_parity
from manetdiff.topology.metrics import METRICS, continuity, kept, metrics, rates
from manetdiff.topology.topology import Topology

__all__ = [
    "METRICS",
    "Topology",
    "antenna_loads",
    "component_labels",
    "continuity",
    "kept",
    "metrics",
    "out_of_range",
    "rates",
    "same_parity",
]
