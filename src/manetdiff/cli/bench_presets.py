"""`manetdiff bench --presets`: presets of all sizes against their peers in the same time; other radios and fleets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manetdiff.cli.output import Table
from manetdiff.cores import processor_name
from manetdiff.data.benchmark_radios import SPACING
from manetdiff.data.sizes import sizes_of
from manetdiff.evaluate.other_fleets import (
    FIRST_SEEDS,
    LONG_SECONDS,
    RAW_STEPS,
    Compared,
    under_radios,
    unlike_training,
)
from manetdiff.evaluate.over_time import Point
from manetdiff.evaluate.preset_frontier import (
    CONSTRUCTED,
    FITTED_FROM,
    PEERS,
    Lead,
    Match,
    matches,
    points_of,
    processor_seconds,
    time_exponents,
)
from manetdiff.evaluate.scaling import SIZES
from manetdiff.measure.measures import MEASURES, Cell, seconds_text
from manetdiff.measure.resampling import bootstrap
from manetdiff.measure.rows import Rows
from manetdiff.measure.store import RowStore
from manetdiff.reproduce.pages import commit
from manetdiff.runtime.effort import DEFAULT
from manetdiff.runtime.presets import PRESETS

QUICK_SIZES, QUICK_LAYOUTS = (16, 64), 2


class Told(NamedTuple):
    """The tables, the same for machines, points for a picture, and what a page says above the tables."""

    tables: list[Table]
    document: dict[str, Any]
    points: list[Point]
    intro: str


def preset_tables(
    store: RowStore,
    nodes: str | None = None,
    layouts: int | None = None,
    presets: Sequence[str] | None = None,
    *,
    quick: bool = False,
    picture: str | None = None,
) -> Told:
    """nodes: sizes as text. layouts: at most so many of each kind. presets: some of them only. quick: less of all,
    where nothing else is asked for. picture: where it will be, as the page has to name it."""
    sizes = sizes_of(nodes.split(",")) if nodes else QUICK_SIZES if quick else SIZES
    at_most = layouts or (QUICK_LAYOUTS if quick else None)
    found = matches(store, sizes, at_most, tuple(presets or PRESETS))
    radios, unlike = under_radios(store, at_most), unlike_training(store, at_most)
    exponents = time_exponents(found)
    tables = [
        _standings(found),
        _times(found, exponents),
        *(_at_size([one for one in found if one.nodes == size]) for size in sorted(sizes)),
        _compared("Twelve radios", "radio", radios),
        _compared("Layouts unlike any in training", "fleet", unlike),
    ]
    document = {
        "presets": [one.to_dict() for one in found],
        "exponents": exponents,
        "radios": [one.to_dict() for one in radios],
        "unlike": [one.to_dict() for one in unlike],
    }
    asked = f" --nodes {','.join(map(str, sizes))}" if tuple(sizes) != SIZES else ""
    asked += "" if at_most is None else f" --layouts {at_most}"
    asked += "".join(f" --preset {preset}" for preset in presets or ())
    return Told(tables, document, points_of(found), _intro(asked, picture))


def beside(picture: str | None, page: str | None) -> str | None:
    """How a page names a picture."""
    return Path(os.path.relpath(picture, Path(page).parent)).as_posix() if picture and page else None


def _by_size(found: Sequence[Match]) -> dict[str, list[Match]]:
    """By preset, smallest first."""
    return {name: [one for one in found if one.preset == name] for name in dict.fromkeys(one.preset for one in found)}


def _standings(found: Sequence[Match]) -> Table:
    by_preset = _by_size(found)
    rows = [[name, *(one.verdict for one in line)] for name, line in by_preset.items()]
    return Table("Who is ahead of all peers in the same time", ("preset", *_sizes(by_preset)), rows)


def _times(found: Sequence[Match], exponents: dict[str, float | None]) -> Table:
    by_preset = _by_size(found)
    rows = []
    for name, line in by_preset.items():
        slope = exponents[name]
        rows.append([name, *(seconds_text(one.seconds) for one in line), "" if slope is None else f"{slope:.2f}"])
    last = f"exponent from {FITTED_FROM} nodes on"
    return Table("Processor time a layout", ("preset", *_sizes(by_preset), last), rows)


def _sizes(by_preset: dict[str, list[Match]]) -> list[str]:
    return [f"{one.nodes:,} nodes" for one in next(iter(by_preset.values()))]


def _at_size(found: Sequence[Match]) -> Table:
    """What each preset makes, and how far it is ahead of each peer, with the peer's T / target and validity."""
    rows = []
    for one in found:
        peers = [f"{_lead(lead)} ({_short(one.peers[name])})" for name, lead in one.leads.items()]
        rows.append([one.preset, seconds_text(one.seconds), _ratio(one.rows), _valid(one.rows), _spent(one), *peers])
    first = found[0]
    columns = ("preset", "processor time", "T / target", "valid", "peers' time")
    heads = (f"ahead of {name}, points" for name in PEERS)
    return Table(f"{first.nodes:,} nodes, {first.rows.layouts} layouts", (*columns, *heads), rows)


def _compared(title: str, head: str, found: Sequence[Compared]) -> Table:
    rows = []
    for one in found:
        cells = [
            one.kind,
            f"{one.preset.layouts}",
            _ratio(one.raw),
            MEASURES["connected"].text(one.raw.mean("connected")),
        ]
        cells += [_ratio(one.preset), _valid(one.preset), seconds_text(processor_seconds(one.preset))]
        for peer, lead in ((one.alone, one.lead_alone), (one.reference, one.lead)):
            cells += [f"{_ratio(peer)}, {_valid(peer)} valid", _lead(lead), lead.verdict]
        rows.append([*cells, *([] if one.long is None else [_ratio(one.long)])])
    columns = [head, "layouts", "raw", "raw, connected", DEFAULT, "valid", "processor time"]
    for name in ("reference, one link an antenna", "reference"):
        columns += [f"{name}, same time", f"{DEFAULT} ahead, points", "it is"]
    if found[0].long is not None:
        columns.append(f"reference, {LONG_SECONDS:g} s (layouts: {found[0].long.layouts})")
    return Table(title, columns, rows)


def _lead(lead: Lead) -> str:
    return f"{100 * lead.mean:+.2f} [{100 * lead.low:+.2f}, {100 * lead.high:+.2f}]"


def _ratio(rows: Rows) -> str:
    return Cell(MEASURES["ratio"], *bootstrap(rows.ratios)).text


def _short(rows: Rows) -> str:
    return f"{MEASURES['ratio'].text(float(rows.ratios.mean()))}, {_valid(rows)} valid"


def _valid(rows: Rows) -> str:
    return MEASURES["valid"].text(rows.mean("valid"))


def _spent(one: Match) -> str:
    """The least and the most processor time of a peer that has a budget, as a share of the preset's."""
    shares = [processor_seconds(rows) / one.seconds for name, rows in one.peers.items() if name != CONSTRUCTED]
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def _intro(asked: str, picture: str | None) -> str:
    drawn = "" if picture is None else f"\n![T over time for each size]({picture})\n"
    return f"""# Presets against their peers

By `manetdiff bench --presets{asked}`, commit {commit()}, on one core of {processor_name()}.

Fleets of all sizes are equally dense: {SPACING:,.0f} m to the nearest neighbour, as in `bench64`, `bench256` and
`bench1000`, whose first layouts are used; `bench16` is that dense by itself. Sets of other sizes are drawn in the same
way, and their targets are searched for as long. No layout is in any training set.

- **In the same time**: a preset is timed first; each peer is then given the mean time that it took, by the clock, and
  starts from positions alone. *Peers' time* is what of it they used, in processor time. MST+greedy takes what it takes.
- **Peers**: the reference search; plain annealing; MST+greedy; and the very correction and local search that follow the
  network, from links without one: those of MST+greedy, and the nearest node in each sector. What a preset is ahead of
  the last two is what its network is worth.
- **T / target** is the mean of the layouts' own ratios, with the interval that holds it with 95 % confidence. A lead is
  in points of it, resampled layout by layout in pairs; in parentheses is what the peer has. *Ahead* and *behind* are
  said where the whole interval is on one side of 0, else *level*. Few layouts make for narrow intervals that promise
  too much.
- **Valid**: presets keep to one link an antenna. The reference need not, nor need the targets: under some radios a
  quarter of them share an antenna, and what that gains is out of a preset's reach. Under other radios, and on other
  layouts, the reference is therefore also held to that rule. There all have {len(FIRST_SEEDS)} seeds a layout, drawn
  again with the layouts; raw samples have one.
- **Raw** is one sample of {RAW_STEPS} steps, as the network makes it.
- **Unlike any in training**: 24 to 64 nodes each, on streets and sea lanes; satellites, equally spaced on 2 to 4 orbits
  about one centre; and a drone show, blocks and words of a denser grid with all noses in one direction.
{drawn}"""
