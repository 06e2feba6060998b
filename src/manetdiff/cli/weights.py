"""`manetdiff weights`: what weights come with the package, and how they were made."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_table
from manetdiff.errors import CheckpointError
from manetdiff.formats import check_writable, write_text
from manetdiff.formats.files import write_bytes


def command(
    name: Annotated[str | None, typer.Argument(help="Print the card of these: packaged ones, or a file.")] = None,
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
    layouts: Annotated[
        int | None, typer.Option(help="With --pack: score on at most so many layouts of each set.", min=1)
    ] = None,
) -> None:
    """List the packaged weights, or print the card of one.

    \b
    Examples:
      manetdiff weights
      manetdiff weights netdiff
      manetdiff weights mine --pack run/best.safetensors --commit "$(git rev-parse --short HEAD)"
    """
    with needs_torch("reading weights files"):
        from manetdiff.diffusion.weights import SUFFIX, packaged_names, packaged_weights, read_weights
        from manetdiff.evaluate.cards import card_page, with_card
        from manetdiff.evaluate.models import find_weights
    if pack is not None:
        if name is None:
            raise CheckpointError("--pack: give the name under which to ship the weights")
        folder = out or Path()
        file, page = folder / f"{name}{SUFFIX}", folder / f"{name}.md"
        check_writable(file)
        check_writable(page)

        def say(label: str) -> None:
            print(f"{label} …", file=sys.stderr)

        weights = read_weights(pack)
        if redundancy is not None:
            weights = replace(weights, sampling=replace(weights.sampling, redundancy=redundancy))
        carded = with_card(weights, commit or "unknown", layouts, say)
        write_bytes(file, carded.to_bytes(half=True))
        write_text(page, card_page(name, carded))
        print(f"{file}, {page}")
        return
    if any(option is not None for option in (out, commit, redundancy, layouts)):
        raise CheckpointError("--out, --commit, --redundancy and --layouts go with --pack: give the file to pack")
    if name is not None:
        print(card_page(name, find_weights(name)))
        return
    rows = []
    for packaged in packaged_names():
        weights = packaged_weights(packaged)
        scores = weights.card.get("benchmark", {})
        ratios = [f"{100 * scores[one]['ratio']:.2f} %" if one in scores else "" for one in ("bench16", "bench32")]
        count = sum(tensor.numel() for tensor in weights.tensors.values())
        rows.append([packaged, f"{count:,}", f"{weights.card.get('step', 0):,}", *ratios])
    print_table(Table("packaged weights", ("name", "parameters", "steps", "T, bench16", "T, bench32"), rows))
