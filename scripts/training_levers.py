"""What consistency, a forest to start from and reward each gain over plain training, in the same processor time.

All go on from weights that have only imitated, on the same layouts (16 nodes under the default radio, 8 to 32 under
random ones), with one core and a constant rate, so that none is cut short; but that of reward falls to nothing over its
steps. They are judged by the runtime, on layouts of the benchmark sets, which none has seen: raw samples of ten steps,
what two steps from a spanning forest are worth corrected, without a search, and what is left of that after one, by two
presets.

    python scripts/training_levers.py --out runs/levers --minutes 20
    python scripts/training_levers.py --judge netdiff-sparse    # weights that are there
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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
from manetdiff.training.reward import reward
from manetdiff.training.reward_recipe import RewardRecipe
from manetdiff.training.run import make_fabric

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
REWARD = RewardRecipe(layouts=12, samples=8, largest=32, search=0, whole=0.0, lesson=0.0, rate=5e-5, ema=AVERAGED)
# Steps by which the pace of a reward is found.
PACE = 20
START = "netdiff-sparse-imitated"
JUDGED = {"bench16": 300, "bench32": 100, "radios": 240}
RAW = "raw"
WAYS: dict[str, dict[str, Any]] = {
    RAW: {"steps": 10, "correct": False, "polish": False},
    "two steps, corrected": {"preset": "instant", "steps": 2, "samples": 1, "polish": 0},
    "`instant`": {"preset": "instant"},
    "`balanced`": {"preset": "balanced"},
}

FloatArray = npt.NDArray[np.float64]


def main() -> None:
    """Train each, and judge all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/levers"), help="folder of the layouts and weights")
    parser.add_argument("--judge", nargs="+", help=f"only judge these weights, by name or file, beside {START}")
    parser.add_argument("--minutes", type=float, default=20.0, help="of the processor for each")
    parser.add_argument("--only", nargs="+", choices=[*LEVERS, "reward"], default=[*LEVERS, "reward"])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", DisconnectedWarning)  # counted below
    folders = [asked.out / name for name in SETS]
    for folder, settings in zip(folders, SETS.values(), strict=True) if asked.judge is None else ():
        generate(settings, folder, workers=1)
    judge = Judge()
    judge("nothing", 0, find_weights(START))
    if asked.judge is not None:
        for name in asked.judge:
            made = find_weights(name)
            judge(name, sum(run["taken"] for run in made.card.get("reward", [])), made)
        return
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
    start = find_weights(START)
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

    start = find_weights(START)
    with tempfile.TemporaryDirectory() as folder:
        # The process that judges corrects, which takes little beside the learning.
        reward(folders, Path(folder), start, replace(REWARD, steps=PACE), workers=1, report=told)
    # The last step draws no samples for another.
    steps = max(1, int(seconds / float(np.diff(took)[:-1].mean())))
    return reward(folders, out / f"{steps}-steps", start, replace(REWARD, steps=steps), workers=1), steps


class Judge:
    """Prints a row for each set, of weights after weights; all but the first are compared with the first."""

    def __init__(self) -> None:
        self._sets = {name: load_benchmark(name)[:count] for name, count in JUDGED.items()}
        self._first: dict[tuple[str, str], FloatArray] = {}
        heads = "connected", "valid", *(f"{way}: T" for way in WAYS)
        print(f"| trained on by | steps | set | {' | '.join(heads)} |")
        print(f"| --- | ---: | --- |{' ---: |' * len(heads)}")

    def __call__(self, name: str, steps: int, weights: Weights) -> None:
        """Of raw samples how many are connected and valid; of each way the mean T, and by how much it differs."""
        model = Model(exported(name, weights))
        for of, layouts in self._sets.items():
            cells = [name, f"{steps:,}", of]
            for way, asked in WAYS.items():
                scores = _scores(model, layouts, asked)
                if way == RAW:
                    cells += [f"{share:.2%}" for share in scores[:, 1:].mean(0)]
                shares = 100 * scores[:, 0]
                differ = shares - self._first.setdefault((of, way), shares)
                apart = f" ({differ.mean():+.2f} ± {1.96 * differ.std() / len(differ) ** 0.5:.2f})"
                cells.append(f"{shares.mean():.2f} %{apart if differ.any() else ''}")
            print(f"| {' | '.join(cells)} |", flush=True)


def _scores(model: Model, layouts: list[SolvedLayout], asked: dict[str, Any]) -> FloatArray:
    """(l, 3): T over the target's, connected, valid."""
    rows = []
    for k, one in enumerate(layouts):
        told = md.metrics(model.generate(one.layout, seed=k, **asked))
        rows.append((told["throughput"] / one.metrics["throughput"], told["connected"], told["valid"]))
    return np.array(rows, dtype=np.float64)


if __name__ == "__main__":
    main()
