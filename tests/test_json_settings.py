"""Settings in files: what is written is read back, and what makes no sense is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from manetdiff.errors import RadioError
from manetdiff.json_settings import DEEPEST, JsonSettings, parsed_json
from support.odd_values import nested


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


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 10**5, 10**6])
def test_json_that_is_nested_too_deeply_is_refused_before_anything_walks_it(opening: str, depth: int) -> None:
    closing = "".join({"[": "]", "{": "}"}[letter] for letter in opening[::-1] if letter in "[{")
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed_json(opening * depth + "0" + closing * depth)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON: Expecting property name"),
        (b"\xff\xfe", "is not JSON"),
        (b"\xff{}", "not UTF-8"),
        ("1" * 5000, "a number of too many digits"),
    ],
)
def test_what_is_no_json_is_one_line(content: str | bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        parsed_json(content)
    assert "\n" not in str(caught.value)


def test_json_as_deep_as_files_of_ours_is_read() -> None:
    assert parsed_json(b'{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    assert parsed_json(str(nested(DEEPEST))) == nested(DEEPEST)
