"""Compile everything for the platform that this runs on, and pack it into the package.

Run by `make prebuilt` after a change of compiled functions, or of numba. The code is for any processor of the family,
not for this one: measured, it is as fast, and gives the same topologies to the last bit.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

# Read by numba and by the package when they are imported.
os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

from manetdiff.compiled import store
from manetdiff.solvers.rehearsal import rehearse

# The same bytes for the same code.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    """Compile into an empty folder and pack what is there then."""
    target = store.prebuilt_file()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MANETDIFF_CACHE_DIR"] = folder
        store.PREBUILT = Path(folder)  # where there is none yet
        rehearse()
        made = store.own_folder()
        assert made is not None
        codes = {name: made.read(name) for name in made.names()}
    for older in target.parent.glob(f"{target.name.partition('-numba')[0]}-*.zip"):
        older.unlink()
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, code in codes.items():
            assert code is not None
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), code, zipfile.ZIP_DEFLATED, 9)
    print(f"{target}: {len(codes)} functions, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
