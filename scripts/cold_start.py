"""What a first `generate` on a fresh machine takes, and where: a new process, an empty home, no bytecode.

    python scripts/cold_start.py

Wall-clock and processor time of each part, in milliseconds. The last column is of a second process, which finds what
the first one has kept.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLEET = ROOT / "docs" / "examples" / "escort.json"

# In the order in which a program that generates one topology does it.
PARTS = """
import json, sys, time
clocks, parts = [time.perf_counter(), time.process_time()], {}
def done(part):
    now = [time.perf_counter(), time.process_time()]
    parts[part] = [1e3 * (after - before) for before, after in zip(clocks, now)]
    clocks[:] = now
import manetdiff as md
from manetdiff.formats import read_fleet, write_topology
done("import the package")
fleet = read_fleet(sys.argv[1])
model = md.load()
done("read the fleet and the weights")
import numba
done("import numba")
from manetdiff.solvers.rehearsal import rehearse
rehearse()
done("load or compile code")
from manetdiff.runtime.onnx import onnx_runtime
onnx_runtime()
done("import ONNX Runtime")
topology = model.generate(fleet)
made = 1e3 * topology.report.seconds
done("open the network and make a topology")
write_topology(topology, None, None, sys.argv[2])
done("write it")
print(json.dumps({"parts": parts, "made": made}))
"""


def main() -> None:
    """Run it twice from a copy of the package that has never been imported, and print both."""
    with tempfile.TemporaryDirectory() as folder:
        home, site = Path(folder) / "home", Path(folder) / "site"
        home.mkdir()
        shutil.copytree(ROOT / "src", site, ignore=shutil.ignore_patterns("__pycache__"))
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "NUMBA_WARNINGS")}
        command = [sys.executable, "-c", PARTS, str(FLEET), str(Path(folder) / "topology.json")]
        first, second = (
            json.loads(
                subprocess.run(
                    command, capture_output=True, check=True, env=kept | {"HOME": str(home), "PYTHONPATH": str(site)}
                ).stdout
            )
            for _ in range(2)
        )
    print(f"{'':40}{'first':>8}{'of it CPU':>12}{'second':>9}")
    for part, (wall, cpu) in first["parts"].items():
        print(f"{part:40}{wall:8.0f}{cpu:12.0f}{second['parts'][part][0]:9.0f}")
    wall, cpu, again = (
        sum(times[k] for times in run["parts"].values()) for run, k in ((first, 0), (first, 1), (second, 0))
    )
    print(f"{'all':40}{wall:8.0f}{cpu:12.0f}{again:9.0f}")
    print(f"the topology itself: {first['made']:.1f} ms, then {second['made']:.1f} ms")


if __name__ == "__main__":
    main()
