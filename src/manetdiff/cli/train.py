"""`manetdiff train`: a model from solved layouts."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.train_progress import shown
from manetdiff.data.files import locked
from manetdiff.errors import TrainingError
from manetdiff.formats import read_radio

if TYPE_CHECKING:  # PyTorch is loaded by the command alone
    from lightning.fabric import Fabric

    from manetdiff.data import SolvedLayout
    from manetdiff.training.checkpoint import Progress
    from manetdiff.training.loop import Trainer
    from manetdiff.training.plan import Plan

PICTURED = 3
PICTURE = "samples.png"


def command(
    data: Annotated[list[Path], typer.Argument(help="Folders that 'manetdiff data' has filled.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; a run that was stopped goes on from its checkpoint.")],
    model: Annotated[
        str,
        typer.Option(
            help="acam (the paper's NetDiff), cam, none, one-token, cross-entropy, ddpm-gt, gt-vae, graph-vae, "
            "components; acam-plain, cam-plain, none-plain, ddpm-gt-plain: without our features."
        ),
    ] = "acam",
    recipe: Annotated[str, typer.Option(help="paper (as in the paper) or fast (our own).")] = "fast",
    width: Annotated[int | None, typer.Option(help="Channels, instead of the model's.")] = None,
    blocks: Annotated[int | None, typer.Option(help="Graph transformer blocks, instead of the model's.")] = None,
    activation: Annotated[str | None, typer.Option(help="gelu or relu, instead of the model's.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Tokens, instead of the model's.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data, instead of the recipe's.")] = None,
    batch: Annotated[int | None, typer.Option(help="Graphs a step, instead of the recipe's.")] = None,
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
    redundancy: Annotated[float, typer.Option(help="Factor on the odds of a link in the noise; see the docs.")] = 1.0,
    parity_pace: Annotated[
        float, typer.Option(help="Pace of the noise on parity; below 1 it is settled before the edges.")
    ] = 1.0,
    heading: Annotated[
        float, typer.Option(help="How much sooner noise comes to links that are about to leave a sector; see the docs.")
    ] = 0.0,
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

    The folder of the run gets checkpoint.safetensors (to go on from), best.safetensors and last.safetensors (weights
    to use), samples.png and a TensorBoard log.
    """
    with needs_torch("training"):
        from manetdiff.training.corpus import read_corpus
        from manetdiff.training.loop import Trainer
    of_model = _given(width=width, blocks=blocks, activation=activation, tokens=tokens)
    of_recipe = _given(
        epochs=epochs,
        batch=batch,
        mix=None if mix is None else _mix(mix),
        rate=rate,
        clip=clip,
        ema=ema,
        seed=seed,
        precision=precision,
        compiled=compiled,
        validate_every=validate_every,
        checkpoint_every=validate_every,
    )
    plan = _plan(
        model, recipe, of_model, of_recipe, {"redundancy": redundancy, "parity_pace": parity_pace, "heading": heading}
    )
    corpus = read_corpus(
        data,
        None if radio is None else read_radio(radio),
        held_out=plan.recipe.validation,
        leave_out=leave_out or (),
    )
    fabric = _fabric(plan.recipe.precision, accelerator, devices, machines)
    fabric.launch()
    trainer = Trainer(plan, corpus, out, fabric, {"variant": model})
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(f"{out}: the folder cannot be made: {error.strerror}") from None
    if fabric.is_global_zero:
        with locked(out), shown(trainer.steps, trainer.progress.step) as report:
            progress = trainer.train(report)
    else:
        progress = trainer.train()
    if fabric.is_global_zero:
        _finish(trainer, progress, corpus.held_out, out)


def _plan(
    model: str, recipe: str, of_model: dict[str, Any], of_recipe: dict[str, Any], of_noise: dict[str, float]
) -> Plan:
    """A model and a recipe by name, with what was asked for instead."""
    from manetdiff.training.plan import Plan
    from manetdiff.training.recipe import RECIPES
    from manetdiff.training.variants import variant

    if recipe not in RECIPES:
        raise TrainingError(f"--recipe: unknown recipe {recipe!r}; known are {', '.join(RECIPES)}")
    chosen = variant(model)
    return Plan(
        dataclasses.replace(chosen.model, **of_model),
        dataclasses.replace(RECIPES[recipe], **of_recipe),
        chosen.losses,
        **of_noise,
    )


def _fabric(precision: str, accelerator: str, devices: int, machines: int) -> Fabric:
    import torch
    from lightning.fabric import Fabric

    on_gpu = accelerator != "cpu" and torch.cuda.is_available()
    if accelerator not in ("auto", "cpu") and not on_gpu:
        raise TrainingError(f"--accelerator {accelerator}: there is none here that PyTorch can use; give cpu")
    if precision == "bf16":
        torch.set_float32_matmul_precision("high")
    return Fabric(
        accelerator=accelerator,
        devices=devices,
        num_nodes=machines,
        strategy="ddp" if devices * machines > 1 else "auto",
        precision="bf16-mixed" if precision == "bf16" and on_gpu else "32-true",
    )


def _finish(trainer: Trainer, progress: Progress, held_out: list[SolvedLayout], out: Path) -> None:
    """A picture of samples on layouts that were held out, and where everything is."""
    from manetdiff.evaluate.samples import Sample, draw_samples
    from manetdiff.sampling import SamplerConfig
    from manetdiff.training.validation import make_trials, sample_topologies

    if held_out:
        shown_layouts = held_out[:: max(1, len(held_out) // PICTURED)][:PICTURED]
        weights = trainer.weights()
        topologies = sample_topologies(
            weights.build(), make_trials(shown_layouts, weights.radio), SamplerConfig(), 0, "cpu"
        )
        pairs = [Sample(one.fleet, one.topology, drawn) for one, drawn in zip(shown_layouts, topologies, strict=True)]
        draw_samples(pairs, weights.radio, out / PICTURE)
    best = "" if progress.best == float("-inf") else f", best validation: {100 * progress.best:.2f} % of the target's T"
    print(f"{out}: {progress.step} steps{best}")


def _mix(text: str) -> tuple[tuple[int, float], ...]:
    try:
        pairs = [part.split(":") for part in text.split(",")]
        return tuple((int(nodes), float(share)) for nodes, share in pairs)
    except ValueError:
        raise TrainingError(f"--mix: give sizes and shares such as 16:0.6,32:0.4, not {text!r}") from None


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
