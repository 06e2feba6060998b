"""Solved layouts a second of `manetdiff data`, by engine and number of workers; all of them must make the same bytes.

python scripts/cluster_speed.py                                    # local processes, and Ray where it is installed
python scripts/cluster_speed.py --workers 1 2 4 --out docs/results/cluster.md
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import psutil

from manetdiff.cores import processor_name, usable_cores
from manetdiff.data import Settings, generate
from manetdiff.engine import Engine, opened_engine

# As many layouts for every worker, so that starts and ends count alike.
LAYOUTS_A_WORKER = 24
# Processes that wanted a core before anything was measured, above which the machine was not idle.
IDLE = 0.3
HEAD = """# Data on several workers and on Ray

Layouts of 16 nodes a second, drawn and solved by 50,000 moves of the reference search, as `manetdiff data` does, with
the workers started before the clock: the fastest of {rounds} rounds in turn, and how many times one local worker's that
is. *Processor*: what all processes together, Ray's own among them, spent on a layout, the least of the rounds. By
`python scripts/cluster_speed.py --workers {workers} --out docs/results/cluster.md`, on {cores} cores of {processor}.
{load}

| engine | workers | layouts a second | times one | processor, ms a layout |
| --- | ---: | ---: | ---: | ---: |
"""
ALONE = "Nothing else ran there, and more workers than cores gain nothing."
BUSY = """**Other work shared these cores** (load average {load:.1f} before the run). The more workers there are, the
larger the part of the cores that they get from it, so *layouts a second* and *times one* are no measure of what an idle
machine gains; processor time, which says what sharing out costs, is less disturbed."""


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--engines", nargs="+", default=["local", *(["ray"] if find_spec("ray") else [])])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    rates: dict[tuple[str, int], float] = {}
    spent: dict[tuple[str, int], float] = {}
    digests: dict[int, set[str]] = {}
    for _ in range(asked.rounds):
        for workers in asked.workers:
            for engine in asked.engines:
                case = engine, workers
                rate, processor, digest = _measured(opened_engine(engine, workers), workers)
                rates[case] = max(rate, rates.get(case, 0.0))
                spent[case] = min(processor, spent.get(case, processor))
                digests.setdefault(workers, set()).add(digest)
                print(f"{engine}, {workers} workers: {rate:.1f} layouts a second, {1e3 * processor:.0f} ms", flush=True)
    same = all(len(some) == 1 for some in digests.values())
    one = rates.get(("local", 1)) or next(iter(rates.values()))
    lines = [
        f"| {engine} | {workers} | {rates[engine, workers]:.1f} | {rates[engine, workers] / one:.2f} | "
        f"{1e3 * spent[engine, workers]:.0f} |"
        for engine, workers in sorted(rates)
    ]
    ending = f"For each number of workers both engines made the same bytes: {'yes' if same else 'no'}."
    print("\n".join([*lines, ending]))
    if asked.out is not None:
        head = HEAD.format(
            rounds=asked.rounds,
            workers=" ".join(map(str, asked.workers)),
            cores=usable_cores(),
            processor=processor_name(),
            load=BUSY.format(load=load) if load > IDLE else ALONE,
        )
        asked.out.write_text(head + "\n".join(lines) + f"\n\n{ending}\n", encoding="utf-8")


def _measured(engine: Engine, workers: int) -> tuple[float, float, str]:
    """Layouts a second, the processor's seconds for a layout, and a digest of what was made."""
    with engine, tempfile.TemporaryDirectory() as folder:
        generate(_settings(8 * workers), Path(folder) / "first", engine=engine)  # workers have loaded what they need
        worked, began = _processor_seconds(), time.perf_counter()
        settings = _settings(LAYOUTS_A_WORKER * workers)
        generate(settings, Path(folder) / "second", engine=engine)
        seconds, processor = time.perf_counter() - began, _processor_seconds() - worked
        content = b"".join(path.read_bytes() for path in sorted((Path(folder) / "second").glob("shard-*.parquet")))
    return settings.count / seconds, processor / settings.count, hashlib.sha256(content).hexdigest()


def _settings(count: int) -> Settings:
    return Settings(nodes=(16,), count=count, seed=1)


def _processor_seconds() -> float:
    """Of this process and all that it has started."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


if __name__ == "__main__":
    main()
