"""The physics: sectors, power control, interference and rates. Written once, here, in compiled code."""

from manetdiff.radio.drawing import draw_spacing
from manetdiff.radio.radio import Radio
from manetdiff.radio.rates import link_rates, throughput
from manetdiff.radio.tables import LinkTables, link_tables, with_pins

__all__ = ["LinkTables", "Radio", "draw_spacing", "link_rates", "link_tables", "throughput", "with_pins"]
