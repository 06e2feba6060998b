"""`manetdiff evaluate`: solvers and models on the packaged benchmark sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from manetdiff.cli import options
from manetdiff.cli.evaluate_sets import about_sets, set_tables
from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_json, print_table, say, write_markdown
from manetdiff.cli.progress import with_bar
from manetdiff.data import BENCHMARKS, DEFAULT_SETS
from manetdiff.errors import SolverError
from manetdiff.evaluate.bundles import bundle_rows
from manetdiff.evaluate.scores import Score, baseline_rows, baseline_scores, has_radios, preset_rows
from manetdiff.formats import check_writable
from manetdiff.measure.measures import MEASURES, OF_LAYOUTS, labels, seconds_text
from manetdiff.measure.rows import TARGET, Rows
from manetdiff.measure.store import RowStore
from manetdiff.runtime.bundle import find_bundle
from manetdiff.weights import RUNTIME_FILE

FIGURES = labels(OF_LAYOUTS)


def command(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Which sets: {', '.join(BENCHMARKS)}. Default: {', '.join(DEFAULT_SETS)}; with --ablations, bench16."
        ),
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Run only this method; can be given again.")] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Sample from these weights instead: a weights file, a name that 'manetdiff weights' lists, or a "
            "runtime file (.netdiff), which needs no PyTorch; can be given again. Raw samples, without correction or "
            "polish."
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
    workers: options.WorkersAsked = None,
    engine: options.EngineChoice = "local",
    cluster: options.Cluster = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score solvers or models on the packaged benchmark sets, whose own topologies are the target.

    \b
    Examples:
      manetdiff evaluate
      manetdiff evaluate bench16 --method mst-greedy --method greedy
      manetdiff evaluate bench32 --method reference --moves 4000000 --layouts 44
      manetdiff evaluate bench64 bench256 bench1000 radios
      manetdiff evaluate --weights netdiff
      manetdiff evaluate --preset best --preset fast
      manetdiff evaluate bench16 --weights run/best.safetensors --steps 10 --layouts 100
      manetdiff evaluate bench16 --weights mine.netdiff --layouts 100
      manetdiff evaluate --ablations --markdown docs/ablations.md
      manetdiff evaluate bench1000 --workers 8

    With several workers the scores are the same, but for methods that work by the clock; times are those of cores whose
    neighbours are busy.
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
    chosen = sets or (["bench16"] if ablations else DEFAULT_SETS)
    intro = None
    with options.measuring_engine(engine, workers, cluster) as shared:
        store = RowStore(report=say, engine=shared, watch=with_bar)
        for name in chosen:
            if ablations:
                results[name], table = _ablation_table(
                    name, _model_rows(store, name, None, sampling, seed or 0, layouts)
                )
                made = [table]
            elif preset or weights:
                if preset:
                    rows = preset_rows(store, name, preset, layouts=layouts, seed=seed or 0)
                else:
                    rows = _model_rows(store, name, weights, sampling, seed or 0, layouts)
                if has_radios(name):
                    found, made = set_tables(name, rows)
                    results |= found
                else:
                    scores = [Score.of(label, some) for label, some in rows.items()]
                    results[name], made = (
                        [asdict(score) for score in scores],
                        [_table(name, scores, timed=bool(preset))],
                    )
            elif name in DEFAULT_SETS:
                scores = baseline_scores(store, name, method, layouts, moves)
                results[name], made = [asdict(score) for score in scores], [_table(name, scores, timed=False)]
            else:
                found, made = set_tables(name, baseline_rows(store, name, method, layouts, moves))
                results |= found
                intro = about_sets(chosen, alone=shared is None)
            tables += made
            if not as_json:
                for table in made:
                    print_table(table)
    if as_json:
        print_json(results)
    if markdown is not None:
        write_markdown(tables, markdown, intro)


def _model_rows(
    store: RowStore,
    name: str,
    chosen: Sequence[str] | None,
    sampling: Mapping[str, Any],
    seed: int,
    layouts: int | None,
) -> dict[str, Rows]:
    """Raw samples of the chosen weights and runtime files, or of all ablations."""
    bundles = {one: find_bundle(one) for one in chosen or () if one.endswith(RUNTIME_FILE)}
    others = [one for one in chosen or () if one not in bundles]
    rows: dict[str, Rows] = {}
    if chosen is None or others:
        with needs_torch("sampling from weights files"):
            from manetdiff.diffusion.weights import find_weights
            from manetdiff.evaluate.models import ablation_weights, model_rows
        found = ablation_weights() if chosen is None else {one: find_weights(one) for one in others}
        rows |= model_rows(store, name, found, sampling=sampling, layouts=layouts, seed=seed)
    if bundles:
        rows |= bundle_rows(store, name, bundles, sampling=sampling, layouts=layouts, seed=seed)
    return rows if chosen is None else {one: rows[one] for one in (TARGET, *chosen)}


def _table(name: str, scores: Sequence[Score], *, timed: bool) -> Table:
    cells = []
    for score in scores:
        row = [score.method, str(score.layouts), *_figures({**score.metrics, "ratio": score.ratio})]
        cells.append([*row, "" if score.seconds is None else seconds_text(score.seconds)] if timed else row)
    return Table(name, ("method", "layouts", *FIGURES, *(["time a layout"] if timed else [])), cells)


def _ablation_table(name: str, rows: Mapping[str, Rows]) -> tuple[list[dict[str, Any]], Table]:
    from manetdiff.evaluate.models import ablations

    made = ablations(rows)
    cells = [[one.label, str(one.seeds), *_figures(one.mean, one.spread if one.seeds > 1 else None)] for one in made]
    cells.append([TARGET, "", *_figures(rows[TARGET].means(OF_LAYOUTS))])
    return [asdict(one) for one in made], Table(name, ("model", "seeds", *FIGURES), cells)


def _figures(mean: Mapping[str, float], spread: Mapping[str, float] | None = None) -> list[str]:
    """Every figure, with its spread where there are several seeds."""
    return [MEASURES[name].text(mean[name], None if spread is None else spread[name]) for name in OF_LAYOUTS]
