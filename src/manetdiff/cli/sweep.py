"""`manetdiff sweep`: a grid of scenarios, sizes, radios and ways of making topologies, as one table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manetdiff.cli import options
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.progress import tracked
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.data.sizes import sizes_of
from manetdiff.errors import DataError
from manetdiff.formats import read_radio
from manetdiff.measure.measures import MEASURES
from manetdiff.messages import brief
from manetdiff.scenarios import AIR, FAMILIES, MIXED
from manetdiff.weights import DEFAULT

if TYPE_CHECKING:
    from manetdiff.sweeps import Failure, Swept, SweptRadio

DEFAULT_RADIO, ALL_RADIOS = "default", "packaged"
SHOWN = ("links", "throughput", "ratio", "antenna_saturation", "connected", "valid")
# Failures that are printed; all are in the table.
MOST_SHOWN = 20
SOME_FAILED = 1


def command(
    out: Annotated[Path, typer.Option(help="The table to write (Parquet).")],
    family: Annotated[
        list[str],
        typer.Option(
            help=f"Scenario families, such as wedge,streets. {MIXED} (all of aircraft), {', '.join(FAMILIES)}."
        ),
    ] = [MIXED],  # noqa: B006
    nodes: Annotated[list[str], typer.Option(help="Fleet sizes, such as 16,32 or 8-12.")] = ["16"],  # noqa: B006
    radio: Annotated[
        list[str],
        typer.Option(
            help=f"Radios: {DEFAULT_RADIO}; names of the packaged ones ({', '.join(BENCHMARK_RADIOS)}), or "
            f"{ALL_RADIOS} for all of these; JSON files of radio parameters, as for solve."
        ),
    ] = [DEFAULT_RADIO],  # noqa: B006
    spacing: Annotated[
        float | None,
        typer.Option(
            help="Of radios from files: metres from a node to its nearest neighbour, the median of a fleet. (default: "
            "as the family has it)"
        ),
    ] = None,
    preset: Annotated[
        list[str],
        typer.Option(help="Ways: presets of generate, such as fast,best. (default: balanced, without --method)"),
    ] = [],  # noqa: B006
    method: Annotated[list[str], typer.Option(help="Ways: methods of solve, such as reference,mst-greedy.")] = [],  # noqa: B006
    moves_a_node: Annotated[int, typer.Option(help="Of methods that search.", min=1)] = 1_000,
    reference: Annotated[
        int | None,
        typer.Option(
            help="Also search each layout with so many moves a node, and give T as a share of what that finds.", min=1
        ),
    ] = None,
    layouts: Annotated[int, typer.Option(help="Of each family, size and radio.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Of the layouts.", min=0)] = 0,
    weights: options.Weights = DEFAULT,
    times: Annotated[
        bool,
        typer.Option("--times", help="Also the time of each row and its stages, which no two runs have in common."),
    ] = False,
    workers: options.Workers = None,
    engine: options.EngineChoice = "local",
    cluster: options.Cluster = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print means and failures as JSON.")] = False,
) -> None:
    """Score presets and solvers on every combination of scenario, size and radio; a Parquet table with a row each.

    \b
    Examples:
      manetdiff sweep --out table.parquet --nodes 8,16,32 --preset fast,best
      manetdiff sweep --out table.parquet --family wedge --radio packaged --method mst-greedy --reference 4000
      manetdiff sweep --out table.parquet --nodes 16-64 --engine ray --cluster auto

    The same command continues where a stopped run left off. Without --times the file is the same, byte by byte, whoever
    did the work. A row that fails ends nothing: it is in the table with what was wrong, is tried again by the next run,
    and makes the exit code 1.
    """
    chosen = options.engine_of(engine, workers, cluster)
    from manetdiff.sweeps import Grid, sweep

    families = options.parts(family)
    grid = Grid(
        families=AIR if families == [MIXED] else tuple(families),
        nodes=sizes_of(options.parts(nodes)),
        presets=tuple(options.parts(preset)) if preset or method else ("balanced",),
        methods=tuple(options.parts(method)),
        radios=_radios(options.parts(radio), spacing),
        layouts=layouts,
        seed=seed,
        weights=weights,
        moves_a_node=moves_a_node,
        reference=reference,
        times=times,
    )
    with tracked("rows") as track:
        swept = sweep(grid, out, engine=chosen, report=lambda now: track(now.done, now.total, failed=now.failed))
    means = _means(swept)
    if as_json:
        told = [{**_place(one), "message": one.message} for one in swept.failures]
        print_json({"table": str(out), "rows": len(swept.table), "made": swept.made, "means": means, "failures": told})
    else:
        _print_means(means, with_reference=reference is not None)
        megabytes = out.stat().st_size / 1e6
        print(f"{out}: {len(swept.table)} rows ({swept.made} made now), {megabytes:.2f} MB")
    if swept.failures:
        _print_failures(swept.failures)
        raise typer.Exit(SOME_FAILED)


def _radios(given: Sequence[str], spacing: float | None) -> dict[str, SweptRadio]:
    from manetdiff.sweeps import SweptRadio

    found: dict[str, SweptRadio] = {}
    files = False
    for name in [one for part in given for one in (BENCHMARK_RADIOS if part == ALL_RADIOS else [part])]:
        if name == DEFAULT_RADIO:
            called, made = name, SweptRadio()
        elif name in BENCHMARK_RADIOS:
            called, made = name, SweptRadio(BENCHMARK_RADIOS[name].radio, BENCHMARK_RADIOS[name].spacing)
        else:
            files = True
            called, made = Path(name).stem, SweptRadio(read_radio(name), spacing)
        if called in found or (name != called and called in (DEFAULT_RADIO, *BENCHMARK_RADIOS)):
            raise DataError(f"--radio: two radios would be called {brief(called)}; each must have a name of its own")
        found[called] = made
    if spacing is not None and not files:
        raise DataError("--spacing: goes with radios from files; the others have their own")
    return found


def _means(swept: Swept) -> list[dict[str, Any]]:
    """Of each way at each size, over the rows that went well."""
    import pyarrow.compute as pc

    well = swept.table.filter(pc.is_null(swept.table["error"]))
    kept = ["kind", "way", "nodes"]
    grouped = well.group_by(kept, use_threads=False).aggregate(
        [(name, "mean") for name in SHOWN] + [("index", "count")]
    )
    return [
        {
            **{name: row[name] for name in kept},
            "rows": row["index_count"],
            **{name: row[f"{name}_mean"] for name in SHOWN},
        }
        for row in grouped.to_pylist()
    ]


def _print_means(means: Sequence[dict[str, Any]], *, with_reference: bool) -> None:
    shown = [name for name in SHOWN if name != "ratio" or with_reference]
    labels = ["T / reference" if name == "ratio" else MEASURES[name].label for name in shown]
    rows = [
        [row["way"], str(row["nodes"]), str(row["rows"]), *(MEASURES[name].text(row[name]) for name in shown)]
        for row in means
    ]
    print_table(Table("Means over families, radios and layouts", ("way", "nodes", "rows", *labels), rows))


def _print_failures(failures: Sequence[Failure]) -> None:
    """On standard error: the first of each message, and how many more have it."""
    of_message = Counter(one.message for one in failures)
    first = {one.message: one for one in reversed(failures)}
    print(f"{len(failures)} rows failed; the same command tries them again:", file=sys.stderr)
    for message, count in of_message.most_common(MOST_SHOWN):
        where = ", ".join(f"{name} {value}" for name, value in _place(first[message]).items())
        more = f" and {count - 1} more" if count > 1 else ""
        print(f"  {where}{more}: {message}", file=sys.stderr)
    if len(of_message) > MOST_SHOWN:
        print(f"  … and {len(of_message) - MOST_SHOWN} other messages, which are in the table", file=sys.stderr)


def _place(failure: Failure) -> dict[str, Any]:
    place, way = failure.place, failure.way
    named = {"family": place.family, "nodes": place.nodes, "radio": place.radio, "index": place.index}
    return {**named, way.kind: way.name}
