"""Friis' equation and thermal noise: what a radio's data sheet says, as power in watts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from manetdiff.radio.bounds import LINK_BUDGET, check_bounds

SPEED_OF_LIGHT = 299_792_458.0
BOLTZMANN = 1.380649e-23


@dataclass(frozen=True)
class LinkBudget:
    """frequency, bandwidth in Hz; power in W; gain per end in dBi; noise_figure, losses in dB; temperature in K."""

    frequency: float
    bandwidth: float
    power: float
    gain: float
    noise_figure: float
    losses: float = 0.0
    temperature: float = 290.0

    def __post_init__(self) -> None:
        check_bounds("link budget", LINK_BUDGET, vars(self))

    @property
    def wavelength(self) -> float:
        """In metres."""
        return SPEED_OF_LIGHT / self.frequency

    @property
    def noise_power(self) -> float:
        """Thermal noise in the band behind a receiver of this noise figure, in W."""
        return BOLTZMANN * self.temperature * self.bandwidth * _from_db(self.noise_figure)

    @property
    def beamwidth(self) -> float:
        """Half-power width in radians of a round beam of this gain: it spreads the sphere's 4π over gain · width²."""
        return min(2 * math.pi, math.sqrt(4 * math.pi / _from_db(self.gain)))

    def received_power(self, distance: float) -> float:
        """Friis: power, in W, that arrives over the distance in metres between beams that face each other."""
        spreading = (self.wavelength / (4 * math.pi * distance)) ** 2
        return self.power * _from_db(2 * self.gain - self.losses) * spreading

    def distance_at_snr(self, snr: float) -> float:
        """Distance in metres at which the signal-to-noise ratio is the given dB."""
        return math.sqrt(self.received_power(1.0) / (self.noise_power * _from_db(snr)))


def _from_db(decibel: float) -> float:
    return float(10.0 ** (decibel / 10.0))
