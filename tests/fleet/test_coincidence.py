"""Two nodes in one place are found, in any number of dimensions, and the search does not grow with n²."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.errors import FleetError
from manetdiff.fleet import Fleet
from manetdiff.fleet.coincidence import CLOSEST, coincident_pair


def too_close(positions: npt.NDArray[np.float64]) -> Any:
    """(n, n), by the definition."""
    distance = np.hypot.reduce(positions[:, None] - positions[None], axis=-1)
    return (distance <= CLOSEST * np.ptp(positions, axis=0).max()) & ~np.eye(len(positions), dtype=bool)


@given(
    dimensions=st.sampled_from([2, 3]),
    nodes=st.integers(2, 30),
    pitch=st.sampled_from([0.3, 0.5, 0.7, 0.9999, 1.0001, 1.5]),
    seed=st.integers(0, 2**32),
)
def test_the_pair_is_one_that_the_definition_calls_too_close(
    dimensions: int, nodes: int, pitch: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    crowd = rng.integers(0, 6, size=(nodes, dimensions)) * pitch * CLOSEST
    crowd[:, rng.integers(dimensions)] = crowd[0, 0]  # all on one line or plane
    positions = np.vstack([crowd, np.ones(dimensions)])
    wanted, pair = too_close(positions), coincident_pair(positions)
    assert (pair is not None) == wanted.any()
    assert pair is None or (wanted[pair] and pair[0] < pair[1])


@pytest.mark.parametrize("axis", [0, 1])
def test_many_nodes_abreast_are_checked_in_no_time(axis: int) -> None:
    # Of every pair looked at one by one, this would be twenty billion.
    positions = np.zeros((200_000, 2))
    positions[:, axis] = np.arange(len(positions))
    assert coincident_pair(positions) is None
    positions[-1] = positions[17]
    assert coincident_pair(positions) == (17, len(positions) - 1)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1.0, 1e300])
def test_scale_has_no_say(scale: float) -> None:
    corners = scale * np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert coincident_pair(corners) is None
    assert coincident_pair(np.vstack([corners, corners[1]])) == (1, 4)


def test_all_in_one_place() -> None:
    with pytest.raises(FleetError, match="nodes '0' and '1' are at the same place"):
        Fleet(np.full((5, 2), 3.0), np.zeros(5))
