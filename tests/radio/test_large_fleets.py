"""Rates of fleets whose transmitters are taken in blocks: the same physics, and nothing jumps where blocks begin."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from manetdiff import Fleet, Radio, Topology
from manetdiff.radio import Placement, link_rates, throughput
from manetdiff.radio.pairs import EVERY_PAIR
from support.plain_physics import plain_rates
from support.plans import any_layout

CONE = Radio(unit=1.0, range=4.0, sigma2=0.02)
RADIOS = {
    "cone": CONE,
    "options": dataclasses.replace(CONE, sectors=3, boresight=0.4, ceiling=3.0, min_snr=0.0, theta_max=1.0),
    "omni": dataclasses.replace(CONE, reception="omni"),
    "beam": dataclasses.replace(CONE, pattern="parabolic", beamwidth=0.6, sectors=6),
    "beam heard all around": dataclasses.replace(CONE, pattern="parabolic", beamwidth=0.4, reception="omni"),
}


def some_links(fleet: Fleet, rng: np.random.Generator, count: int) -> Topology:
    """Random pairs, not too far apart, and random parity: some carry nothing, some share an antenna."""
    apart = np.linalg.norm(fleet.positions[:, None] - fleet.positions, axis=2)
    near = rng.permutation(np.argwhere(np.triu(apart < 6.0, 1)))
    return Topology(near[:count], rng.integers(0, 2, len(fleet)))


@pytest.mark.parametrize("kind", [(False, False), (True, False), (True, True)], ids=["flat", "heights", "blocked"])
@pytest.mark.parametrize("name", RADIOS)
def test_rates_agree_with_the_plain_transcription(name: str, kind: tuple[bool, bool]) -> None:
    for seed, n in enumerate((EVERY_PAIR + 1, 2 * EVERY_PAIR + 3)):
        layout = any_layout(seed, n, RADIOS[name], heights=kind[0], blocked=kind[1])
        topology = some_links(layout.fleet, np.random.default_rng(seed), 30)
        found = link_rates(layout.placement, topology.links, topology.parity)
        expected = plain_rates(topology, layout.fleet, layout.radio)
        for (i, j), pair in zip(topology.links.tolist(), found, strict=True):
            assert pair == pytest.approx([expected[i, j], expected[j, i]], rel=1e-9, abs=1e-12)
        assert throughput(layout.placement, topology.links, topology.parity) == found.sum() > 0


@pytest.mark.parametrize("name", RADIOS)
def test_nodes_without_links_change_nothing_however_many_there_are(name: str) -> None:
    small = any_layout(5, 40, RADIOS[name])
    topology = some_links(small.fleet, np.random.default_rng(5), 60)
    before = link_rates(small.placement, topology.links, topology.parity)
    for more in (EVERY_PAIR - 40, EVERY_PAIR - 39, 3 * EVERY_PAIR):
        rng = np.random.default_rng(more)
        positions = np.concatenate([small.fleet.positions, rng.uniform(-9, 9, (more, 2))])
        crowd = Fleet(positions, np.concatenate([small.fleet.yaw, np.zeros(more)]))
        parity = np.concatenate([topology.parity, rng.integers(0, 2, more)])
        after = link_rates(Placement(crowd, small.radio), topology.links, parity)
        assert after == pytest.approx(before, rel=1e-9)


def test_pairs_are_the_same_asked_one_by_one_or_all_at_once() -> None:
    for heights, blocked in ((False, False), (True, True)):
        place = any_layout(9, 70, RADIOS["beam"], heights=heights, blocked=blocked).placement
        first, second = np.array([3, 69, 12]), np.array([64, 0, 11])
        some: npt.NDArray[np.float64]
        for some, every in zip(place.pairs(first, second), place.every_pair, strict=True):
            assert np.array_equal(some, every[first, second])
