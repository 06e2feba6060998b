"""How sure a mean is: layouts, and training seeds where there are several, drawn again with replacement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

RESAMPLES = 2_000
CONFIDENCE = 0.95


def resampled_means(values: npt.ArrayLike, over: npt.ArrayLike | None = None) -> FloatArray:
    """RESAMPLES means of the values, or of their sums as shares of another's on the same layouts.

    - values: (layouts,), or (seeds, layouts).
    - over: (layouts,).

    The same number of layouts is always drawn by the same numbers: two results are paired layout by layout, and the
    same values give the same means.
    """
    top = np.atleast_2d(np.asarray(values, dtype=np.float64))
    seeds, layouts = top.shape
    generator = np.random.default_rng(0)
    picks = generator.integers(0, layouts, (RESAMPLES, layouts))
    means: FloatArray = np.stack([row[picks].mean(1) for row in top])
    if seeds > 1:
        chosen = generator.integers(0, seeds, (seeds, RESAMPLES))
        means = np.take_along_axis(means, chosen, axis=0)
    means = means.mean(0)
    return means if over is None else means / np.asarray(over, dtype=np.float64)[picks].mean(1)


def interval(means: FloatArray) -> tuple[float, float]:
    """What holds the middle 95 % of them."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap(values: npt.ArrayLike, over: npt.ArrayLike | None = None) -> tuple[float, float, float]:
    """The mean, or the share of another's, and its confidence interval; arguments as for resampled_means."""
    mean = np.asarray(values, dtype=np.float64).mean()
    if over is not None:
        mean /= np.asarray(over, dtype=np.float64).mean()
    return float(mean), *interval(resampled_means(values, over))
