"""Train the default model, its ablations and the baselines, a few at a time on one GPU.

    python scripts/train_weights.py --out runs --sixteen n16-a n16-b --mixed n16-a n16-b n32-a
    python scripts/train_weights.py --out runs --sixteen … --mixed … --only acam-123 netdiff

Runs that were stopped go on; those that are done are left alone. Afterwards each is packed with its card:

    manetdiff weights acam-123 --pack runs/acam-123/last.safetensors --out src/manetdiff/weights --commit …

(--out studies for those that only the tables of `manetdiff reproduce` need.)
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SEEDS = (123, 124, 125)
THREE_SEEDS = ("acam", "cam", "none", "ddpm-gt", "acam-plain", "cam-plain", "none-plain", "ddpm-gt-plain")
ONE_SEED = ("one-token", "cross-entropy", "gt-vae", "graph-vae", "components")
# Trained for a sixth of the time, to see whether the order of the models is a matter of the budget.
BRIEF_THREE_SEEDS = ("acam", "cam", "none", "ddpm-gt")
BRIEF_ONE_SEED = ("one-token", "cross-entropy")
# The same for every ablation.
ABLATION = ("--batch", "512", "--rate", "0.002")
# Larger networks, to see whether the order is a matter of capacity.
WIDE = ("acam", "cam", "none", "ddpm-gt")
LARGE = ("--width", "48", "--blocks", "6")
TOKENS = (2, 4, 8)
LEFT_OUT = ("escort", "crossing")


@dataclass(frozen=True)
class Job:
    """A run: its name, whether it is trained on mixed sizes, and the options of `manetdiff train`."""

    name: str
    mixed: bool
    options: tuple[str, ...]


def jobs(epochs: dict[str, int]) -> list[Job]:
    """All runs, the longest first."""
    mix = ("--mix", "16:2,32:1")
    listed = [
        Job("netdiff-small", True, ("--epochs", str(epochs["small"]), *mix)),
        Job("netdiff", True, (*LARGE, "--epochs", str(epochs["large"]), *mix)),
        Job("netdiff-heading", True, ("--heading", "3", "--epochs", str(epochs["small"]), *mix)),
    ]
    ablations = [(variant, seed) for variant in THREE_SEEDS for seed in SEEDS]
    ablations += [(variant, SEEDS[0]) for variant in ONE_SEED]
    for variant, seed in ablations:
        options = ("--model", variant, "--seed", str(seed), "--epochs", str(epochs["ablation"]), *ABLATION)
        listed.append(Job(f"{variant}-{seed}", False, options))
    brief = [(variant, seed) for variant in BRIEF_THREE_SEEDS for seed in SEEDS]
    brief += [(variant, SEEDS[0]) for variant in BRIEF_ONE_SEED]
    for variant, seed in brief:
        options = ("--model", variant, "--seed", str(seed), "--epochs", str(epochs["brief"]), *ABLATION)
        listed.append(Job(f"{variant}-brief-{seed}", False, options))
    plain = ("--seed", str(SEEDS[0]), "--epochs", str(epochs["ablation"]), *ABLATION)
    listed += [Job(f"tokens-{count}-{SEEDS[0]}", False, ("--tokens", str(count), *plain)) for count in TOKENS]
    listed += [Job(f"{variant}-wide-{SEEDS[0]}", False, ("--model", variant, *LARGE, *plain)) for variant in WIDE]
    left_out = tuple(word for family in LEFT_OUT for word in ("--leave-out", family))
    listed.append(Job(f"left-out-{SEEDS[0]}", False, (*left_out, *plain)))
    sixty = ("--seed", str(SEEDS[0]), "--epochs", str(epochs["mixed"]), *ABLATION, "--mix", "16:0.6,32:0.4")
    listed += [
        Job(f"{variant}-mixed-{SEEDS[0]}", True, ("--model", variant, *sixty)) for variant in ("acam", "ddpm-gt-plain")
    ]
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
    parser.add_argument("--extra", default="", help="more options for every run, in one string")
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
    running: dict[str, subprocess.Popen[bytes]] = {}
    (given.out / "logs").mkdir(parents=True, exist_ok=True)
    failed = []
    while waiting or running:
        while waiting and len(running) < given.parallel:
            job = waiting.pop(0)
            data = given.mixed if job.mixed else given.sixteen
            running[job.name] = start(job, data, given.out, given.extra.split())
            print(f"{job.name}: started", flush=True)
        time.sleep(1)
        for name, process in list(running.items()):
            if process.poll() is not None:
                del running[name]
                failed += [name] if process.returncode else []
                print(f"{name}: {'failed, see its log' if process.returncode else 'done'}", flush=True)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def start(job: Job, data: list[str], out: Path, extra: list[str]) -> subprocess.Popen[bytes]:
    """A run in a process of its own, its words in a log."""
    command = [sys.executable, "-m", "manetdiff", "train", *data, "--out", str(out / job.name), *job.options, *extra]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (out / "logs" / f"{job.name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


if __name__ == "__main__":
    main()
