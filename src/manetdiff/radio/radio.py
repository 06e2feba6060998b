"""The radio: every physical parameter, with the defaults that the benchmark sets use."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from manetdiff.checks import check_choice, check_flag, check_whole, check_within
from manetdiff.errors import RadioError
from manetdiff.fleet import Fleet
from manetdiff.json_settings import JsonSettings
from manetdiff.radio.bounds import LINK_BUDGET, OPTIONAL, RADIO, check_bounds
from manetdiff.radio.link_budget import LinkBudget
from manetdiff.radio.patterns import Pattern

if TYPE_CHECKING:
    from manetdiff.radio.drawing import Kind

Reception = Literal["sectored", "omni"]

# Options that the first stored radios do not know.
LATER = ("boresight", "min_snr", "ceiling")


@dataclass(frozen=True)
class Radio(JsonSettings):
    """Physical parameters of all nodes.

    A link over the distance d is sent with `R = min(p_max, p_0 · d^(2·alpha))` and received with `P = R / d²`.

    - unit: metres per unit of distance; None measures distances in the fleet's own spread, without
      nodes far out (`Fleet.scale`).
    - p_0, p_max: power at distance 1 and at most.
    - alpha: how much of the path loss the power control makes up for (0: none, 1: all of it).
    - theta_max: half the opening of a transmitted beam, in radians (pattern 'cone').
    - epsilon: softens interference at very short distance, in units².
    - sigma2: noise power σ².
    - range: longest link, in units.
    - sectors: antennas per node, Q.
    - bandwidth: in hertz; rates come in Mbit/s.
    - reception: 'sectored' (a receiver hears the sector that points at its peer) or 'omni' (it hears everything).
    - pattern: 'cone' (all or nothing) or 'parabolic' (a steered beam that falls off by 12·(φ/beamwidth)² dB); see
      manetdiff.radio.patterns.
    - beamwidth: half-power beam width of the parabolic pattern, in radians; None takes 2·theta_max.
    - floor_db: side lobes of the parabolic pattern, in dB below the peak.
    - boresight: where sector 0 looks, in radians counter-clockwise from the nose.
    - min_snr: in dB; a direction whose signal over noise and interference is below carries nothing. None: it always
      carries something.
    - ceiling: the most that a link carries, in bit/s/Hz, as modems have one; None: Shannon's bound alone.
    """

    ERROR = RadioError
    WHAT = "radio"

    unit: float | None = None
    p_0: float = 1.0
    p_max: float = 1.0
    alpha: float = 0.5
    theta_max: float = math.pi / 8
    epsilon: float = 0.05
    sigma2: float = 0.45
    range: float = 2.5
    sectors: int = 4
    bandwidth: float = 1e6
    reception: Reception = "sectored"
    pattern: Pattern = "cone"
    beamwidth: float | None = None
    floor_db: float = 20.0
    boresight: float = 0.0
    min_snr: float | None = None
    ceiling: float | None = None

    def __post_init__(self) -> None:
        check_bounds("radio", RADIO, {name: getattr(self, name) for name in RADIO}, OPTIONAL)
        check_whole(RadioError, "radio: sectors", self.sectors, 1, 64)
        check_choice(RadioError, "radio: reception", self.reception, get_args(Reception))
        check_choice(RadioError, "radio: pattern", self.pattern, get_args(Pattern))
        if self.pattern != "cone" and self.beamwidth is None:
            name = "radio: beamwidth (by default twice theta_max)"
            check_within(RadioError, name, 2 * self.theta_max, *RADIO["beamwidth"])

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready. Options that came later are there only where they are set: what was stored before
        is then equal to the same radio today, and a radio without them can be read by what was written before."""
        values = super().to_dict()
        return {name: value for name, value in values.items() if name not in LATER or value != getattr(Radio, name)}

    @classmethod
    def from_link_budget(
        cls,
        frequency: float,
        bandwidth: float,
        power: float,
        gain: float,
        noise_figure: float,
        *,
        losses: float = 0.0,
        temperature: float = 290.0,
        min_snr: float = 3.0,
        cutoff: bool = False,
        range: float | None = None,
        alpha: float = 0.0,
        beamwidth: float | None = None,
        floor_db: float = 20.0,
        pattern: Pattern = "parabolic",
        reception: Reception = "sectored",
        sectors: int = 4,
        boresight: float = 0.0,
        ceiling: float | None = None,
    ) -> Radio:
        """A radio in metres from real numbers.

        frequency and bandwidth in Hz; power (at the antenna port) in W; gain of the steered beam at either end in dBi;
        noise_figure, losses and min_snr in dB; temperature in K; range in metres (default: where the SNR at full
        power has fallen to min_snr); beamwidth in radians (default: what a beam of that gain has).
        min_snr alone only sets the range: under interference a link carries what Shannon's bound leaves of it. With
        cutoff it is the radio's own min_snr, too: a direction that interference pushes below it carries nothing.
        boresight in radians and ceiling in bit/s/Hz: as of the radio.
        With alpha = 0 every link is sent at full power; above 0 a link of length d uses (d / range)^(2·alpha) of it.
        The received power is exactly Friis' `power · gain² · (wavelength / 4πd)²`.
        """
        check_bounds("link budget", LINK_BUDGET, {"min_snr": min_snr})
        check_flag(RadioError, "link budget: cutoff", cutoff)
        check_bounds("radio", RADIO, {"alpha": alpha, "range": range}, ("range",))
        budget = LinkBudget(frequency, bandwidth, power, gain, noise_figure, losses, temperature)
        reach = budget.distance_at_snr(min_snr) if range is None else range
        check_within(RadioError, "link budget: the range that follows from it", reach, *RADIO["range"])
        at_one_metre = budget.received_power(1.0)
        return cls(
            unit=1.0,
            p_0=at_one_metre / reach ** (2 * alpha),
            p_max=at_one_metre,
            alpha=alpha,
            epsilon=0.0,
            sigma2=budget.noise_power,
            range=reach,
            sectors=sectors,
            bandwidth=bandwidth,
            reception=reception,
            pattern=pattern,
            beamwidth=budget.beamwidth if beamwidth is None else beamwidth,
            floor_db=floor_db,
            boresight=boresight,
            min_snr=min_snr if cutoff else None,
            ceiling=ceiling,
        )

    @classmethod
    def draw(cls, rng: np.random.Generator, kind: Kind | None = None, *, spacing: float | None = None) -> Radio:
        """A random radio, of a distribution to train and to test on; `manetdiff.radio.drawing` has its bounds.

        - kind: 'cone' (all-or-nothing beams and abstract powers) or 'budget' (a link budget, in metres); None: either.
        - spacing: distance between neighbours, in metres, that the radio is for: its range is 1.5 to 6 times that.
          Without it a cone measures distances in the fleet's own spread, and a budget is for a spacing that is drawn
          between 100 m and 100 km, which its range tells.

        A fleet drawn with `spacing` and `within=radio.range * radio.unit` is connected under it.
        """
        from manetdiff.radio.drawing import draw_radio  # which makes radios, and so cannot be known before them

        return draw_radio(rng, kind, spacing=spacing)

    def omnidirectional(self) -> Radio:
        """The same radio with one antenna that sends and hears all around: the omnidirectional protocol's physics."""
        return dataclasses.replace(self, sectors=1, theta_max=math.pi, reception="omni", pattern="cone")

    @property
    def least_snr(self) -> float:
        """min_snr as a ratio; 0 where there is none."""
        return 0.0 if self.min_snr is None else float(10.0 ** (self.min_snr / 10.0))

    @property
    def most_states(self) -> float:
        """2^ceiling, which `1 + SNR` counts up to; infinite where there is no ceiling."""
        return math.inf if self.ceiling is None else 2.0**self.ceiling

    def unit_for(self, fleet: Fleet) -> float:
        """Metres per unit of distance for this fleet."""
        return fleet.scale if self.unit is None else self.unit
