"""Trained weights: where they are, and what they say of themselves. No PyTorch needed."""

from manetdiff.weights.finder import DEFAULT, PAPER, RUNTIME_FILE, WEIGHTS_FILE, find, known
from manetdiff.weights.header import Header, read_header

__all__ = ["DEFAULT", "PAPER", "RUNTIME_FILE", "WEIGHTS_FILE", "Header", "find", "known", "read_header"]
