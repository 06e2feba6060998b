"""A network's settings: they survive their dictionary, and bad ones are refused by name."""

from __future__ import annotations

import pytest

from manetdiff.errors import ModelError
from manetdiff.model.config import ModelConfig
from support.small_networks import NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_settings_survive_their_dictionary(name: str) -> None:
    assert ModelConfig.from_dict(NETWORKS[name].to_dict()) == NETWORKS[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "oracle"),
        ("modulation", "film"),
        ("similarity", "euclid"),
        ("reads", "edges"),
        ("width", 0),
        ("blocks", -1),
        ("tokens", 2.0),
        ("sectors", True),
        ("latent", "8"),
        ("domain_features", 1),
    ],
)
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=name):
        ModelConfig.from_dict({name: value})


def test_unknown_settings_are_named_and_missing_ones_take_their_default() -> None:
    with pytest.raises(ModelError, match="'colour'"):
        ModelConfig.from_dict({"colour": 1})
    assert ModelConfig.from_dict({"tokens": 3}) == ModelConfig(tokens=3)
