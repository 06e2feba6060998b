"""Train the default network: solve its layouts, train on them, and reward it with what its own samples are worth.

    python scripts/train_sparse.py --out runs/default
    python scripts/train_sparse.py --out runs/trial --only-solve
    python scripts/train_sparse.py --out runs/trial --encoder 4 --blocks 2 --epochs 100 --forest 0.3 --reward 2000
    python scripts/train_sparse.py --out runs/rewarded --part 0.12 --only-reward netdiff-sparse --reward 600 \
      --recipe '{"layouts": 16, "largest": 48, "rate": 7e-5, "ema": 0.995}'

What was stopped goes on: sets of layouts that are there are not solved again, and a run goes on from its checkpoint.
Afterwards the weights are packed with their card:

    manetdiff weights netdiff-sparse --pack runs/default/run/last.safetensors --out src/manetdiff/weights --commit …
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from manetdiff.cli.train_progress import shown
from manetdiff.cores import usable_cores
from manetdiff.data import RANDOM, Settings, generate
from manetdiff.data.settings import INVERSE
from manetdiff.diffusion.weights import Weights, find_weights, read_weights
from manetdiff.training import train
from manetdiff.training.reward import RewardRecipe, reward

SMALL_ONES, ALL_SIZES = tuple(range(4, 65)), tuple(range(4, 129))
MOVED = (0.05, 0.4)


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
    folders = []
    for name, settings in sets().items():
        count = max(1, round(given.part * settings.count))
        folders.append(given.out / name)
        generate(Settings(**{**vars(settings), "count": count}), folders[-1], workers=given.workers)
        print(f"{name}: {count:,} layouts or pairs", flush=True)
    if given.only_solve:
        return
    weights = find_weights(given.only_reward) if given.only_reward else _trained(folders, given)
    if given.reward and weights is not None:
        recipe = RewardRecipe(**{"steps": given.reward, **given.recipe})
        device = "cuda" if torch.cuda.is_available() else "cpu"
        out = given.out / "rewarded"
        reward(folders, out, weights, recipe, workers=given.workers, device=device, report=_told)


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
    return read_weights(given.out / "run" / "last.safetensors") if made.leads else None


def _told(step: int, figures: dict[str, float]) -> None:
    if step % 50 == 0:
        print(step, {name: round(value, 4) for name, value in figures.items()}, flush=True)


if __name__ == "__main__":
    main()
