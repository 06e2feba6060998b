"""Random radios: within their bounds, as often as said, and fit for fleets of their spacing."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable

import numpy as np
import pytest

from manetdiff import Fleet, Radio, Topology, rates
from manetdiff.errors import RadioError
from manetdiff.radio import draw_spacing, drawing
from support.pairs import linkable
from support.plain_physics import plain_rates

COUNT = 2000
NUMBERS = ("unit", "p_0", "p_max", "alpha", "theta_max", "epsilon", "sigma2", "range", "bandwidth", "beamwidth")
OPTIONS = ("floor_db", "boresight", "min_snr", "ceiling")


def _drawn(seed: int, **asked: object) -> list[Radio]:
    rng = np.random.default_rng(seed)
    return [Radio.draw(rng, **asked) for _ in range(COUNT)]  # type: ignore[arg-type]


ANY = _drawn(0)
CONES, BUDGETS = _drawn(1, kind="cone", spacing=700.0), _drawn(2, kind="budget", spacing=700.0)
IN_SPREADS, IN_METRES = [one for one in ANY if one.unit is None], [one for one in ANY if one.unit == 1.0]


def _within(values: Iterable[float | None], low: float, high: float) -> bool:
    """Whether all lie within the bounds, as far as four digits say, and come near to both."""
    there = np.array([value for value in values if value is not None])
    near = 0.1 if low <= 0 or high / low < 10 else 0.3  # of the width, or of the factor
    width = high - low
    inside = there.min() >= low - 1e-3 * abs(low) and there.max() <= high + 1e-3 * abs(high)
    spans = there.min() <= max(low + near * width, low / near) and there.max() >= high - near * width
    return bool(inside and spans)


def _snr_db(radio: Radio, metres: float) -> float:
    """Of a link of that length at full power, nobody else sending."""
    assert radio.unit is not None
    return 10 * math.log10(radio.p_max / (metres / radio.unit) ** 2 / radio.sigma2)


def test_both_kinds_are_drawn_alike() -> None:
    assert len(IN_SPREADS) + len(IN_METRES) == COUNT
    assert len(IN_SPREADS) / COUNT == pytest.approx(0.5, abs=0.05)


def test_the_numbers_of_cones_are_within_their_bounds() -> None:
    for radios in (CONES, IN_SPREADS):
        assert {one.pattern for one in radios} == {"cone"}
        assert _within([one.sigma2 for one in radios], *drawing.SIGMA2)
        assert _within([one.theta_max for one in radios], *drawing.THETA_MAX)
        assert _within([one.epsilon for one in radios], *drawing.EPSILON)
        assert _within([one.alpha for one in radios], 0.0, 1.0)
    assert _within([one.range for one in IN_SPREADS], *drawing.RANGE_IN_SPREADS)
    assert _within([(one.unit or 0.0) / 700.0 for one in CONES], *drawing.UNIT)
    assert _within([(one.unit or 0.0) * one.range / 700.0 for one in CONES], *drawing.REACH)


def test_the_numbers_of_budgets_are_within_their_bounds() -> None:
    assert _within([one.bandwidth for one in BUDGETS], *drawing.BANDWIDTH)
    assert _within([one.range / 700.0 for one in BUDGETS], *drawing.REACH)
    assert _within([one.floor_db for one in BUDGETS], *drawing.FLOOR_DB)
    assert _within([one.alpha for one in BUDGETS], 0.0, 1.0)
    # What was not asked for is told by the range.
    assert _within([one.range for one in IN_METRES], 100.0 * drawing.REACH[0], 100e3 * drawing.REACH[1])
    # The narrowest and the widest beam are those of the highest and the lowest gain.
    widths = [math.sqrt(4 * math.pi / 10 ** (gain / 10)) for gain in reversed(drawing.GAIN)]
    assert _within([one.beamwidth for one in BUDGETS], *widths)


@pytest.mark.parametrize("spacing", [100.0, 1e3, 1e4, 1e5])
def test_budgets_have_powers_that_are_built(spacing: float) -> None:
    rng = np.random.default_rng(3)
    budgets = [drawing.drawn_budget(rng, spacing) for _ in range(200)]
    for name in ("frequency", "bandwidth", "power", "gain", "noise_figure", "losses"):
        low, high = getattr(drawing, name.upper())
        values = [getattr(one, name) for one in budgets]
        assert low * 0.999 <= min(values) and max(values) <= high * 1.001, name


def test_neighbours_are_heard_from_noise_limited_to_interference_limited() -> None:
    for spacing in (100.0, 700.0, 100e3):
        rng = np.random.default_rng(4)
        snr = [_snr_db(Radio.draw(rng, "budget", spacing=spacing), spacing) for _ in range(500)]
        assert min(snr) > drawing.SNR_AT_SPACING[0] - 0.05 and max(snr) < drawing.SNR_AT_SPACING[1] + 0.05
        assert np.mean(np.array(snr) < 20.0) > 0.05  # noise counts
        assert np.mean(np.array(snr) > 35.0) > 0.1  # interference alone does


def test_antennas_and_options_are_as_often_there_as_said() -> None:
    for radios in (CONES, BUDGETS, IN_SPREADS, IN_METRES):
        count = len(radios)
        assert {one.sectors for one in radios} == set(range(2, 13))
        assert all(abs(one.boresight) <= 1.001 * math.pi / one.sectors for one in radios)
        assert sum(one.boresight != 0.0 for one in radios) / count == pytest.approx(0.5, abs=0.05)
        assert sum(one.ceiling is not None for one in radios) / count == pytest.approx(0.4, abs=0.05)
        assert sum(one.min_snr is not None for one in radios) / count == pytest.approx(0.3, abs=0.05)
        assert sum(one.reception == "omni" for one in radios) / count == pytest.approx(0.05, abs=0.025)
        assert _within([one.ceiling for one in radios], *drawing.CEILING)
    assert sum(one.pattern == "cone" for one in BUDGETS) / COUNT == pytest.approx(0.15, abs=0.03)
    assert sum(one.alpha == 0.0 for one in BUDGETS) / COUNT == pytest.approx(0.65, abs=0.05)


def test_a_pair_within_range_is_a_candidate_whatever_the_least_snr() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        radio = Radio.draw(rng, spacing=draw_spacing(rng))
        assert radio.unit is not None
        longest = radio.range * radio.unit
        pair = Fleet([[0.0, 0.0], [0.99999 * longest, 0.0]], [0.0, 0.0])
        assert linkable(pair, radio)[0, 1]


def test_rates_under_drawn_radios_agree_with_the_plain_transcription() -> None:
    rng = np.random.default_rng(8)
    for turn in range(60):
        spacing = draw_spacing(rng)
        radio = Radio.draw(rng, spacing=spacing)
        arcs = [rng.uniform(-6, 6, (rng.integers(0, 2), 2)) for _ in range(6)] if turn % 2 else None
        fleet = Fleet(spacing * rng.normal(size=(6, 2)), rng.uniform(-3, 3, 6), blocked=arcs)
        topology = Topology(np.argwhere(np.triu(rng.random((6, 6)) < 0.6, 1)), rng.integers(0, 2, 6))
        expected = plain_rates(topology, fleet, radio)
        for (i, j), pair in zip(topology.links.tolist(), rates(topology, fleet, radio), strict=True):
            assert pair == pytest.approx([expected[i, j], expected[j, i]], rel=1e-9, abs=1e-12)


def test_the_same_seed_draws_the_same_radio() -> None:
    for kind in ("cone", "budget", None):
        for spacing in (None, 250.0):
            one, same, other = (Radio.draw(np.random.default_rng(s), kind, spacing=spacing) for s in (7, 7, 8))
            assert one == same
            assert one != other


def test_four_digits_survive_json_and_float32() -> None:
    for radio in (*ANY[:300], *CONES[:300]):
        assert Radio.from_dict(json.loads(json.dumps(radio.to_dict()))) == radio
        short = {
            name: float(f"{np.float32(getattr(radio, name)):.4g}")
            for name in (*NUMBERS, *OPTIONS)
            if getattr(radio, name) is not None
        }
        assert dataclasses.replace(radio, **short) == radio  # type: ignore[arg-type]


def test_spacings_are_drawn_evenly_by_factor() -> None:
    rng = np.random.default_rng(6)
    spacings = np.array([draw_spacing(rng) for _ in range(COUNT)])
    assert _within(spacings.tolist(), *drawing.SPACING)
    for decade in (100.0, 1e3, 1e4):
        assert np.mean((spacings >= decade) & (spacings < 10 * decade)) == pytest.approx(1 / 3, abs=0.04)


def test_what_cannot_be_drawn_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(RadioError, match="kind must be one of cone, budget, not"):
        Radio.draw(rng, "laser")  # type: ignore[arg-type]
    with pytest.raises(RadioError, match="spacing must be a number from 10 to 1e"):
        Radio.draw(rng, spacing=0.0)
