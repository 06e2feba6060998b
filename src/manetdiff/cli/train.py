"""`manetdiff train`: a model from solved layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.train_progress import shown
from manetdiff.errors import TrainingError
from manetdiff.formats import read_radio

PICTURE = "samples.png"


def command(
    data: Annotated[list[Path], typer.Argument(help="Folders that 'manetdiff data' has filled.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; a run that was stopped goes on from its checkpoint.")],
    model: Annotated[
        str,
        typer.Option(
            help="acam (the paper's NetDiff), cam, none, one-token, cross-entropy, ddpm-gt, gt-vae, graph-vae, "
            "components; acam-plain, cam-plain, none-plain, ddpm-gt-plain: without our features; sparse: on candidate "
            "links, for any fleet and radio."
        ),
    ] = "acam",
    recipe: Annotated[
        str, typer.Option(help="paper (as in the paper), fast (our own) or any-fleet (of sparse).")
    ] = "fast",
    width: Annotated[int | None, typer.Option(help="Channels, instead of the model's.")] = None,
    blocks: Annotated[int | None, typer.Option(help="Graph transformer blocks, instead of the model's.")] = None,
    encoder: Annotated[
        int | None, typer.Option(help="Of sparse networks: blocks before them that see the layout alone.")
    ] = None,
    activation: Annotated[str | None, typer.Option(help="gelu or relu, instead of the model's.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Tokens, instead of the model's.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data, instead of the recipe's.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Graphs a step, or arcs of sparse, instead of the recipe's.")
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(help="Share of each fleet size in a batch, such as 16:0.6,32:0.4. Default: the data's."),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate, instead of the recipe's.")] = None,
    clip: Annotated[
        float | None, typer.Option(help="Largest norm of the gradient, instead of the recipe's; 0: any.")
    ] = None,
    ema: Annotated[float | None, typer.Option(help="Decay of the averaged weights, instead of the recipe's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the recipe's 123.")] = None,
    precision: Annotated[str | None, typer.Option(help="32 or bf16, instead of the recipe's.")] = None,
    compiled: Annotated[
        bool | None, typer.Option("--compile/--no-compile", help="Compile the step, instead of as the recipe says.")
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option(help="Epochs between validations and checkpoints, instead of the recipe's.")
    ] = None,
    loss: Annotated[
        list[str] | None,
        typer.Option(
            help="Weights of the loss's terms instead of the model's, such as sector=0.1,odd=0; may be repeated. "
            "Terms: edges, parity, sector, cosine, odd; of sparse networks, consistency."
        ),
    ] = None,
    redundancy: Annotated[float, typer.Option(help="Factor on the odds of a link in the noise; see the docs.")] = 1.0,
    parity_pace: Annotated[
        float, typer.Option(help="Pace of the noise on parity; below 1 it is settled before the edges.")
    ] = 1.0,
    heading: Annotated[
        float, typer.Option(help="How much sooner noise comes to links that are about to leave a sector; see the docs.")
    ] = 0.0,
    forest: Annotated[
        float, typer.Option(help="Of sparse networks: share of graphs whose noise starts from a spanning forest.")
    ] = 0.0,
    start: Annotated[
        str | None, typer.Option("--from", help="Weights to begin with, by name or file, instead of random ones.")
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="A family of layouts that the run must not see; may be repeated.")
    ] = None,
    radio: Annotated[
        Path | None, typer.Option(help="JSON file of the radio that the data must have been solved for.")
    ] = None,
    accelerator: Annotated[str, typer.Option(help="Lightning Fabric's: auto, cpu, cuda, …")] = "auto",
    devices: Annotated[int, typer.Option(help="Devices on each machine.", min=1)] = 1,
    machines: Annotated[int, typer.Option(help="Machines; start the same command on each.", min=1)] = 1,
) -> None:
    """Train a model on solved layouts.

    \b
    Examples:
      manetdiff data --out layouts --nodes 16 --count 20000
      manetdiff train layouts --out run
      manetdiff train layouts --out paper-run --recipe paper
      manetdiff train layouts --out two-gpus --devices 2
      manetdiff train layouts others --out any --model sparse --recipe any-fleet
      manetdiff train mine --out tuned --model sparse --recipe any-fleet --from netdiff-sparse --rate 0.0005

    The folder of the run gets checkpoint.safetensors (to go on from), best.safetensors and last.safetensors (weights
    to use), samples.png and a TensorBoard log.
    """
    with needs_torch("training"):
        from manetdiff.evaluate.held_out import draw_held_out
        from manetdiff.training import train
    settings = {
        "width": width,
        "blocks": blocks,
        "encoder": encoder,
        "activation": activation,
        "tokens": tokens,
        "epochs": epochs,
        "batch": batch,
        "mix": None if mix is None else _pairs("--mix", "16:0.6,32:0.4", ":", int, mix),
        "rate": rate,
        "clip": clip,
        "ema": ema,
        "seed": seed,
        "precision": precision,
        "compiled": compiled,
        "validate_every": validate_every,
        "checkpoint_every": validate_every,
    }
    with shown() as report:
        result = train(
            data,
            out,
            model,
            recipe,
            losses=dict(_pairs("--loss", "sector=0.1,odd=0", "=", str, ",".join(loss))) if loss else None,
            redundancy=redundancy,
            parity_pace=parity_pace,
            heading=heading,
            forest=forest,
            start=start,
            leave_out=leave_out or (),
            radio=None if radio is None else read_radio(radio),
            accelerator=accelerator,
            devices=devices,
            machines=machines,
            report=report,
            **{name: value for name, value in settings.items() if value is not None},
        )
    if result.leads:
        draw_held_out(result.weights, result.held_out, out / PICTURE)
        best = result.state.best
        told = "" if best is None else f", best validation: {100 * best:.2f} % of the target's T"
        print(f"{out}: {result.state.step} steps{told}")


def _pairs(
    option: str, example: str, between: str, name: Callable[[str], Any], text: str
) -> tuple[tuple[Any, float], ...]:
    """The names and numbers of an option."""
    try:
        pairs = [part.split(between) for part in text.split(",")]
        return tuple((name(first.strip()), float(number)) for first, number in pairs)
    except ValueError:
        raise TrainingError(f"{option}: give names and numbers such as {example}, not {text!r}") from None
