"""Links and parity of a fleet, the constraints on them, and the metrics."""

from manetdiff.topology.components import component_labels, count_components
from manetdiff.topology.constraints import antenna_loads, out_of_range, same_parity
from manetdiff.topology.metrics import METRICS, SLOT_SHARE, continuity, kept, metrics, rates
from manetdiff.topology.report import PolishReport, Report
from manetdiff.topology.topology import Topology

__all__ = [
    "METRICS",
    "SLOT_SHARE",
    "PolishReport",
    "Report",
    "Topology",
    "antenna_loads",
    "component_labels",
    "continuity",
    "count_components",
    "kept",
    "metrics",
    "out_of_range",
    "rates",
    "same_parity",
]
