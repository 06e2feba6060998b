"""Compile everything for the platform that this runs on, and pack it into the package.

    python scripts/make_prebuilt.py [--also PYTHON …]

Run by `make prebuilt` after a change of compiled functions, or of numba. The code is for any processor of the family,
not for this one. Measured, it gives the same topologies to the last bit and is as fast, but for the tables of large
fleets under cones, which take a quarter longer at 256 nodes. What was packaged before is thrown away: what is there was
made in one go, from the same sources, and says so by a common mark.

- --also: other Python interpreters to make it for; each gets numba in an environment of its own.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

# Read by numba and by the package when they are imported.
os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

from manetdiff.compiled import store
from manetdiff.compiled.identity import digest
from manetdiff.solvers.batch_rehearsal import rehearse_batches
from manetdiff.solvers.rehearsal import MOMENTS_AHEAD, rehearse_ahead

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Make it for this interpreter, and for the others that are named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--also", nargs="*", default=[])
    parser.add_argument("--mark", help="of the run that this is a part of")
    asked = parser.parse_args()
    target = store.prebuilt_file()
    codes = _compiled()
    mark = asked.mark or digest(*codes)
    if asked.mark is None:
        for older in target.parent.glob(f"*{store.SUFFIX}"):
            older.unlink()
    _pack(codes | {store.MARK: mark.encode()}, target)
    for interpreter in asked.also:
        _make_with(interpreter, mark)


def _compiled() -> dict[str, bytes]:
    """All code by name, compiled into an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MANETDIFF_CACHE_DIR"] = folder
        store.PREBUILT = Path(folder)  # where there is none yet
        for moments in MOMENTS_AHEAD:
            rehearse_ahead(moments)
        rehearse_batches()
        kept = store.own_folder()
        assert kept is not None
        codes = {name: kept.read(name) for name in kept.names()}
    return {name: code for name, code in codes.items() if code is not None}


def _pack(files: dict[str, bytes], target: Path) -> None:
    """In one stream, because the functions have much in common; the same bytes for the same code."""
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    print(f"{target.name}: {len(files) - 1} functions, {target.stat().st_size / 1e3:.0f} kB", flush=True)


def _make_with(interpreter: str, mark: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        needed = ["--constraint", str(ROOT / "constraints.txt"), "numpy", "numba"]
        subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *needed], check=True)
        told = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        subprocess.run([python, __file__, "--mark", mark], check=True, env=told)


if __name__ == "__main__":
    main()
