"""A worker process: it calls what it is sent, one after the other, until whoever started it is gone.

It is a program of its own rather than a copy of the caller's, so that scripts need no `if __name__ == "__main__":`.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from typing import Any

from manetdiff.engine.framing import packed, receive, send_packed
from manetdiff.engine.outcomes import failure_text
from manetdiff.errors import EngineError

WATCH_S = 0.25


def main() -> None:
    """Started by `Processes`, which says on standard input where it listens, and by which secret it is known."""
    told = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal: the first one decides
    threading.Thread(target=_end_with, args=(told["parent"],), daemon=True).start()
    sys.path[:] = told["path"]
    with socket.create_connection(("127.0.0.1", told["port"])) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(bytes.fromhex(told["secret"]))
        try:
            while True:
                send_packed(connection, _outcome(*receive(connection)))
        except (EOFError, ConnectionError):
            return


def _outcome(function: Any, task: Any) -> bytes:
    """Whether it went well, and the result or the error, packed; a result that cannot be is an error as well."""
    try:
        return packed((True, function(task)))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return packed((False, _sendable(error)))


def _sendable(error: Exception) -> Exception:
    """The error, or, where it would not arrive as it is, what it says."""
    try:
        pickle.loads(packed(error))
    except Exception:
        told = EngineError(failure_text(error))
        told.add_note("\n".join(error.__notes__))
        return told
    return error


def _end_with(parent: int) -> None:
    """No process is left behind, whatever becomes of the one that started it."""
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os._exit(1)


if __name__ == "__main__":
    main()
