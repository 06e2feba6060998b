"""Train the default model, its ablations and the baselines, a few at a time on one GPU.

    python scripts/train_weights.py --out runs --sixteen n16-a n16-b --mixed n16-a n16-b n32-a
    python scripts/train_weights.py --out runs --sixteen … --mixed … --only acam-123 netdiff

Runs that were stopped go on; those that are done are left alone. Afterwards each is packed with its card:

    manetdiff weights acam-123 --pack runs/acam-123/last.safetensors --out studies --commit …

(--out src/manetdiff/weights for netdiff and netdiff-heading, which come with the package.)
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from manetdiff.cli.train_progress import shown
from manetdiff.training import train

SEEDS = (123, 124, 125)
THREE_SEEDS = ("acam", "cam", "none", "ddpm-gt", "acam-plain", "cam-plain", "none-plain", "ddpm-gt-plain")
ONE_SEED = ("one-token", "cross-entropy", "gt-vae", "graph-vae", "components")
# Trained for a sixth of the time, to see whether the order of the models is a matter of the budget.
BRIEF_THREE_SEEDS = ("acam", "cam", "none", "ddpm-gt")
BRIEF_ONE_SEED = ("one-token", "cross-entropy")
# The same for every ablation.
ABLATION = {"batch": 512, "rate": 0.002}
# Larger networks, to see whether the order is a matter of capacity.
WIDE = ("acam", "cam", "none", "ddpm-gt")
LARGE = {"width": 48, "blocks": 6}
TOKENS = (2, 4, 8)
LEFT_OUT = ("escort", "crossing")


@dataclass(frozen=True)
class Job:
    """A run: its name, whether it is trained on mixed sizes, and the arguments of `train`."""

    name: str
    mixed: bool
    arguments: dict[str, Any]


def jobs(epochs: dict[str, int]) -> list[Job]:
    """All runs, the longest first."""
    mix = {16: 2.0, 32: 1.0}
    listed = [
        Job("netdiff-small", True, {"epochs": epochs["small"], "mix": mix}),
        Job("netdiff", True, {**LARGE, "epochs": epochs["large"], "mix": mix}),
        Job("netdiff-heading", True, {"heading": 3.0, "epochs": epochs["small"], "mix": mix}),
    ]
    for length, three_seeds, one_seed in (
        ("ablation", THREE_SEEDS, ONE_SEED),
        ("brief", BRIEF_THREE_SEEDS, BRIEF_ONE_SEED),
    ):
        runs = [(model, seed) for model in three_seeds for seed in SEEDS] + [(model, SEEDS[0]) for model in one_seed]
        for model, seed in runs:
            name = f"{model}-brief-{seed}" if length == "brief" else f"{model}-{seed}"
            listed.append(Job(name, False, {"model": model, "seed": seed, "epochs": epochs[length], **ABLATION}))
    seed = SEEDS[0]
    one = {"seed": seed, "epochs": epochs["ablation"], **ABLATION}
    listed += [Job(f"tokens-{count}-{seed}", False, {"tokens": count, **one}) for count in TOKENS]
    listed += [
        Job(f"{model}-wide-{each}", False, {"model": model, **LARGE, **one, "seed": each})
        for model in WIDE
        for each in SEEDS
    ]
    listed.append(Job(f"left-out-{seed}", False, {"leave_out": LEFT_OUT, **one}))
    sixty = {**one, "epochs": epochs["mixed"], "mix": {16: 0.6, 32: 0.4}}
    listed += [Job(f"{model}-mixed-{seed}", True, {"model": model, **sixty}) for model in ("acam", "ddpm-gt-plain")]
    return listed


def main() -> None:
    """Start the jobs, so many at a time, and say how they go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of all runs")
    parser.add_argument("--sixteen", nargs="+", required=True, help="datasets of 16 nodes, for the ablations")
    parser.add_argument("--mixed", nargs="+", default=[], help="datasets of 16 and 32 nodes, for the default models")
    parser.add_argument("--only", nargs="+", default=[], help="just these runs")
    parser.add_argument("--parallel", type=int, default=4, help="runs at a time: one compiles while another trains")
    parser.add_argument("--ablation-epochs", type=int, default=36)
    parser.add_argument("--brief-epochs", type=int, default=6)
    parser.add_argument("--mixed-epochs", type=int, default=28)
    parser.add_argument("--small-epochs", type=int, default=203)
    parser.add_argument("--large-epochs", type=int, default=296)
    parser.add_argument(
        "--extra", type=json.loads, default={}, help='more arguments of train for every run, as JSON: {"clip": 2}'
    )
    given = parser.parse_args()
    epochs = {
        "ablation": given.ablation_epochs,
        "brief": given.brief_epochs,
        "small": given.small_epochs,
        "large": given.large_epochs,
        "mixed": given.mixed_epochs,
    }
    known = {job.name for job in jobs(epochs)}
    if unknown := set(given.only) - known:
        parser.error(f"--only: no run {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    wanted = [job for job in jobs(epochs) if not given.only or job.name in given.only]
    waiting = [job for job in wanted if not (given.out / job.name / "last.safetensors").exists()]
    running: dict[str, BaseProcess] = {}
    os.environ["OMP_NUM_THREADS"] = "1"  # of the processes that are started
    (given.out / "logs").mkdir(parents=True, exist_ok=True)
    failed = []
    while waiting or running:
        while waiting and len(running) < given.parallel:
            job = waiting.pop(0)
            data = given.mixed if job.mixed else given.sixteen
            arguments = (data, given.out / job.name, given.out / "logs" / f"{job.name}.log")
            running[job.name] = get_context("spawn").Process(
                target=run, args=(*arguments, {**job.arguments, **given.extra})
            )
            running[job.name].start()
            print(f"{job.name}: started", flush=True)
        time.sleep(1)
        for name, process in list(running.items()):
            if process.exitcode is not None:
                del running[name]
                failed += [name] if process.exitcode else []
                print(f"{name}: {'failed, see its log' if process.exitcode else 'done'}", flush=True)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def run(data: list[str], out: Path, log: Path, arguments: dict[str, Any]) -> None:
    """A run in a process of its own, its words in a log."""
    with log.open("ab") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    with shown() as report:
        train(data, out, report=report, **arguments)


if __name__ == "__main__":
    main()
