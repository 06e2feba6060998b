"""Links and parity of a fleet, the constraints on them, and the metrics."""

from manetdiff.topology.components import component_labels, count_components
from manetdiff.topology.constraints import antenna_loads, out_of_range, same_parity
from manetdiff.topology.matching import carried_over, check_related, matched_links, places_in, warn_of_lost_heights
from manetdiff.topology.metrics import METRICS, SLOT_SHARE, continuity, kept, metrics, rates
from manetdiff.topology.parts import (
    Parts,
    find_parts,
    unwarned_of_parts,
    warn_of_parts,
    warn_of_parts_in_batch,
)
from manetdiff.topology.report import PolishReport, Report
from manetdiff.topology.topology import Topology

__all__ = [
    "METRICS",
    "SLOT_SHARE",
    "Parts",
    "PolishReport",
    "Report",
    "Topology",
    "antenna_loads",
    "carried_over",
    "check_related",
    "component_labels",
    "continuity",
    "count_components",
    "find_parts",
    "kept",
    "matched_links",
    "metrics",
    "out_of_range",
    "places_in",
    "rates",
    "same_parity",
    "unwarned_of_parts",
    "warn_of_lost_heights",
    "warn_of_parts",
    "warn_of_parts_in_batch",
]
