"""`manetdiff weights`: what weights there are, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_table, say
from manetdiff.errors import CheckpointError
from manetdiff.evaluate.cards import card_page
from manetdiff.formats import check_writable, write_text
from manetdiff.formats.files import write_bytes
from manetdiff.measure.measures import MEASURES
from manetdiff.measure.store import RowStore
from manetdiff.sampling import grid_for
from manetdiff.weights import WEIGHTS_FILE, find, known, read_header
from manetdiff.weights.finder import PACKAGE

COLUMNS = ("name", "parameters", "steps", "T, bench16", "T, bench32", "in")


def command(
    name: Annotated[
        str | None, typer.Argument(help="Print the card of these: a name from the list, or a file.")
    ] = None,
    pack: Annotated[
        Path | None,
        typer.Option(
            help="Make weights to ship of this run's weights file, under the name given: scored, with a card."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="With --pack: the folder to write to. Default: here.")] = None,
    commit: Annotated[
        str | None, typer.Option(help="With --pack: the commit of the code that trained them. Default: unknown.")
    ] = None,
    redundancy: Annotated[
        float | None, typer.Option(help="With --pack: the redundancy that they are sampled with. Default: 1.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="With --pack: the temperature that they are sampled with. Default: 0.5.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="With --pack: denoising steps of a whole chain. Default: 50.", min=1)
    ] = None,
    layouts: Annotated[
        int | None, typer.Option(help="With --pack: score on at most so many layouts of each set.", min=1)
    ] = None,
) -> None:
    """List the weights that there are, or print the card of one.

    \b
    Examples:
      manetdiff weights
      manetdiff weights netdiff
      manetdiff weights mine --pack run/best.safetensors --commit "$(git rev-parse --short HEAD)"
    """
    if pack is not None:
        if name is None:
            raise CheckpointError("--pack: give the name under which to ship the weights")
        grid = None if steps is None else grid_for(steps)
        knobs = {"redundancy": redundancy, "temperature": temperature, "steps": steps, "grid": grid}
        sampling = {knob: value for knob, value in knobs.items() if value is not None}
        print(_packed(name, pack, out or Path(), commit or "unknown", sampling, layouts))
    elif any(option is not None for option in (out, commit, redundancy, temperature, steps, layouts)):
        raise CheckpointError(
            "--out, --commit, --redundancy, --temperature, --steps and --layouts go with --pack: give the file to pack"
        )
    elif name is not None:
        print(card_page(name, read_header(find(name, WEIGHTS_FILE))))
    else:
        print_table(Table("weights", COLUMNS, [_row(name, path) for name, path in known(WEIGHTS_FILE).items()]))


def _packed(name: str, pack: Path, folder: Path, commit: str, sampling: Mapping[str, Any], layouts: int | None) -> str:
    with needs_torch("scoring weights"):
        from manetdiff.diffusion.weights import find_weights
        from manetdiff.evaluate.models import with_card
    file, page = folder / f"{name}{WEIGHTS_FILE}", folder / f"{name}.md"
    check_writable(file)
    check_writable(page)
    weights = find_weights(pack)
    weights = replace(weights, sampling=replace(weights.sampling, **sampling))
    carded = with_card(RowStore(report=say), weights, commit, layouts)
    write_bytes(file, carded.to_bytes(half=True))
    write_text(page, card_page(name, read_header(file)))
    return f"{file}, {page}"


def _row(name: str, path: Path) -> list[str]:
    header = read_header(path)
    card = header.description.get("card", {})
    scores = card.get("benchmark", {})
    ratios = [MEASURES["ratio"].text(scores[one]["ratio"]) if one in scores else "" for one in ("bench16", "bench32")]
    where = "package" if path.parent == PACKAGE else "studies"
    return [name, f"{header.parameters:,}", f"{card.get('step', 0):,}", *ratios, where]
