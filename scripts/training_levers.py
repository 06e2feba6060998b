"""What consistency, a forest to start from and reward each gain over plain training, in the same processor time.

All go on from the packaged weights, on the same layouts (16 nodes under the default radio, 8 to 32 under random ones),
with one core and a constant rate, so that none is cut short. They are judged by the runtime, on layouts of the
benchmark sets, which none has seen: raw samples of ten steps, and what two steps from a spanning forest are worth
corrected, without a search.

    python scripts/training_levers.py --out runs/levers --minutes 20
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import manetdiff as md
from manetdiff.data import RANDOM, Settings, SolvedLayout, generate, load_benchmark
from manetdiff.data.settings import INVERSE
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import DisconnectedWarning
from manetdiff.export.write import exported
from manetdiff.files import write_whole
from manetdiff.runtime.model import Model
from manetdiff.training.loop import Trainer
from manetdiff.training.packed import read_packed
from manetdiff.training.plan import make_plan
from manetdiff.training.reward import RewardRecipe, reward
from manetdiff.training.run import make_fabric
from manetdiff.weights import DEFAULT

SETS = {
    "default": Settings((16,), 1500, 301, search_moves=40_000),
    "random": Settings(
        tuple(range(8, 33)), 1500, 302, size_odds=INVERSE, radio=RANDOM, moves_a_node=1000, shard_size=250
    ),
}
# Of a step on a processor: a few dozen graphs, and a rate that does not undo what larger batches have learned.
ARCS, RATE, AVERAGED = 8_192, 1e-4, 0.99
PLAIN = "plain"
LEVERS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "consistency": {"losses": {"consistency": 0.5}},
    "forest": {"noise": {"forest": 0.3}},
}
REWARD = RewardRecipe(layouts=12, samples=8, largest=32, rate=5e-5, ema=AVERAGED)
JUDGED = {"bench16": 300, "bench32": 100, "radios": 240}


def main() -> None:
    """Train each, and judge all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the layouts and weights")
    parser.add_argument("--minutes", type=float, default=20.0, help="of the processor for each")
    parser.add_argument("--only", nargs="+", choices=[*LEVERS, "reward"], default=[*LEVERS, "reward"])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", DisconnectedWarning)  # counted below
    folders = [asked.out / name for name in SETS]
    for folder, settings in zip(folders, SETS.values(), strict=True):
        generate(settings, folder, workers=1)
    print("| trained on by | steps | set | raw: T | connected | valid | two steps, corrected: T |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    judge("nothing", 0, find_weights(DEFAULT))
    for name in asked.only:
        made, steps = (rewarded if name == "reward" else trained)(name, folders, asked.out / name, 60 * asked.minutes)
        write_whole(asked.out / f"{name}.safetensors", made.to_bytes())
        judge(name, steps, made)


def trained(name: str, folders: list[Path], out: Path, seconds: float) -> tuple[Weights, int]:
    """By the loss, for so many seconds of the processor."""
    settings: dict[str, Any] = {
        "batch": ARCS,
        "rate": RATE,
        "last_rate": RATE,
        "warmup": 0,
        "ema": AVERAGED,
        "epochs": 1000,
    }
    often: dict[str, Any] = {"validate_every": 1000, "checkpoint_every": 1000, "compiled": False, "precision": "32"}
    plan = make_plan("sparse", "any-fleet", **LEVERS[name], **settings, **often)
    start = find_weights(DEFAULT)
    trainer = Trainer(plan, read_packed(folders), out, make_fabric("32", "cpu"), {"variant": "sparse"}, start)
    began = time.process_time()
    while time.process_time() - began < seconds:
        trainer.train(until=trainer.state.step + 20)
    return trainer.weights(), trainer.state.step


def rewarded(name: str, folders: list[Path], out: Path, seconds: float) -> tuple[Weights, int]:
    """By T after correction, for as many steps as there is time for by the first ones."""
    took: list[float] = []

    def told(step: int, figures: dict[str, float]) -> None:
        took.append(time.process_time())

    start = find_weights(DEFAULT)
    # The process that judges corrects, which takes little beside the learning.
    reward(folders, out / "pace", start, RewardRecipe(**{**REWARD.to_dict(), "steps": 4}), workers=1, report=told)
    steps = max(1, int(seconds / float(np.diff(took).mean())))
    recipe = RewardRecipe(**{**REWARD.to_dict(), "steps": steps})
    return reward(folders, out, start, recipe, workers=1), steps


def judge(name: str, steps: int, weights: Weights) -> None:
    """Print a row for each set."""
    model = Model(exported(name, weights))
    for of, count in JUDGED.items():
        layouts = load_benchmark(of)[:count]
        raw = scores(layouts, lambda k, one: model.generate(one.layout, steps=10, correct=False, polish=False, seed=k))
        two = scores(
            layouts, lambda k, one: model.generate(one.layout, preset="instant", steps=2, samples=1, polish=0, seed=k)
        )
        cells = [name, f"{steps:,}", of, *(f"{value:.2%}" for value in raw), f"{two[0]:.2%}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def scores(layouts: list[SolvedLayout], make: Callable[[int, SolvedLayout], md.Topology]) -> list[float]:
    """Mean T over the target's, connected, valid."""
    rows = []
    for k, one in enumerate(layouts):
        told = md.metrics(make(k, one))
        rows.append((told["throughput"] / one.metrics["throughput"], told["connected"], told["valid"]))
    return [float(value) for value in np.mean(rows, axis=0)]


if __name__ == "__main__":
    main()
