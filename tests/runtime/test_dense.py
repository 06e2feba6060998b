"""Lists over every pair as the matrices of a dense network, and back."""

from __future__ import annotations

import numpy as np
import pytest

from manetdiff.runtime.dense import DenseForm, as_lists, as_matrices, every_pair


@pytest.mark.parametrize("n", [2, 3, 7, 64])
def test_a_matrix_has_each_pair_at_both_its_places_and_nothing_on_the_diagonal(n: int) -> None:
    pairs = every_pair(n)
    lists = np.random.default_rng(n).random((3, len(pairs)), dtype=np.float32)
    matrices = as_matrices(lists)
    assert matrices.shape == (3, n, n) and matrices.dtype == np.float32
    for (i, j), numbers in zip(pairs.tolist(), lists.T, strict=True):
        assert i < j
        assert np.array_equal(matrices[:, i, j], numbers) and np.array_equal(matrices[:, j, i], numbers)
    assert not matrices[:, np.arange(n), np.arange(n)].any()
    assert np.array_equal(as_lists(matrices), lists)


def test_only_what_is_about_pairs_changes_its_shape_and_its_name() -> None:
    pair, node = np.ones((1, 3), dtype=np.float32), np.ones((1, 3), dtype=np.float32)
    taken = DenseForm().taken({"links": pair, "parity": node, "guide": pair})
    assert {name: array.shape for name, array in taken.items()} == {
        "edges": (1, 3, 3),
        "parity": (1, 3),
        "guide": (1, 3, 3),
    }
    given = DenseForm().given({"edges_after": taken["edges"], "parity_after": node})
    assert np.array_equal(given["links_after"], pair) and given["parity_after"] is node
