"""The physics: sectors, power control, interference and rates. Written once, here, in compiled code."""

from manetdiff.radio.radio import Radio
from manetdiff.radio.rates import batch_throughput, link_rates, throughput
from manetdiff.radio.tables import LinkTables, link_tables

__all__ = ["LinkTables", "Radio", "batch_throughput", "link_rates", "link_tables", "throughput"]
