"""Fit the presets: what each of them does with its time, by the size of the fleet.

On layouts that are drawn for this and are in no benchmark set, most of them under the default radio and as dense as
those of the sets, the others under random radios, samples are drawn, corrected and searched from once for every way of
drawing and number of moves. What an effort gives is then the mean over subsets of these samples, and what it takes is a
sum of what its parts took, in CPU time. Every preset gets the effort that makes most of its time.

    python scripts/fit_presets.py --seconds 300 --layouts 60 --out docs/results/preset_fit.md --write

The reference, and the same local search from priors without a network, are measured on the same layouts in the same
run: the report says what each preset is ahead of them at its own time.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from manetdiff.evaluate.effort_trials import Trial, trials
from manetdiff.evaluate.preset_choice import TIMES_MS, Choice, chosen, options_of, other_at, seconds_of
from manetdiff.measure.ways.priors import PRIORS
from manetdiff.runtime import presets
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.presets import Fitted
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.weights import DEFAULT

SIZES = (8, 16, 32, 64, 128, 256, 512, 1000)
HEAD = """# How the presets were fitted

By `python scripts/fit_presets.py --seconds {seconds:g} --layouts {layouts} --out docs/results/preset_fit.md --write`,
on one core. Layouts are in no benchmark set; up to 64 nodes one of three is under a random radio. Every preset has the
effort that made most of its time. T is over the best that any of the methods here found, and the others are given as
they stood at the preset's time: the reference, held to one link an antenna as presets are, and the same local search
from priors without a network. What a preset makes of other layouts is on [another page](presets.md).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default=DEFAULT)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of CPU time for each size; two layouts in any case"
    )
    parser.add_argument("--layouts", type=int, default=40, help="of each size, at most")
    parser.add_argument("--out", type=Path, help="write the report to this file, too")
    parser.add_argument("--write", action="store_true", help=f"write the table of these sizes to {presets.__file__}")
    asked = parser.parse_args()
    rehearse()
    bundle = find_bundle(asked.weights)
    table = {name: dict(presets.PRESETS.get(name, {})) for name in TIMES_MS}
    lines: list[str] = []
    for n in asked.sizes:
        tried = list(trials(bundle, n, seconds_of("best", n), asked.seconds, asked.layouts))
        options = options_of(tried)
        efforts = {name: chosen(options, seconds_of(name, n)) for name in TIMES_MS}
        for name, choice in efforts.items():
            table[name][n] = choice.effort
        made = report(tried, n, efforts)
        print("\n".join(made), flush=True)
        lines += made
        # After every size: what was measured is not lost with a run that is stopped.
        if asked.out:
            head = HEAD.format(seconds=asked.seconds, layouts=asked.layouts)
            asked.out.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
        if asked.write:
            Path(presets.__file__).write_text(as_module(table), encoding="utf-8")


def report(tried: Sequence[Trial], n: int, efforts: Mapping[str, Choice]) -> list[str]:
    """A Markdown table of one size."""
    names = ["reference", *PRIORS]
    lines = [
        "",
        f"{n} nodes, {len(tried)} layouts; T over the best known, in %; the others at the preset's time",
        "",
        "| preset | steps | samples | finalists | moves a node | forest | ms | T | default radio | random radios | "
        + " | ".join(name if name == "reference" else f"{name} + search" for name in names)
        + " |",
        "| --- |" + " ---: |" * (9 + len(names)),
    ]
    for name, (effort, seconds, *shares) in efforts.items():
        others = [other_at(tried, other, seconds) for other in names]
        told = [*map(str, effort[:4]), "yes" if effort.forest else "no", f"{1e3 * seconds:.1f}"]
        told += [f"{100 * share:.2f}" if share else "–" for share in (*shares, *others)]
        lines.append(f"| `{name}` | " + " | ".join(told) + " |")
    return lines


def as_module(table: Mapping[str, Mapping[int, Fitted]]) -> str:
    """The text of `presets.py`."""
    text = Path(presets.__file__).read_text(encoding="utf-8")
    head = text[: text.index("PRESETS:")]
    lines = ["PRESETS: dict[str, dict[int, Fitted]] = {"]
    for name, efforts in table.items():
        lines.append(f'    "{name}": {{')
        for n in sorted(efforts):
            lines.append(f"        {n}: Fitted({', '.join(map(str, efforts[n]))}),")
        lines.append("    },")
    return head + "\n".join([*lines, "}"]) + "\n"


if __name__ == "__main__":
    main()
