"""The denoising of a network's fleet, for the page to play."""

from __future__ import annotations

from typing import Any

from manetdiff.runtime.model import Model
from manetdiff.server.versions import Version
from manetdiff.solvers import correct
from manetdiff.topology import Topology, metrics


def denoising_of(model: Model, version: Version, steps: int, seed: int) -> dict[str, Any]:
    """From noise, step by step, to a sample; then that corrected, and what `generate` makes of the same steps."""
    layout = version.layout
    states = model.denoised(layout, steps=steps, seed=seed)
    corrected = correct(states[-1][1], layout)
    polished = model.generate(layout, steps=steps, samples=1, seed=seed)
    return {
        "version": version.number,
        "nodes": list(version.fleet.ids),
        "steps": [{"time": time, **_shown(one)} for time, one in states],
        "corrected": _shown(corrected),
        "polished": _shown(polished),
    }


def _shown(topology: Topology) -> dict[str, Any]:
    return {
        "links": topology.links.tolist(),
        "parity": topology.parity.tolist(),
        "throughput": metrics(topology)["throughput"],
    }
