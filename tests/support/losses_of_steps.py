"""A program of its own: some steps of a tiny run on one process or several, and the loss of each as JSON.

python losses_of_steps.py DATA RUN KIND PROCESSES UNTIL LOSSES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

from manetdiff.training import loop
from manetdiff.training.corpus import Corpus, read_corpus
from manetdiff.training.loop import Trainer, TrainingNews
from manetdiff.training.packed import PackedCorpus, read_packed
from manetdiff.training.plan import Plan, make_plan
from manetdiff.training.run import make_fabric


def plan_of(kind: str) -> Plan:
    """Batches that two processes cannot share evenly; every term of the loss is large enough to be seen."""
    common: dict[str, Any] = {
        "width": 8,
        "blocks": 1,
        "tokens": 2,
        "epochs": 50,
        "rate": 1e-2,
        "warmup": 0,
        "validate_every": 1000,
    }
    if kind == "sparse":
        losses = {"sector": 1.0, "odd": 1.0, "consistency": 0.5}
        return make_plan("sparse", "any-fleet", losses, {"forest": 0.3}, batch=1500, **common)
    return make_plan("acam", "fast", {"sector": 1.0, "cosine": 1.0, "odd": 1.0}, batch=8, mix={6: 7, 9: 1}, **common)


def main(data: str, folder: str, kind: str, processes: str, until: str, losses: str) -> None:
    torch.set_num_threads(1)
    loop.LOG_EVERY = 1
    fabric = make_fabric("32", "cpu", int(processes))
    fabric.launch()
    corpus: Corpus | PackedCorpus
    corpus = read_packed([Path(data)], workers=1) if kind == "sparse" else read_corpus([Path(data)], workers=1)
    told: dict[int, dict[str, float]] = {}

    def note(news: TrainingNews) -> None:
        if "loss" in news.figures:
            told[news.step] = {name: news.figures[name] for name in news.figures if name != "graphs_per_second"}

    Trainer(plan_of(kind), corpus, Path(folder), fabric).train(note, until=int(until))
    if fabric.is_global_zero:
        Path(losses).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
