"""The losses on candidate links, on a case small enough for pen and paper."""

from __future__ import annotations

import math

import pytest
import torch

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import ArcGraphs, ArcPrediction
from manetdiff.model.losses import LossWeights
from manetdiff.model.sparse_losses import sparse_losses
from support.arc_samples import in_a_row

# Three nodes in a line, all looking along it: of node 0 both others are in front, of node 2 both behind.
LINE = Layout(Fleet([[0.0, 0.0], [1.0, 0.0], [2.1, 0.0]], [0.0, 0.0, 0.0]), Radio(unit=1.0))
ALL = LossWeights(edges=1.0, parity=1.0, sector=1.0, cosine=0.0, odd=1.0)


def _log_odds(*shares: float) -> torch.Tensor:
    return torch.tensor([math.log(share / (1 - share)) for share in shares], dtype=torch.float64)


def test_the_known_answer() -> None:
    assert LINE.arcs.links.tolist() == [[0, 1], [0, 2], [1, 2]]
    prediction = ArcPrediction(_log_odds(0.8, 0.6, 0.5), _log_odds(0.9, 0.3, 0.5))
    clean = ArcGraphs(torch.tensor([1.0, 0.0, 1.0]).double(), torch.tensor([1.0, 0.0, 1.0]).double())
    terms = {name: term.item() for name, term in sparse_losses(prediction, clean, in_a_row([LINE]), ALL).items()}
    assert terms == pytest.approx(
        {
            "edges": -(math.log(0.8) + math.log(0.4) + math.log(0.5)) / 3,
            "parity": -(math.log(0.9) + math.log(0.7) + math.log(0.5)) / 3,
            # Antenna 0 of node 0 has 0.8 + 0.6, antenna 2 of node 2 has 0.6 + 0.5; node 1 has one link an antenna.
            "sector": (0.4 + 0.1) / 3,
            # Links as likely inside one parity as 1 - |p_i - p_j| says.
            "odd": (0.8 * 0.4 + 0.6 * 0.6 + 0.5 * 0.8) / (3 + 1.9),
        }
    )


def test_a_node_counts_the_same_in_any_fleet_and_terms_can_be_switched_off() -> None:
    prediction = ArcPrediction(_log_odds(0.8, 0.6, 0.5), _log_odds(0.9, 0.3, 0.5))
    clean = ArcGraphs(torch.tensor([1.0, 0.0, 1.0]).double(), torch.tensor([1.0, 0.0, 1.0]).double())
    once = sparse_losses(prediction, clean, in_a_row([LINE]), ALL)
    twice_prediction = ArcPrediction(*(part.repeat(2) for part in prediction))
    twice = sparse_losses(twice_prediction, ArcGraphs(*(part.repeat(2) for part in clean)), in_a_row([LINE, LINE]), ALL)
    assert {name: term.item() for name, term in twice.items()} == pytest.approx(
        {name: term.item() for name, term in once.items()}
    )
    some = sparse_losses(prediction, clean, in_a_row([LINE]), LossWeights.cross_entropy_only())
    assert set(some) == {"edges", "parity"}
