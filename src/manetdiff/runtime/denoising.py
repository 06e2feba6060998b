"""A denoising to look at: pure noise, and what each step makes of it."""

from __future__ import annotations

from manetdiff.layout import Layout
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.samples import samples_of, unlinked
from manetdiff.sampling import grid_for, plain_settings, time_pairs
from manetdiff.topology import Topology


def denoised(chain: Chain, layout: Layout, steps: int, seed: int) -> list[tuple[float, Topology]]:
    """Times from 1 (pure noise) to 0, and the state at each: steps + 1 of them, by the model's own sampling.

    The last one is what generate gives for the same steps and seed without correction and polish.
    """
    embedded = chain.embed(layout)
    settings = plain_settings(len(embedded.pairs), chain.sampling.temperature, chain.sampling.redundancy)
    draws = chain.draws(embedded, [(seed, 0)], steps + 1)
    state = chain.noised(embedded, embedded.noise, unlinked(embedded.noise), 1.0, draws)
    states = [(1.0, state)]
    for k, pair in enumerate(time_pairs(steps, grid_for(steps)), start=1):
        state = chain.run(embedded, embedded.noise, state, [pair], draws.rounds(k, k + 1), settings).states
        states.append((float(pair[1]), state))
    return [(time, Topology(*samples_of(state, embedded.pairs)[0], layout=layout)) for time, state in states]
