"""Train the default network: solve its layouts, train on them, and reward it with what its own samples are worth.

    python scripts/train_sparse.py --out runs/default --reward 2400
    python scripts/train_sparse.py --out runs/trial --only-solve
    python scripts/train_sparse.py --out runs/trial --encoder 4 --blocks 2 --epochs 100 --forest 0.3 --reward 2000
    python scripts/train_sparse.py --out runs/rewarded --part 0.5 --only-reward netdiff-sparse-imitated --reward 1000 \
      --recipe '{"layouts": 64, "rate": 2e-4}'

What was stopped goes on: sets of layouts that are there are not solved again, and a run goes on from its checkpoint.
Afterwards the weights are packed with their card:

    manetdiff weights netdiff-sparse --pack runs/default/rewarded/last.safetensors --out src/manetdiff/weights
    manetdiff export netdiff-sparse --out src/manetdiff/weights/netdiff-sparse.netdiff
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from manetdiff.cli.train_progress import shown
from manetdiff.cores import usable_cores
from manetdiff.data import RANDOM, FieldedRadio, Settings, generate
from manetdiff.data.settings import INVERSE
from manetdiff.diffusion.weights import Weights, find_weights, read_weights
from manetdiff.radio import Radio, draw_spacing
from manetdiff.sampling import SamplerConfig
from manetdiff.training import train
from manetdiff.training.reward import reward
from manetdiff.training.reward_recipe import RewardRecipe

SMALL_ONES, ALL_SIZES = tuple(range(4, 65)), tuple(range(4, 129))
MOVED = (0.05, 0.4)
# Of radios by kinds: limits of what is drawn, evenly by factors, and what is as it is.
CORNERS: dict[str, tuple[dict[str, tuple[float, float]], dict[str, Any]]] = {
    "quiet": ({"sigma2": (0.005, 0.05), "alpha": (0.5, 1.0), "p_max": (1.0, 10.0)}, {}),
    "omni": ({"sigma2": (0.02, 0.8), "theta_max": (math.pi / 24, math.pi / 8)}, {"reception": "omni"}),
    "ceiling": ({"sigma2": (0.005, 0.1), "ceiling": (3.0, 8.0)}, {}),
    "wide": ({"sigma2": (0.05, 1.0), "theta_max": (math.pi / 6, math.pi / 3)}, {"sectors": 3}),
}
EACH_CORNER = 25
# As its chains are run while it is rewarded, and afterwards.
SAMPLING = SamplerConfig(steps=10, grid="late", temperature=0.3, redundancy=4.0)
TOLD_EVERY = 50  # steps of reward


def sets() -> dict[str, Settings]:
    """What it learns from: fleets of 16 and 32 nodes under the default radio, and any fleets under random radios; of
    some both before and after they have moved, some with heights and with nodes that have no antenna somewhere."""

    def any_fleet(count: int, seed: int, **more: Any) -> Settings:
        odds = {"size_odds": INVERSE, "radio": RANDOM, "moves_a_node": 500, "shard_size": 250}
        return Settings(**{"nodes": SMALL_ONES, "count": count, "seed": seed, **odds, **more})

    return {
        "a16": Settings((16,), 5000, 101, search_moves=40_000, displacement=MOVED),
        "a32": Settings((32,), 2000, 102, search_moves=48_000, displacement=MOVED),
        "r1": any_fleet(5000, 201),
        "r2": any_fleet(2500, 202, displacement=MOVED),
        "r3": any_fleet(2500, 203, nodes=ALL_SIZES),
        "r4": any_fleet(5000, 204, heights=(0.0, 3000.0), blocked=0.1),
        "r5": any_fleet(5000, 205),
        "r6": any_fleet(5000, 206),
    }


def corners() -> Settings:
    """What reward learns from beside these: fleets under radios from the corners of what is drawn at random, where most
    is left to learn."""
    return Settings(SMALL_ONES, 10_000, 301, size_odds=INVERSE, radio=corner_radios(), moves_a_node=500, shard_size=250)


def corner_radios() -> dict[str, FieldedRadio]:
    """Cones with next to no noise and power to spare; all around reception; a modem's ceiling; wide beams, few sectors.
    What else they have is drawn."""
    rng = np.random.default_rng(301)
    made = {}
    for k in range(EACH_CORNER):
        for name, (ranges, others) in CORNERS.items():
            spacing = draw_spacing(rng)
            drawn: dict[str, Any] = {value: _between(low, high, rng) for value, (low, high) in ranges.items()}
            radio = dataclasses.replace(Radio.draw(rng, "cone", spacing=spacing), min_snr=None, **drawn, **others)
            made[f"{name}-{k}"] = FieldedRadio(radio, spacing)
    return made


def _between(low: float, high: float, rng: np.random.Generator) -> float:
    """Evenly by factors; with four digits, as a person would write it."""
    return float(f"{low * (high / low) ** rng.uniform():.4g}")


def main() -> None:
    """Solve, train, reward."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the layouts and of the run")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="processes that solve, read and judge")
    parser.add_argument("--only-solve", action="store_true")
    parser.add_argument("--part", type=float, default=1.0, help="of the layouts, to try things out")
    parser.add_argument("--epochs", type=int, default=324)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--encoder", type=int, default=0)
    parser.add_argument("--forest", type=float, default=0.0, help="share of graphs that start from a spanning forest")
    parser.add_argument("--consistency", type=float, default=0.0, help="weight of the consistency over the path")
    parser.add_argument("--reward", type=int, default=0, help="steps of reward after the training")
    parser.add_argument("--only-reward", metavar="WEIGHTS", help="reward these, by name or file, and train none")
    parser.add_argument("--recipe", type=json.loads, default={}, help="of the reward, as JSON: see RewardRecipe")
    parser.add_argument("--extra", type=json.loads, default={}, help='more of train, as JSON: {"rate": 0.002}')
    given = parser.parse_args()
    folders = [_solved(name, settings, given) for name, settings in sets().items()]
    of_corners = [_solved("corners", corners(), given)] if given.reward or given.only_solve else []
    if given.only_solve:
        return
    weights = find_weights(given.only_reward) if given.only_reward else _trained(folders, given)
    if given.reward and weights is not None:
        recipe = RewardRecipe(**{"steps": given.reward, **given.recipe})
        device = "cuda" if torch.cuda.is_available() else "cpu"
        out = given.out / "rewarded"
        reward([*folders, *of_corners], out, weights, recipe, workers=given.workers, device=device, report=_Told())


def _solved(name: str, settings: Settings, given: argparse.Namespace) -> Path:
    """The folder of so many of these layouts."""
    count = max(1, round(given.part * settings.count))
    folder: Path = given.out / name
    generate(dataclasses.replace(settings, count=count), folder, workers=given.workers)
    print(f"{name}: {count:,} layouts or pairs", flush=True)
    return folder


def _trained(folders: list[Path], given: argparse.Namespace) -> Weights | None:
    """The last weights; None in a process that does not lead."""
    of_model = {"width": given.width, "blocks": given.blocks, "encoder": given.encoder}
    losses = {"consistency": given.consistency} if given.consistency else None
    with shown() as report:
        made = train(
            folders,
            given.out / "run",
            "sparse",
            "any-fleet",
            losses=losses,
            forest=given.forest,
            report=report,
            **{"epochs": given.epochs, "validation": 12, **of_model, **given.extra},
        )
    if not made.leads:
        return None
    return dataclasses.replace(read_weights(given.out / "run" / "last.safetensors"), sampling=SAMPLING)


class _Told:
    """Prints means over some steps: of each what it says, and steps a second."""

    def __init__(self) -> None:
        self._since, self._steps = time.monotonic(), 0
        self._figures: dict[str, list[float]] = {}

    def __call__(self, step: int, figures: dict[str, float]) -> None:
        self._steps += 1
        for name, value in figures.items():
            self._figures.setdefault(name, []).append(value)
        if self._steps < TOLD_EVERY:
            return
        now = time.monotonic()
        means = {name: round(float(np.mean(some)), 4) for name, some in sorted(self._figures.items())}
        print(step, {**means, "steps/s": round(self._steps / (now - self._since), 2)}, flush=True)
        self._since, self._steps, self._figures = now, 0, {}


if __name__ == "__main__":
    main()
