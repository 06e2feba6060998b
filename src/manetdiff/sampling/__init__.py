"""How a chain of denoising steps is run: its settings, times and random numbers, and the contract
of exported models. Knows nothing of PyTorch."""

from manetdiff.sampling.config import STEPS, SamplerConfig
from manetdiff.sampling.contract import StepSettings, plain_settings
from manetdiff.sampling.draws import Draws, chain_draws, latent_draws, link_draws, padded_draws
from manetdiff.sampling.grid import EVEN_FROM, MOST_STEPS, Grid, forest_start, grid_for, time_pairs

__all__ = [
    "EVEN_FROM",
    "MOST_STEPS",
    "STEPS",
    "Draws",
    "Grid",
    "SamplerConfig",
    "StepSettings",
    "chain_draws",
    "forest_start",
    "grid_for",
    "latent_draws",
    "link_draws",
    "padded_draws",
    "plain_settings",
    "time_pairs",
]
