"""Legends as text beside pictures and plots, each word with a sample of what it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from manetdiff.pictures.marks import DART, DROP, NAMED_UP_TO
from manetdiff.simulation.run import Moment
from manetdiff.topology import antenna_loads, same_parity

LINE = "M1 7H25"
# How a plot's marks look: the path, and the style of its stroke.
MARKS = {
    "line": (LINE, "stroke-width:2"),
    "dotted": (LINE, "stroke-width:2;stroke-dasharray:2 3"),
    "dashed": (LINE, "stroke-width:2;stroke-dasharray:7 3"),
    "cross": ("M9 3l8 8m0-8l-8 8", "stroke-width:2"),
    "block": ("M4 7h18", "stroke-width:10"),
}


def plot_legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """Of a plot: a page's colour, a kind of mark and its words for each entry."""
    samples = []
    for colour, mark, words in entries:
        path, stroke = MARKS[mark]
        samples.append((f'<path d="{path}" style="fill:none;stroke:var(--{colour});{stroke}"/>', words))
    return _list(samples)


def topology_legend(moments: Sequence[Moment], *links: tuple[str, str]) -> str:
    """Of pictures of these moments: kinds of links and their words, then what nodes look like and what is wrong."""
    samples = [(f'<path class="{name}" d="{LINE}"/>', words) for name, words in links]
    for bit, outline in enumerate((DART, DROP)):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline * (6.5, -6.5) + (11, 7))
        samples.append((f'<path class="parity-{bit}" d="M{corners}Z"/>', f"sends in slot {'AB'[bit]} (parity {bit})"))
    if any(len(one.fleet) <= NAMED_UP_TO for one in moments):
        samples.append((f'<path class="sectors" d="{LINE}"/>', "boundary between a node's antennas"))
        if any(one.fleet.blocked is not None for one in moments):
            samples.append(('<path class="blocked" d="M2 7L24 0V14Z"/>', "blocked: no antenna there"))
    if any(same_parity(one.topology).any() for one in moments):
        samples.append((f'<path class="wrong" d="{LINE}"/>', "link inside one parity: carries nothing"))
    if any(np.any(antenna_loads(one.topology, one.topology.on()) > 1) for one in moments):
        samples.append(('<path class="crowded" d="M2 7L24 0V14Z"/>', "antenna with several links: they take turns"))
    return _list(samples)


def _list(samples: Iterable[tuple[str, str]]) -> str:
    entries = [
        f'<li><svg viewBox="0 0 26 14" aria-hidden="true">{sample}</svg>{words}</li>' for sample, words in samples
    ]
    return f'<ul class="legend">{"".join(entries)}</ul>' if entries else ""
