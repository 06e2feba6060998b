"""Try a service as hard as its users and its accidents might, and write what came out of it.

    python scripts/try_service.py load kills senders --out docs/results/service.md    # some twenty minutes of two cores
    python scripts/try_service.py costs --out docs/results/costs.md                   # what larger services need
    python scripts/try_service.py replicas --out docs/results/replicas.md             # three on one PostgreSQL
    python scripts/try_service.py load --quick                                        # in small, to see that it works

Kills, costs and replicas need PostgreSQL's programs, senders the extra 'mavlink'.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from own_postgres import own_postgres
from service_trials.costs import CostPlan, cost_trial
from service_trials.kills import kill_trial, sqlite
from service_trials.load import LoadPlan, load_trial
from service_trials.replicas import ReplicaPlan, replica_trial
from service_trials.section import Section
from service_trials.senders import sender_trial

HEAD = """# The service, tried

By `python scripts/try_service.py {names} --out {page}`, on two cores that the senders share with it.
"""
QUICK_LOAD = LoadPlan(networks=5, seconds=5, viewers=10, times=(2,), overload=3, updates=100)
QUICK_REPLICAS = ReplicaPlan(networks=4, flown=1, kills=2, stopped=5.0)


def _load(quick: bool, folder: Path) -> list[Section]:
    return load_trial(QUICK_LOAD if quick else LoadPlan(), folder)


def _kills(quick: bool, folder: Path) -> list[Section]:
    return kill_trial(3 if quick else 100, folder, {"SQLite": sqlite(folder), "PostgreSQL": own_postgres()})


def _senders(quick: bool, folder: Path) -> list[Section]:
    return sender_trial(300.0 if quick else 3600.0, folder)


def _costs(quick: bool, folder: Path) -> list[Section]:
    plan = CostPlan(networks=5, rounds=5) if quick else CostPlan()
    return cost_trial(plan, folder, {"SQLite": sqlite(folder), "PostgreSQL": own_postgres()})


def _replicas(quick: bool, folder: Path) -> list[Section]:
    return replica_trial(QUICK_REPLICAS if quick else ReplicaPlan(), folder, own_postgres())


TRIALS: dict[str, Callable[[bool, Path], list[Section]]] = {
    "load": _load,
    "kills": _kills,
    "senders": _senders,
    "costs": _costs,
    "replicas": _replicas,
}


def main() -> None:
    """Run those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="+", choices=list(TRIALS))
    parser.add_argument("--out", type=Path, help="a Markdown page to write")
    parser.add_argument("--quick", action="store_true", help="in small, to see that it works")
    asked = parser.parse_args()
    page = asked.out or "docs/results/service.md"
    parts = [HEAD.format(page=page, names=" ".join([*asked.trials, *(["--quick"] if asked.quick else [])]))]
    for name in asked.trials:
        with tempfile.TemporaryDirectory() as folder:
            for section in TRIALS[name](asked.quick, Path(folder)):
                parts.append(section.markdown())
                print(parts[-1], flush=True)
    if asked.out is not None:
        asked.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
