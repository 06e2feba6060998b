"""Solved layouts: making them, storing them, reading them back; and the packaged benchmark sets."""

from manetdiff.data.benchmark import (
    BENCHMARKS,
    DEFAULT_SETS,
    Benchmark,
    benchmark_dataset,
    load_benchmark,
    make_benchmark,
)
from manetdiff.data.dataset import Dataset, LayoutArrays, read_dataset, read_shard
from manetdiff.data.folder import Progress, generate
from manetdiff.data.layouts import SolvedLayout, make_layouts
from manetdiff.data.radios import RANDOM, FieldedRadio
from manetdiff.data.settings import BENCHMARK, TRAINING, Settings

__all__ = [
    "BENCHMARK",
    "BENCHMARKS",
    "DEFAULT_SETS",
    "RANDOM",
    "TRAINING",
    "Benchmark",
    "Dataset",
    "FieldedRadio",
    "LayoutArrays",
    "Progress",
    "Settings",
    "SolvedLayout",
    "benchmark_dataset",
    "generate",
    "load_benchmark",
    "make_benchmark",
    "make_layouts",
    "read_dataset",
    "read_shard",
]
