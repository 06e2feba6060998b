"""Numbers as people write them: thousands apart, no exponents, no more digits than anyone reads."""

from __future__ import annotations

import math

SIGNIFICANT, MOST_DECIMALS = 3, 6


def number_text(value: float) -> str:
    """Three digits that count, or all of a larger number's: 0.533, 69.8, 6,043."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    least = 10.0**-MOST_DECIMALS
    if abs(value) < least:
        return f"under {least:.{MOST_DECIMALS}f}"
    decimals = SIGNIFICANT - 1 - math.floor(math.log10(abs(value)))
    text = f"{value:,.{min(max(decimals, 0), MOST_DECIMALS)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share_text(value: float) -> str:
    """A share of 0 … 1 in per cent; 100 % and 0 % only where that is exact."""
    text = f"{value:.1%}"
    if (text == "100.0%" and value < 1) or (text == "0.0%" and value > 0):
        text = f"{value:.4%}"
    return text.replace("%", " %")


def distance_text(metres: float) -> str:
    """In metres, or in kilometres from one on."""
    return f"{number_text(metres / 1000)} km" if metres >= 1000 else f"{number_text(metres)} m"


def duration_text(seconds: float) -> str:
    """In two units at most: 42 s, 3 min 20 s, 5 h 10 min, 2 d 4 h."""
    whole = round(seconds)
    for unit, length, lesser, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if whole >= length:
            rest = whole % length // part
            return f"{whole // length} {unit}" + (f" {rest} {lesser}" if rest else "")
    return f"{whole} s"
