"""Where the command `manetdiff` begins: before what takes time to load, so that Ctrl-C is answered."""

import os
from contextlib import suppress

from manetdiff.cli.ending import INTERRUPTED, interrupted


def main() -> None:
    """Load the command line and run it."""
    try:
        from manetdiff.cli.app import main as run
    except KeyboardInterrupt:
        with suppress(SystemExit):
            interrupted()
        # Python itself may end by the signal once more where it came inside of compiled code that loads.
        os._exit(INTERRUPTED)
    run()
