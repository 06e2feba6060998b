"""`manetdiff evaluate`: solvers and models on the packaged benchmark sets."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_json, print_table, seconds_text, share_text
from manetdiff.data import BENCHMARKS
from manetdiff.errors import SolverError
from manetdiff.evaluate.baselines import TARGET, baselines
from manetdiff.evaluate.markdown import markdown_table
from manetdiff.evaluate.presets import preset_scores
from manetdiff.evaluate.scores import Score
from manetdiff.formats import check_writable, write_text

COLUMNS = (
    "method",
    "layouts",
    "links",
    "mean length",
    "per link, Mbit/s",
    "T, Mbit/s",
    "T / target",
    "saturated antennas",
    "saturated nodes",
    "connected",
    "parity",
    "valid",
)
ABLATION_COLUMNS = ("model", "seeds", *COLUMNS[2:])


def command(
    sets: Annotated[
        list[str] | None,
        typer.Argument(help=f"Which sets: {', '.join(BENCHMARKS)}. Default: all; with --ablations, bench16."),
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Run only this method; can be given again.")] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Sample from these weights instead: a file, or a name that 'manetdiff weights' lists; "
            "can be given again. Raw samples, without correction or polish."
        ),
    ] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="Generate with this preset instead, on one core; can be given again.")
    ] = None,
    ablations: Annotated[
        bool,
        typer.Option(
            "--ablations", help="Sample from all ablations and baselines instead; their weights come with the sources."
        ),
    ] = False,
    steps: Annotated[int | None, typer.Option(help="With weights: denoising steps.", min=1)] = None,
    temperature: Annotated[float | None, typer.Option(help="With weights: below 1, predictions are sharpened.")] = None,
    redundancy: Annotated[
        float | None, typer.Option(help="With weights: factor on the odds of every link; above 1, more are connected.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="With weights or presets: seed. Default: 0.", min=0)] = None,
    layouts: Annotated[int | None, typer.Option(help="At most so many layouts of each set.", min=1)] = None,
    moves: Annotated[
        int | None, typer.Option(help="Run just the searches that take a number of moves, with this one.", min=1)
    ] = None,
    markdown: Annotated[
        str | None, typer.Option(help="Write the tables here, too, as Markdown.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score solvers or models on the packaged benchmark sets, whose own topologies are the target.

    \b
    Examples:
      manetdiff evaluate
      manetdiff evaluate bench16 --method mst-greedy --method greedy
      manetdiff evaluate bench32 --method reference --moves 4000000 --layouts 44
      manetdiff evaluate --weights netdiff
      manetdiff evaluate --preset best --preset fast
      manetdiff evaluate bench16 --weights run/best.safetensors --steps 10 --layouts 100
      manetdiff evaluate --ablations --markdown docs/ablations.md
    """
    if markdown is not None:
        check_writable(markdown)
    if (weights or ablations) and (method or moves):
        raise SolverError("--method and --moves are for solvers; give them without --weights and --ablations")
    if weights and ablations:
        raise SolverError("--ablations brings its own weights; give it without --weights")
    if preset and (weights or ablations or method or moves):
        raise SolverError("--preset scores generate as it is; give it without --weights, --ablations and --method")
    knobs = {"steps": steps, "temperature": temperature, "redundancy": redundancy}
    sampling = {name: value for name, value in knobs.items() if value is not None}
    if sampling and not (weights or ablations):
        raise SolverError("--steps, --temperature and --redundancy go with --weights or --ablations")
    if seed is not None and not (weights or ablations or preset):
        raise SolverError("--seed goes with --weights, --ablations or --preset")
    tables: list[Table] = []
    results: dict[str, Any] = {}
    for name in sets or (["bench16"] if ablations else list(BENCHMARKS)):
        if ablations:
            rows, table = _ablation_table(name, sampling, seed or 0, layouts)
        elif preset:
            rows = preset_scores(name, preset, layouts=layouts, seed=seed or 0, report=_say)
            cells = [[*_cells(row), "" if row.seconds is None else seconds_text(row.seconds)] for row in rows]
            table = Table(name, (*COLUMNS, "time a layout"), cells)
        else:
            rows = (
                _model_rows(name, weights, sampling, seed or 0, layouts)
                if weights
                else baselines(name, method, layouts, moves, report=_say)
            )
            table = Table(name, COLUMNS, [_cells(row) for row in rows])
        results[name] = [asdict(row) for row in rows]
        tables.append(table)
        if not as_json:
            print_table(table)
    if as_json:
        print_json(results)
    if markdown is not None:
        parts = [f"## {table.title}\n\n{markdown_table(table.columns, table.rows)}" for table in tables]
        write_text(Path(markdown), "\n".join(parts))


def _model_rows(
    name: str, chosen: Sequence[str], knobs: Mapping[str, Any], seed: int, layouts: int | None
) -> list[Score]:
    with needs_torch("sampling from weights files"):
        from manetdiff.diffusion.weights import find_weights
        from manetdiff.evaluate.models import model_scores
    found = {weights: find_weights(weights) for weights in chosen}
    return model_scores(name, found, sampling=knobs, layouts=layouts, seed=seed, report=_say)


def _ablation_table(name: str, knobs: Mapping[str, Any], seed: int, layouts: int | None) -> tuple[list[Any], Table]:
    with needs_torch("sampling from weights files"):
        from manetdiff.evaluate.models import ablation_weights, ablations, model_scores
    scores = model_scores(name, ablation_weights(), sampling=knobs, layouts=layouts, seed=seed, report=_say)
    target = next(score for score in scores if score.method == TARGET)
    rows = ablations(scores)
    cells = [[row.label, str(row.seeds), *_figures(row.mean, row.spread if row.seeds > 1 else None)] for row in rows]
    cells.append([TARGET, "", *_figures({**target.metrics, "ratio": target.ratio}, None)])
    return [*rows], Table(name, ABLATION_COLUMNS, cells)


def _figures(mean: dict[str, float], spread: dict[str, float] | None) -> list[str]:
    """Every figure, with its spread where there are several seeds."""

    def written(name: str, digits: int, percent: bool) -> str:
        factor, unit = (100.0, " %") if percent else (1.0, "")
        text = f"{factor * mean[name]:.{digits}f}"
        return f"{text}{unit}" if spread is None else f"{text} ± {factor * spread[name]:.{digits}f}{unit}"

    return [
        written("links", 2, False),
        written("mean_length", 3, False),
        written("link_throughput", 2, False),
        written("throughput", 2, False),
        *(written(name, 2, True) for name in ("ratio", "antenna_saturation", "node_saturation")),
        *(written(name, 2, True) for name in ("connected", "parity", "valid")),
    ]


def _cells(row: Score) -> list[str]:
    means = row.metrics
    return [
        row.method,
        str(row.layouts),
        f"{means['links']:.2f}",
        f"{means['mean_length']:.3f}",
        f"{means['link_throughput']:.2f}",
        f"{means['throughput']:.2f}",
        f"{100 * row.ratio:.2f} %",
        f"{100 * means['antenna_saturation']:.2f} %",
        f"{100 * means['node_saturation']:.2f} %",
        share_text(means["connected"]),
        share_text(means["parity"]),
        share_text(means["valid"]),
    ]


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr)
