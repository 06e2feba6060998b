"""A radio in plain words, for people who did not write its file."""

from __future__ import annotations

import math

from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.wording import distance_text, number_text


def radio_facts(radio: Radio, fleet: Fleet) -> list[tuple[str, str]]:
    """What it is and what follows from that, by name. fleet: where distances are in its spread, that spread."""
    unit = radio.unit_for(fleet)
    reach = distance_text(radio.range * unit)
    if radio.unit is None:
        reach += f": {number_text(radio.range)} times the fleet's spread, here as it was at first"
    return [
        ("longest link", reach),
        ("signal over noise there", f"{number_text(_signal_over_noise(radio, radio.range))} dB"),
        ("bandwidth", _hertz(radio.bandwidth)),
        ("power", _power(radio)),
        ("antennas a node", _antennas(radio)),
        ("beam", _beam(radio)),
        ("reception", "by the antenna that looks at the peer" if radio.reception == "sectored" else "from all around"),
        *_limits(radio),
    ]


def _antennas(radio: Radio) -> str:
    text = f"{radio.sectors}, each for {number_text(360 / radio.sectors)}°"
    if radio.boresight:
        side = "left" if radio.boresight > 0 else "right"
        text += f", the first turned {number_text(abs(math.degrees(radio.boresight)))}° to the {side}"
    return text


def _limits(radio: Radio) -> list[tuple[str, str]]:
    """What only some radios have."""
    facts = []
    if radio.min_snr is not None:
        facts.append(("needed over noise and interference", f"{number_text(radio.min_snr)} dB"))
    if radio.ceiling is not None:
        facts.append(("at most", f"{number_text(radio.ceiling)} bit/s/Hz"))
    return facts


def _signal_over_noise(radio: Radio, distance: float) -> float:
    """In dB, over a distance in the radio's unit, with no one else sending."""
    power = min(radio.p_max, radio.p_0 * distance ** (2 * radio.alpha))
    return 10 * math.log10(power / distance**2 / radio.sigma2)


def _hertz(value: float) -> str:
    for size, unit in ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")):
        if value >= size:
            return f"{number_text(value / size)} {unit}"
    return f"{number_text(value)} Hz"


def _power(radio: Radio) -> str:
    if radio.alpha == 0 or radio.p_0 >= radio.p_max:
        shortest = "" if radio.alpha == 0 else ", less below one unit of distance"
        return f"full power on every link{shortest}"
    return f"grows with distance to the power of {number_text(2 * radio.alpha)}, up to full power"


def _beam(radio: Radio) -> str:
    if radio.pattern == "cone":
        return f"a cone, {number_text(math.degrees(2 * radio.theta_max))}° wide"
    width = 2 * radio.theta_max if radio.beamwidth is None else radio.beamwidth
    lobes = f"side lobes {number_text(radio.floor_db)} dB down"
    return f"steered, {number_text(math.degrees(width))}° wide at half power, {lobes}"
