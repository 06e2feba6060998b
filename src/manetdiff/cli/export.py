"""`manetdiff export`: weights as a file that runs without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.formats import check_writable
from manetdiff.formats.files import write_bytes
from manetdiff.weights import RUNTIME_FILE


def command(
    weights: Annotated[
        str,
        typer.Argument(
            help="Weights by name (see 'manetdiff weights'), or a weights file of a run.", metavar="WEIGHTS"
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="File to write. Default: NAME.netdiff, here.")] = None,
) -> None:
    """Make a runtime file of trained weights, for load, generate, update and evaluate.

    \b
    Examples:
      manetdiff export run/best.safetensors --out mine.netdiff
      manetdiff generate fleet.json --weights mine.netdiff
    """
    with needs_torch("export"):
        from manetdiff.diffusion.weights import find_weights
        from manetdiff.export.write import exported

    name = Path(weights).stem
    file = out or Path(f"{name}{RUNTIME_FILE}")
    check_writable(file)
    write_bytes(file, exported(name, find_weights(weights)).to_bytes())
    print(file)
