"""The command `manetdiff`: puts the commands together and turns errors into one line and an exit code."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Annotated

import typer

from manetdiff import __version__
from manetdiff.cli import (
    bench,
    convert,
    data,
    demo,
    doctor,
    evaluate,
    export,
    feed,
    generate,
    reproduce,
    score,
    serve,
    simulate,
    solve,
    sweep,
    train,
    transition,
    update,
    watch,
    weights,
)
from manetdiff.cli.ending import ending_in_one_line
from manetdiff.cli.progress import compiling_shown
from manetdiff.messages import one_line

app = typer.Typer(
    name="manetdiff",
    help="NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"manetdiff {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """NetDiff: directional link topologies and two-slot parity for mobile ad hoc networks."""


# In the order in which `manetdiff --help` lists them.
for module in (
    demo,
    generate,
    update,
    transition,
    score,
    simulate,
    serve,
    feed,
    watch,
    solve,
    data,
    evaluate,
    sweep,
    bench,
    reproduce,
    train,
    weights,
    convert,
    export,
    doctor,
):
    name = module.__name__.rpartition(".")[2]
    if hasattr(module, "app"):  # of several commands
        app.add_typer(module.app, name=name)
    else:
        app.command(name)(module.command)


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2, never a traceback."""
    warnings.showwarning = _show_warning
    # Where it finds no folder to write to it takes a temporary one, which is nothing to tell anyone.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with ending_in_one_line(), compiling_shown():
        app()


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:  # type: ignore[no-untyped-def]
    print(f"manetdiff: warning: {one_line(str(message))}", file=sys.stderr)
