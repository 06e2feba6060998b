"""How a command ends: whatever stops it is one line on standard error and an exit code, never a traceback."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from manetdiff.errors import ManetDiffError
from manetdiff.files import reason
from manetdiff.messages import one_line

FAILED = 2
INTERRUPTED = 130


@contextmanager
def ending_in_one_line() -> Iterator[None]:
    """Run a command inside; what it prints is flushed at its end, so that a full disk is not found out after it."""
    try:
        _prepare_streams()
        try:
            yield
        except SystemExit as end:
            if end.code == INTERRUPTED:  # what the parser of the command line makes of Ctrl-C
                raise KeyboardInterrupt from None
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except ManetDiffError as error:
        _end(str(error), FAILED)
    except KeyboardInterrupt:
        interrupted()
    except MemoryError:
        _end("there is not enough memory for this", FAILED)
    except OSError as error:
        # Files are read and written by functions that name them: what is left is standard output.
        where = "standard output" if error.filename is None else str(error.filename)
        _close_standard_output()
        _end(f"{where}: cannot be written: {reason(error)}", FAILED)


def interrupted() -> NoReturn:
    """End after Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who presses it again does not want to wait for threads
    _end("interrupted", INTERRUPTED)


def _end(what: str, code: int) -> NoReturn:
    with suppress(OSError, ValueError):  # there may be nowhere to say it
        print(f"manetdiff: {one_line(what)}", file=sys.stderr, flush=True)
    sys.exit(code)


def _prepare_streams() -> None:
    """Of streams that are closed, errors go nowhere and output is refused at once, before any work is spent on it."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  # for the whole of the process
    if sys.stdout is None:
        sys.stdout = io.StringIO()
        _end("standard output is closed", FAILED)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may hold what an encoding cannot


def _close_standard_output() -> None:
    """Python would flush once more at its end, and complain: give it nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
