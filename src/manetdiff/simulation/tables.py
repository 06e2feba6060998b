"""What happened, as files for other programs: metrics over time, and every topology."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from manetdiff.flights.delivery import delivered
from manetdiff.formats.csv_table import csv_text
from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.netjson import network_graph
from manetdiff.simulation.run import Moment
from manetdiff.wording import number_text


def metrics_csv(moments: Sequence[Moment]) -> str:
    """A row for each moment; empty where there is no value."""
    rows = [
        {
            "time": one.time,
            "nodes": len(one.fleet),
            **one.metrics,
            "continuity": one.continuity,
            "added": one.added,
            "dropped": one.dropped,
            "mode": one.mode,
            "milliseconds": round(one.milliseconds, 3),
            "held_throughput": one.held,
            "anew_throughput": one.anew,
        }
        for one in moments
    ]
    return csv_text([*rows[0]], [["" if value is None else value for value in row.values()] for row in rows])


def write_topologies(moments: Sequence[Moment], path: PathLike) -> None:
    """A NetJSON NetworkGraph a line, its time (seconds) among its properties."""
    lines = []
    for one in moments:
        graph = network_graph(one.topology, one.fleet, one.topology.on().radio)
        graph["properties"]["time"] = one.time
        lines.append(json.dumps(graph, allow_nan=False, separators=(",", ":")))
    write_text(path, "\n".join(lines) + "\n")


def summary(moments: Sequence[Moment], setup: float = 0.0) -> dict[str, float | None]:
    """The whole in a few numbers. Means are over moments; continuity and times over updates alone.

    - setup: seconds until a new link carries anything, for what is delivered.
    """
    later = moments[1:]
    return {
        "moments": len(moments),
        "duration": moments[-1].time - moments[0].time,
        "throughput": _mean([one.metrics["throughput"] for one in moments]),
        "sustained": _mean([one.metrics["sustained"] for one in moments]),
        "setup": setup,
        "delivered": delivered([(one.time, one.topology) for one in moments], setup),
        "throughput_over_held": _over(moments, [one.held for one in moments]),
        "throughput_over_anew": _over(moments, [one.anew for one in moments if one.anew is not None]),
        "valid": _mean([one.metrics["valid"] for one in moments]),
        "connected": _mean([one.metrics["connected"] for one in moments]),
        "continuity": _mean([one.continuity for one in later if one.continuity is not None]),
        "added_a_moment": _mean([one.added for one in later]),
        "dropped_a_moment": _mean([one.dropped for one in later]),
        "update_ms": _mean([one.milliseconds for one in later]),
        "slowest_update_ms": max((one.milliseconds for one in later), default=None),
    }


def rates_text(one: Moment) -> str:
    """T of a moment while slots last, and as it is sustained."""
    return f"{number_text(one.metrics['throughput'])} Mbit/s ({number_text(one.metrics['sustained'])} sustained)"


def _over(moments: Sequence[Moment], others: Sequence[float]) -> float | None:
    """T of all moments over that of others."""
    return sum(one.metrics["throughput"] for one in moments) / sum(others) if sum(others) > 0 else None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
