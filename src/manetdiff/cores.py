"""The processor: how many cores there are to use, and what it is called."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_name() -> str:
    """As people know it, where the system says so."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
