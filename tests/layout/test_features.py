from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout, LayoutFeatures, pad
from manetdiff.layout.features import NODE_FEATURES, PAIR_FEATURES
from manetdiff.model.tensors import Layouts
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.training.mirror import mirrored
from support.pairs import every_pair
from support.strategies import fleets, radios

RADIOS = {
    "default": Radio(),
    "metres": Radio(unit=3000.0, range=4.0, alpha=0.25, sigma2=0.1),
    "parabolic": Radio(pattern="parabolic", beamwidth=0.6, floor_db=13.0, sectors=6, epsilon=0.0),
}


def _assert_same(one: LayoutFeatures, other: LayoutFeatures) -> None:
    """Equal but for rounding. No antenna looks at its own node: the diagonal of the sectors says nothing."""
    assert np.allclose(one.node, other.node, rtol=1e-5, atol=1e-5)
    assert np.allclose(one.pair, other.pair, rtol=1e-5, atol=1e-5)
    apart = ~np.eye(len(one.node), dtype=np.bool_)
    assert np.array_equal(one.sector[apart], other.sector[apart])


def _has_heading(fleet: Fleet) -> bool:
    """Whether the headings agree enough for their mean to be more than rounding."""
    return bool(np.hypot(np.cos(fleet.yaw).sum(), np.sin(fleet.yaw).sum()) > 1e-3 * len(fleet))


def _elsewhere(fleet: Fleet, turn: float, scale: float, shift: list[float]) -> Fleet:
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    return Fleet((fleet.positions / fleet.spread) @ rotation * scale + shift, fleet.yaw + turn)


@given(
    fleets(), radios(), st.floats(-3.1, 3.1), st.floats(0.05, 20), st.lists(st.floats(-5, 5), min_size=2, max_size=2)
)
@settings(max_examples=100)
def test_features_are_unchanged_by_moving_turning_and_scaling_a_fleet(
    fleet: Fleet, radio: Radio, turn: float, scale: float, shift: list[float]
) -> None:
    assume(_has_heading(fleet))
    _assert_same(Layout(fleet, radio).features, Layout(_elsewhere(fleet, turn, scale, shift), radio).features)


@given(
    st.integers(0, 2**16), st.integers(1, 5), st.floats(0.05, 20), st.lists(st.floats(-5, 5), min_size=2, max_size=2)
)
def test_headings_that_cancel_leave_the_axes_as_they_are(
    seed: int, pairs: int, scale: float, shift: list[float]
) -> None:
    rng = np.random.default_rng(seed)
    half = rng.uniform(-math.pi, math.pi, pairs)
    fleet = Fleet(rng.normal(size=(2 * pairs, 2)), np.concatenate([half, half + math.pi]))
    features = Layout(fleet, Radio()).features
    centred = (fleet.positions - fleet.positions.mean(axis=0)) / fleet.spread
    assert np.allclose(features.node[:, :2], centred, atol=1e-5)
    _assert_same(features, Layout(_elsewhere(fleet, 0.0, scale, shift), Radio()).features)


@given(fleets(), radios(), st.integers(0, 2**16))
def test_renumbered_nodes_have_renumbered_features(fleet: Fleet, radio: Radio, shuffle: int) -> None:
    assume(_has_heading(fleet))
    order = np.random.default_rng(shuffle).permutation(len(fleet))
    node, pair, sector = Layout(fleet, radio).features
    expected = LayoutFeatures(node[order], pair[order][:, order], sector[order][:, order])
    _assert_same(expected, Layout(Fleet(fleet.positions[order], fleet.yaw[order]), radio).features)


@pytest.mark.parametrize("name", RADIOS)
@pytest.mark.parametrize("family", FAMILIES)
def test_features_agree_with_the_plain_transcription(family: str, name: str) -> None:
    radio = RADIOS[name]
    for n in (2, 5, 13):
        fleet = draw(family, n, np.random.default_rng(n))
        node, pair = _plain_features(fleet, radio)
        features = Layout(fleet, radio).features
        for k, column in enumerate(NODE_FEATURES):
            assert np.allclose(features.node[:, k], [row[k] for row in node], atol=1e-5), column
        for k, column in enumerate(PAIR_FEATURES):
            assert np.allclose(features.pair[..., k], [[cell[k] for cell in row] for row in pair], atol=1e-5), column
        looks = every_pair(fleet, radio).sector.copy()
        np.fill_diagonal(looks, 0)
        assert np.array_equal(features.sector, looks)


def _plain_features(fleet: Fleet, radio: Radio) -> tuple[list[list[float]], list[list[list[float]]]]:
    """Every column, node by node and pair by pair.

    Sectors and the angles that are held against a beam are the radio's own, which are tested with the radio: fleets
    in formation line up, and on the edge of a sector or of a beam the last bit decides.
    """
    n = len(fleet)
    pairs = every_pair(fleet, radio)
    x, y = (fleet.positions - fleet.positions.mean(axis=0)).T.tolist()
    spread = math.sqrt(sum(a * a + b * b for a, b in zip(x, y, strict=True)) / (2 * n))
    unit = spread if radio.unit is None else radio.unit
    yaw = [float(angle) for angle in fleet.yaw]
    heading = math.atan2(sum(map(math.sin, yaw)), sum(map(math.cos, yaw)))
    ahead = [complex(x[i], y[i]) * complex(math.cos(heading), -math.sin(heading)) / spread for i in range(n)]
    node = [[ahead[i].real, ahead[i].imag, math.cos(yaw[i] - heading), math.sin(yaw[i] - heading)] for i in range(n)]

    def gain(i: int, j: int, k: int) -> float:
        off_axis = abs(pairs.bearing[i, j] - pairs.bearing[i, k])
        off_axis = min(off_axis, 2 * math.pi - off_axis)
        if radio.pattern == "cone":
            return float(off_axis <= radio.theta_max)
        assert radio.beamwidth is not None
        return float(10 ** (-min(12 * (off_axis / radio.beamwidth) ** 2, radio.floor_db) / 10))

    pair = [[[0.0] * len(PAIR_FEATURES) for _ in range(n)] for _ in range(n)]
    for i in range(n):
        away = [math.dist((x[i], y[i]), (x[k], y[k])) / unit for k in range(n)]
        for j in range(n):
            if i == j:
                continue
            angle = math.atan2(y[j] - y[i], x[j] - x[i]) - heading
            sent = min(radio.p_max, radio.p_0 * away[j] ** (2 * radio.alpha))
            others = [k for k in range(n) if k not in (i, j)]
            # In formation two nodes can be equally far: the last bit decides, and it is the radio's.
            nearer = sum(
                pairs.sector[i, k] == pairs.sector[i, j] and pairs.distance[i, k] < pairs.distance[i, j] for k in others
            )
            leak = sum(gain(i, j, k) * sent / (away[k] ** 2 + radio.epsilon) for k in others)
            pair[i][j] = [
                away[j] * unit / spread,
                math.cos(angle),
                math.sin(angle),
                float(away[j] <= radio.range),
                math.log2(1 + sent / away[j] ** 2 / radio.sigma2),
                math.log(1 + nearer),
                math.log(1 + leak / radio.sigma2),
            ]
    return node, pair


def test_nearer_counts_what_the_antenna_sees_before_the_peer_and_leak_what_its_beam_hits() -> None:
    # From node 0, which heads east: 1 and 2 straight ahead, 3 ahead but off the beam at them, 4 behind.
    fleet = Fleet(np.array([[0, 0], [1, 0], [2, 0], [1.5, 1], [-0.5, 0]]), np.zeros(5))
    radio = Radio(unit=1.0, alpha=0.0, epsilon=0.0, theta_max=math.pi / 8)
    pair = dict(zip(PAIR_FEATURES, Layout(fleet, radio).features.pair[0].T, strict=True))
    assert np.allclose(np.expm1(pair["nearer"]), [0, 0, 2, 1, 0], atol=1e-6)
    # At full power 1, the beam at 1 hits 2 at distance 2 and the beam at 2 hits 1 at distance 1; the others nobody.
    assert np.allclose(radio.sigma2 * np.expm1(pair["leak"]), [0, 1 / 4, 1, 0, 0], atol=1e-6)


@given(fleets(), fleets(), radios())
def test_the_mirror_image_of_a_fleet_has_the_mirrored_features(fleet: Fleet, other: Fleet, radio: Radio) -> None:
    assume(_has_heading(fleet))
    original = Layout(fleet, radio).features
    bystander = Layout(other, radio).features
    image = Layout(Fleet(fleet.positions * [1, -1], -fleet.yaw), radio).features
    batch = Layouts.from_numpy(pad([original, bystander]))
    made = mirrored(batch, torch.tensor([True, False]), radio.sectors)
    n = len(fleet)
    _assert_same(
        LayoutFeatures(made.node[0, :n].numpy(), made.pair[0, :n, :n].numpy(), made.sector[0, :n, :n].numpy()), image
    )
    # The layout that was not chosen, the padding and the kinds of numbers stay as they were.
    assert torch.equal(made.mask, batch.mask)
    assert all(torch.equal(now[1], before[1]) for now, before in zip(made, batch, strict=True))
    assert not made.node[0, n:].any() and not made.pair[0, n:].any() and not made.sector[0, n:].any()
    assert all(now.dtype == before.dtype for now, before in zip(made, batch, strict=True))


@given(st.lists(fleets(largest=7), min_size=1, max_size=4), st.one_of(st.none(), st.integers(7, 9)))
def test_padding_keeps_everything_and_adds_zeros(members: list[Fleet], n: int | None) -> None:
    layouts = [Layout(fleet, Radio()).features for fleet in members]
    padded = pad(layouts, n)
    most = max(map(len, members)) if n is None else n
    assert padded.mask.shape == (len(members), most)
    for row, (layout, fleet) in enumerate(zip(layouts, members, strict=True)):
        size = len(fleet)
        assert padded.mask[row].tolist() == [i < size for i in range(most)]
        _assert_framed_by_zeros(padded.node[row], layout.node, (most, layout.node.shape[-1]))
        _assert_framed_by_zeros(padded.pair[row], layout.pair, (most, most, layout.pair.shape[-1]))
        _assert_framed_by_zeros(padded.sector[row], layout.sector, (most, most))


def _assert_framed_by_zeros(
    framed: npt.NDArray[np.generic], kept: npt.NDArray[np.generic], shape: tuple[int, ...]
) -> None:
    expected = np.zeros(shape, dtype=kept.dtype)
    expected[tuple(slice(0, length) for length in kept.shape)] = kept
    assert framed.dtype == kept.dtype
    assert np.array_equal(framed, expected)


def test_the_diagonal_is_zero() -> None:
    features = Layout(draw("mixed", 9, np.random.default_rng(1))).features
    assert not features.pair[np.arange(9), np.arange(9)].any()


@pytest.mark.filterwarnings("error")
def test_a_node_in_the_middle_of_the_others_is_no_trouble_where_one_is_far_out() -> None:
    cross = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
    features = Layout(Fleet([*cross, (64, 0)], np.zeros(6))).features
    assert np.isfinite(features.node).all()
    assert np.allclose(features.node[:5, :2], Layout(Fleet(cross, np.zeros(5))).features.node[:, :2], atol=1e-6)
