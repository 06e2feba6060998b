"""Radios at random: a distribution to train and to test on, wide enough to hold the radios that are built.

All numbers have four digits: they are the same again after a trip through JSON, and through float32 and four digits.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, get_args

import numpy as np

from manetdiff.checks import check_choice, check_within
from manetdiff.errors import RadioError
from manetdiff.radio.link_budget import LinkBudget
from manetdiff.radio.patterns import Pattern
from manetdiff.radio.radio import Radio, Reception

Kind = Literal["cone", "budget"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Range = tuple[float, float]

# Median distance of a node to its nearest neighbour, in metres: what is drawn, and what can be asked for.
SPACING: Range = (100.0, 100e3)
ANY_SPACING: Range = (10.0, 1e6)
# The longest link, in spacings: nodes have neighbours, but not everybody is one.
REACH: Range = (1.5, 6.0)

# What each radio has, or has in a share of all draws.
SECTORS = (2, 12)
TURNED, CAPPED, CUT_OFF, OMNI = 0.5, 0.4, 0.3, 0.05
CEILING: Range = (6.0, 10.0)
FLOOR_DB: Range = (10.0, 30.0)

# Cones. Distances are in units of some spacings, or, where no spacing is known, of the fleet's spread.
UNIT: Range = (1.0, 3.0)
RANGE_IN_SPREADS: Range = (1.5, 4.0)
SIGMA2: Range = (0.02, 2.0)
THETA_MAX: Range = (math.pi / 24, math.pi / 3)
EPSILON: Range = (0.005, 0.2)
# A least SNR lies so many dB below that of the longest link: noise alone never cuts a link off, interference may.
BELOW: Range = (0.1, 10.0)

# Link budgets, in Hz, W, dBi and dB.
FREQUENCY: Range = (0.9e9, 60e9)
BANDWIDTH: Range = (5e6, 400e6)
GAIN: Range = (6.0, 30.0)
POWER: Range = (1e-3, 100.0)
NOISE_FIGURE: Range = (2.0, 9.0)
LOSSES: Range = (0.0, 6.0)
# SNR at full power of a link as long as the spacing: from noise-limited to interference-limited.
SNR_AT_SPACING: Range = (8.0, 45.0)
MIN_SNR: Range = (0.0, 4.0)
CONE_BEAMS, CONTROLLED = 0.15, 0.35
# Not every gain carries every bandwidth over every distance with a power that is built: of so many draws the first that
# does, or, where the spacing is far from all that is built, the one that comes nearest.
TRIES = 100


def draw_spacing(rng: np.random.Generator) -> float:
    """A distance between neighbours, in metres, to draw a radio and a fleet for."""
    return _four_digits(_even_by_factor(rng, SPACING))


def draw_radio(rng: np.random.Generator, kind: Kind | None = None, *, spacing: float | None = None) -> Radio:
    """See `Radio.draw`."""
    if kind is not None:
        check_choice(RadioError, "kind", kind, KINDS)
    if spacing is not None:
        check_within(RadioError, "spacing", spacing, *ANY_SPACING)
    if (kind or KINDS[int(rng.integers(len(KINDS)))]) == "cone":
        radio = _cone(rng, spacing)
    else:
        radio = _of_a_budget(rng, draw_spacing(rng) if spacing is None else spacing)
    return dataclasses.replace(radio, **_rounded(vars(radio)))


def drawn_budget(rng: np.random.Generator, spacing: float) -> LinkBudget:
    """A link budget for neighbours at that distance, in metres, with a power that is built."""
    tried = [_any_budget(rng, spacing)]
    while _beyond(tried[-1].power) > 1.0 and len(tried) < TRIES:
        tried.append(_any_budget(rng, spacing))
    return min(tried, key=lambda budget: _beyond(budget.power))


def _beyond(power: float) -> float:
    """By which factor a power is less or more than is built; at most 1 where it is not."""
    return max(POWER[0] / power, power / POWER[1])


def _cone(rng: np.random.Generator, spacing: float | None) -> Radio:
    unit = _even_by_factor(rng, UNIT)
    radio = Radio(
        unit=None if spacing is None else spacing * unit,
        alpha=rng.uniform(),
        theta_max=_even_by_factor(rng, THETA_MAX),
        epsilon=_even_by_factor(rng, EPSILON),
        sigma2=_even_by_factor(rng, SIGMA2),
        range=_even_by_factor(rng, RANGE_IN_SPREADS if spacing is None else (REACH[0] / unit, REACH[1] / unit)),
        **_antennas(rng),
    )
    at_range = min(radio.p_max, radio.p_0 * radio.range ** (2 * radio.alpha)) / radio.range**2 / radio.sigma2
    below = rng.uniform(*BELOW)
    min_snr = 10 * math.log10(at_range) - below if rng.uniform() < CUT_OFF else None
    return dataclasses.replace(radio, min_snr=min_snr)


def _of_a_budget(rng: np.random.Generator, spacing: float) -> Radio:
    budget = drawn_budget(rng, spacing)
    min_snr = _four_digits(rng.uniform(*MIN_SNR))
    # A little short of where the SNR falls to its least: rounding must not cut off the longest links.
    natural = 0.99 * budget.distance_at_snr(min_snr)
    alpha = rng.uniform()
    pattern: Pattern = "cone" if rng.uniform() < CONE_BEAMS else "parabolic"
    radio = Radio.from_link_budget(
        **vars(budget),
        min_snr=min_snr,
        cutoff=bool(rng.uniform() < CUT_OFF),
        range=min(natural, spacing * _even_by_factor(rng, REACH)),
        alpha=alpha if rng.uniform() < CONTROLLED else 0.0,
        floor_db=rng.uniform(*FLOOR_DB),
        pattern=pattern,
        **_antennas(rng),
    )
    return dataclasses.replace(radio, theta_max=min(math.pi, budget.beamwidth / 2)) if pattern == "cone" else radio


def _any_budget(rng: np.random.Generator, spacing: float) -> LinkBudget:
    """One whose power, plausible or not, gives the SNR that is drawn for neighbours."""
    of_one_watt = LinkBudget(
        frequency=_four_digits(_even_by_factor(rng, FREQUENCY)),
        bandwidth=_four_digits(_even_by_factor(rng, BANDWIDTH)),
        power=1.0,
        gain=_four_digits(rng.uniform(*GAIN)),
        noise_figure=_four_digits(rng.uniform(*NOISE_FIGURE)),
        losses=_four_digits(rng.uniform(*LOSSES)),
    )
    snr = 10.0 ** (rng.uniform(*SNR_AT_SPACING) / 10.0)
    needed = snr * of_one_watt.noise_power / of_one_watt.received_power(spacing)
    return dataclasses.replace(of_one_watt, power=_four_digits(needed))


def _antennas(rng: np.random.Generator) -> dict[str, Any]:
    """What both kinds have alike."""
    sectors = int(rng.integers(SECTORS[0], SECTORS[1] + 1))
    reception: Reception = "omni" if rng.uniform() < OMNI else "sectored"
    # Half a sector either way: a whole one would only count the sectors otherwise.
    turn = rng.uniform(-math.pi / sectors, math.pi / sectors)
    ceiling = rng.uniform(*CEILING)
    return {
        "sectors": sectors,
        "reception": reception,
        "boresight": turn if rng.uniform() < TURNED else 0.0,
        "ceiling": ceiling if rng.uniform() < CAPPED else None,
    }


def _even_by_factor(rng: np.random.Generator, within: Range) -> float:
    """Evenly by factors, not by differences: as many between 1 and 10 as between 10 and 100."""
    low, high = within
    return float(low * (high / low) ** rng.uniform())


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _four_digits(value) if isinstance(value, float) else value for name, value in values.items()}


def _four_digits(value: float) -> float:
    return float(f"{value:.4g}")
