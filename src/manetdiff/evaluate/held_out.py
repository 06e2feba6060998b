"""Samples of a model on layouts that its training held out, as one picture."""

from __future__ import annotations

from collections.abc import Sequence

from manetdiff.data import SolvedLayout
from manetdiff.diffusion.weights import Weights
from manetdiff.formats.files import PathLike
from manetdiff.pictures.samples import draw_samples
from manetdiff.sampling import SamplerConfig
from manetdiff.training.validation import sample_topologies

PICTURED = 3  # layouts of a run


def draw_held_out(weights: Weights, layouts: Sequence[SolvedLayout], path: PathLike) -> None:
    """Raw samples on a few of the layouts that a run held out; nothing where there are none."""
    if not layouts:
        return
    chosen = layouts[:: max(1, len(layouts) // PICTURED)][:PICTURED]
    topologies = sample_topologies(weights.build(), [one.layout for one in chosen], SamplerConfig(), 0, "cpu")
    draw_samples([one.topology for one in chosen], topologies, path)
