"""The command `manetdiff`: puts the commands together and turns errors into one line and an exit code."""

from __future__ import annotations

import sys
import warnings

import typer

from manetdiff.cli import bench, data, demo, evaluate, solve
from manetdiff.errors import ManetDiffError

BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="manetdiff",
    help="NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.command)
app.command("solve")(solve.command)
app.command("data")(data.command)
app.command("evaluate")(evaluate.command)
app.command("bench")(bench.command)


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2, never a traceback."""
    warnings.showwarning = _show_warning
    try:
        app()
    except ManetDiffError as error:
        print(f"manetdiff: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("manetdiff: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:  # type: ignore[no-untyped-def]
    print(f"manetdiff: warning: {message}", file=sys.stderr)
