"""Settings in files: what is written is read back, and what makes no sense is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from manetdiff.errors import RadioError
from manetdiff.json_settings import JsonSettings


@dataclass(frozen=True)
class Horn(JsonSettings):
    ERROR = RadioError
    WHAT = "horn"

    gain: float
    sides: int = 4


def test_what_is_written_is_read_back() -> None:
    assert Horn.from_dict(Horn(3.0, 6).to_dict()) == Horn(3.0, 6)
    assert Horn.from_dict({"gain": 2.0}) == Horn(2.0)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"gain": 1.0, "side": 3}, "horn: unknown parameter 'side'; known are gain, sides"),
        ({"sides": 3}, "horn: the parameter 'gain' is missing"),
        (None, "horn: must be a set of named values, not None"),
        ([1.0], "horn: must be a set of named values"),
    ],
)
def test_what_makes_no_sense_is_named(values: Any, said: str) -> None:
    with pytest.raises(RadioError) as caught:
        Horn.from_dict(values)
    assert str(caught.value).startswith(said)
