"""A bound on the memory that graphs of a file can ask for: what they compute may be of any size."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from typing import Any

# A batch of large fleets on many cores may need much of it; the rest is for everybody else.
SHARE = 0.75
LEAST_BYTES = 2**32


def bound_memory(ort: Any, options: Any) -> None:
    """Let the sessions that are made with these options have so much of the machine's memory, all of them together."""
    _register(ort)
    options.add_session_config_entry("session.use_env_allocators", "1")


@cache
def _register(ort: Any) -> None:
    """Once a process."""
    place = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    # The program that we are part of may have registered an allocator of its own: then that one is used.
    with suppress(Exception):
        ort.create_and_register_allocator(place, ort.OrtArenaCfg({"max_mem": _most_bytes()}))


def _most_bytes() -> int:
    try:
        return max(LEAST_BYTES, int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    except (AttributeError, OSError, ValueError):  # not every system says how much there is
        return LEAST_BYTES
