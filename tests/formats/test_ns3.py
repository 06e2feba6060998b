"""Our files in ns-3: see scripts/check_ns3.py, which this runs where there is a Python with ns3."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_ns3.py"
VARIABLE = "MANETDIFF_NS3_PYTHON"


def test_ns3_moves_by_our_files_and_hears_what_we_hear(tmp_path: Path) -> None:
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no Python with ns3")
    subprocess.run([sys.executable, str(SCRIPT), "--export", str(tmp_path)], check=True)
    compared = subprocess.run([os.environ[VARIABLE], str(SCRIPT), str(tmp_path)], capture_output=True, text=True)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert compared.stdout.count("interference, ") == 4
