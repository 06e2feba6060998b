"""Where the command `manetdiff` begins: before what takes time to load, so that Ctrl-C is answered."""

import os
import sys
from contextlib import suppress

from manetdiff.cli.ending import INTERRUPTED, interrupted


def main() -> None:
    """Load the command line and run it."""
    try:
        from manetdiff.cli.app import main as run

        run()
    except KeyboardInterrupt:  # while it was loading
        with suppress(SystemExit):
            interrupted()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
    else:
        return
    # At once: Python would wait for threads, and end by the signal instead where that has met it inside of an exec.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(INTERRUPTED)
