"""How a chain of denoising steps is run: its settings, its times and its random numbers. Knows nothing of PyTorch."""

from manetdiff.sampling.config import STEPS, SamplerConfig
from manetdiff.sampling.draws import Draws, chain_draws, padded_draws
from manetdiff.sampling.grid import EVEN_FROM, Grid, grid_for, time_pairs

__all__ = [
    "EVEN_FROM",
    "STEPS",
    "Draws",
    "Grid",
    "SamplerConfig",
    "chain_draws",
    "grid_for",
    "padded_draws",
    "time_pairs",
]
