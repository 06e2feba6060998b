"""Seed one fault after another, over all rooms, and see whether the everyday tests of the room catch it.

    python scripts/seed_faults.py              # all, some fifteen minutes on one core
    python scripts/seed_faults.py radio gpu    # those of some rooms

Each fault is made in a copy of the package; the sources stay as they are. Exit code 1 if one slips through.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Fault:
    """In a file of the package, what is right and what takes its place. tests: that see it; by default the room's."""

    file: str
    right: str
    wrong: str
    tests: str = ""

    @property
    def room(self) -> str:
        """The room that the file is in; files of the ground floor are their own."""
        return Path(self.file).parts[0].removesuffix(".py")


FAULTS = (
    Fault(
        "files.py",
        "self._place.replace(self.path)",
        "self.path.write_bytes(self._place.read_bytes())",
        "test_ground_floor.py",
    ),
    Fault("checks.py", "least <= value <= most", "least < value <= most", "test_ground_floor.py"),
    Fault("json_settings.py", "if name not in known:", "if name is None:", "test_json_settings.py"),
    Fault("fleet/geodetic.py", "np.sin(clockwise)[:, None] * axes", "np.cos(clockwise)[:, None] * axes"),
    Fault("radio/rates.py", "if k != i and parity[k]", "if parity[k]"),
    Fault("radio/patterns.py", "2 * math.pi - apart", "math.pi - apart"),
    Fault("radio/pairs.py", "np.hypot(distance, offset[..., 2])", "distance"),
    Fault("radio/blocked.py", "<= width[node]", ">= width[node]"),
    Fault("radio/drawing.py", "0.99 * budget.distance_at_snr(min_snr)", "1.5 * budget.distance_at_snr(min_snr)"),
    Fault("layout/features.py", "distance[i, k] < every.distance", "distance[i, k] > every.distance"),
    Fault("topology/metrics.py", "saturated = loads > 1", "saturated = loads > 2"),
    Fault("topology/parts.py", "kept_apart=named(within & ~linkable)", "kept_apart=named(within)"),
    Fault("topology/matching.py", "topology.parity[was], 0)", "topology.parity[was], 1)"),
    Fault("scenarios/motion.py", "<= (1 + TOLERANCE) * displacement", ">= displacement"),
    Fault("layout/choosing.py", "if j >= 0 and _among(wanted[j], i):", "if j >= 0:"),
    Fault("solvers/scoring.py", "if turned and mark & NEW:", "if False:"),
    Fault("solvers/far_field.py", "(towards + 1 - direction)", "(direction - towards)"),
    Fault("solvers/correction.py", "turns = parity[i] == parity[j]", "turns = parity[i] != parity[j]"),
    Fault("data/dataset.py", "links[1], links[0]] = True", "links[0], links[1]] = True"),
    Fault("formats/netjson.py", '"sector_source": sector_source', '"sector_source": sector_target'),
    Fault("formats/blocked.py", "(-math.radians(stop), -math.radians", "(math.radians(stop), math.radians"),
    Fault("sampling/draws.py", "numbers[-1] = HALF", "numbers[0] = HALF"),
    Fault("weights/finder.py", "for folder in (PACKAGE, STUDIES):", "for folder in (STUDIES,):"),
    Fault("model/acam.py", "similarity = similarity * there", "similarity = similarity * 1.0"),
    Fault("model/losses.py", "functional.relu(occupation - 1)", "functional.relu(occupation)"),
    Fault("diffusion/transitions.py", "from_zero * (1 - one)", "from_zero * one"),
    Fault("diffusion/step.py", "settings.temperature, settings.link_bias)", "settings.temperature, 0.0)"),
    Fault("training/stepping.py", "part = share.batch / whole", "part = 1 / len(self.split)"),
    Fault("runtime/previous.py", "self.known[pairs].all(axis=1)", "self.known[pairs].any(axis=1)"),
    Fault("runtime/no_harm.py", "max(corrected, polished, key=worth)", "min(corrected, polished, key=worth)"),
    Fault("runtime/plan.py", "sampling <= SAMPLED * budget and ", ""),
    Fault("compiled/identity.py", "_collect(called, seen)", "pass"),
    Fault("runtime/refine.py", "-one.components, one.throughput", "-one.components, -one.throughput"),
    Fault("gpu/model.py", "SeedSequence((seed, draw))", "SeedSequence((seed, 0))"),
    Fault("export/dense.py", "bias * film[2] + film[3]", "film[3]"),
    Fault("export/sparse.py", "self.node_told.bias.data += told.bias - tell * lacking", "pass"),
    Fault("layout/tables.py", "lists.append(tables.lists[row, stays])", "lists.append(tables.lists[0, stays])"),
    Fault("runtime/chain.py", "if k == first else chances", "if k != first else chances"),
    Fault("runtime/refine.py", "bench.propose_only(np.concatenate", "print(np.concatenate"),
    Fault("training/loop.py", "self.generator.load_state_dict(start.build().state_dict())", "pass"),
    Fault("pictures/topologies.py", "carried_over(other, topology.on()).adjacency", "topology.adjacency"),
    Fault("measure/store.py", "if index not in kept]", "if not kept]"),
    Fault("evaluate/over_time.py", "limit = budget * (nodes / 16) ** 2", "limit = budget"),
    Fault("simulation/run.py", "len(links_before - links)", "len(links - links_before)"),
    Fault("reproduce/agreement/verdict.py", "if self.low > 0:", "if self.high > 0:"),
    Fault("cli/ending.py", "_end(str(error), FAILED)", "_end(str(error), 0)"),
)


def caught(fault: Fault, package: Path) -> bool:
    """Whether a test fails with the fault in a copy of the package."""
    file = package / "manetdiff" / fault.file
    sound = file.read_text(encoding="utf-8")
    if sound.count(fault.right) < 1:
        raise SystemExit(f"{fault.file}: {fault.right!r} is no longer there: seed another fault")
    file.write_text(sound.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-m", "not slow", "-x", "-q", "-p", "no:cacheprovider"]
        command.append(str(ROOT / "tests" / (fault.tests or fault.room)))
        environment = {**os.environ, "PYTHONPATH": str(package)}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 1
    finally:
        file.write_text(sound, encoding="utf-8")


def main() -> int:
    """Seed the faults of all rooms, or of those named on the command line."""
    chosen = [fault for fault in FAULTS if not sys.argv[1:] or fault.room in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "src"
        shutil.copytree(ROOT / "src", package)
        # The tables' weights stand beside the sources.
        (Path(folder) / "studies").symlink_to(ROOT / "studies")
        slipped = 0
        for fault in chosen:
            began = time.perf_counter()
            seen = caught(fault, package)
            slipped += not seen
            print(f"{'caught' if seen else 'SLIPPED'}  {fault.file}  ({time.perf_counter() - began:.0f} s)", flush=True)
    print(f"{len(chosen) - slipped} of {len(chosen)} caught")
    return int(slipped > 0)


if __name__ == "__main__":
    raise SystemExit(main())
