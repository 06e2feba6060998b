"""Solved layouts: making them, storing them, reading them back; and the packaged benchmark sets."""

from manetdiff.data.benchmark import BENCHMARKS, Benchmark, benchmark_dataset, load_benchmark, make_benchmark
from manetdiff.data.dataset import Dataset, LayoutArrays, read_dataset, read_shard
from manetdiff.data.folder import Progress, generate
from manetdiff.data.layouts import SolvedLayout, make_layouts
from manetdiff.data.settings import BENCHMARK, TRAINING, Settings

__all__ = [
    "BENCHMARK",
    "BENCHMARKS",
    "TRAINING",
    "Benchmark",
    "Dataset",
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
