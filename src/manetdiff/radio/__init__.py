"""The physics: sectors, power control, interference and rates. Written once, here, in compiled code."""

from manetdiff.radio.drawing import draw_spacing
from manetdiff.radio.pairs import PairValues, Placement
from manetdiff.radio.radio import Radio
from manetdiff.radio.rates import link_rates, throughput

__all__ = ["PairValues", "Placement", "Radio", "draw_spacing", "link_rates", "throughput"]
