"""A network in parts: which nodes, why, and what range would join them."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given

from manetdiff import DisconnectedWarning, Fleet, Radio, load
from manetdiff.layout import Layout
from manetdiff.topology import component_labels, find_parts
from support.strategies import drawn, fleets

METRES = Radio(unit=1.0, range=10.0, sigma2=1e-3)
# Two near each other, two more in range of them, and two far away.
FLEET = Fleet([(0, 0), (1, 0.1), (8, 1), (9, 2), (100, 0), (101, 1)], np.zeros(6), list("abcdef"))
MODEL = load(workers=2)


def links(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def test_each_node_outside_has_its_reason() -> None:
    layout = Layout(FLEET, METRES)
    assert find_parts(links((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)), layout) is None
    parts = find_parts(links((0, 1), (1, 2), (4, 5)), layout)
    assert parts is not None
    assert (parts.components, parts.out_of_range, parts.kept_apart, parts.not_joined) == (3, ("e", "f"), (), ("d",))
    avoid = np.zeros((6, 6), dtype=bool)
    avoid[3] = avoid[:, 3] = True
    pinned = find_parts(links((0, 1), (1, 2), (4, 5)), layout.pinned(links(), avoid))
    assert pinned is not None
    assert (pinned.out_of_range, pinned.kept_apart, pinned.not_joined) == (("e", "f"), ("d",), ())
    assert parts.needed == parts.needed_metres == pytest.approx(np.hypot(91, 2))
    assert str(parts) == (
        "3 parts: 'e', 'f' are out of range: that is 10 m, and 91.1 m would join all nodes; "
        "'d' is in range but not joined"
    )


def test_blocked_azimuths_and_a_least_snr_keep_nodes_apart() -> None:
    masts = Fleet(FLEET.positions[:4], FLEET.yaw[:4], "abcd", blocked=[[], [], [], [(0.0, 6.3)]])
    parts = find_parts(links((0, 1), (1, 2)), Layout(masts, METRES))
    assert parts is not None
    assert (parts.out_of_range, parts.kept_apart, parts.not_joined) == ((), ("d",), ())
    assert str(parts) == "2 parts: 'd' is kept apart by pins or blocked azimuths"
    # Over the 7 m between the two pairs the SNR is 1 / (49.8 · 0.03).
    deaf = dataclasses.replace(METRES, sigma2=0.03, min_snr=0.0)
    silent = find_parts(links((0, 1), (2, 3)), Layout(FLEET.part(range(4)), deaf))
    assert silent is not None
    assert str(silent) == "2 parts: 'c', 'd' are kept apart by pins or the least SNR"


def test_the_range_is_said_in_units_and_in_metres() -> None:
    parts = find_parts(links((0, 1), (1, 2), (2, 3), (4, 5)), Layout(FLEET, Radio(unit=10.0, range=2.0)))
    assert parts is not None
    assert parts.unit == 10.0
    assert parts.needed == pytest.approx(np.hypot(9.1, 0.2))
    assert parts.needed_metres == pytest.approx(np.hypot(91, 2))
    assert "that is 2 units (20 m), and 9.11 units (91.1 m) would join all nodes" in str(parts)


@given(fleets())
def test_the_range_that_is_needed_joins_all_nodes_and_none_shorter_does(fleet: Fleet) -> None:
    layout = Layout(fleet)
    needed = layout.joining_range
    for reach, whole in ((needed, True), (needed * (1 - 1e-12), False)):
        pairs = np.argwhere(np.triu(layout.placement.every_pair.distance <= reach, 1))
        assert (component_labels(pairs, len(fleet)).max() == 0) == whole


class TestOfTheModel:
    def test_generate_and_update_say_it_and_report_it(self) -> None:
        with pytest.warns(DisconnectedWarning, match="in 2 parts: 'e', 'f' are out of range") as caught:
            made = MODEL.generate(FLEET, radio=METRES)
        assert [warning.filename for warning in caught] == [__file__]
        assert made.report.components == 2
        assert made.report.connected is False
        told = json.loads(json.dumps(made.report.to_dict()))
        assert told["parts"]["out_of_range"] == ["e", "f"]
        assert told["parts"]["needed_metres"] == pytest.approx(np.hypot(91, 2))
        with pytest.warns(DisconnectedWarning, match="in 2 parts: 'e', 'f' are out of range") as caught:
            updated = MODEL.update(made, FLEET)
        assert [warning.filename for warning in caught] == [__file__]
        assert updated.report.parts == made.report.parts

    @pytest.mark.filterwarnings("error")
    def test_a_whole_network_gives_no_warning(self) -> None:
        report = MODEL.generate(drawn(8)).report
        assert (report.components, report.parts, report.connected) == (1, None, True)
        assert "parts" not in report.to_dict()

    def test_a_silent_node_is_kept_apart_by_pins(self) -> None:
        with pytest.warns(DisconnectedWarning, match="'n3' is kept apart by pins"):
            report = MODEL.generate(drawn(8), silent=["n3"]).report
        assert report.parts is not None
        assert (report.components, report.parts.kept_apart) == (2, ("n3",))

    def test_a_batch_is_one_warning_that_names_the_fleets(self) -> None:
        near = Fleet(FLEET.positions[:4], FLEET.yaw[:4])
        batch = [near, FLEET, near, FLEET, FLEET, FLEET]
        with pytest.warns(DisconnectedWarning) as caught:
            made = MODEL.generate(batch, radio=METRES)
        assert [one.report.components for one in made] == [1, 2, 1, 2, 2, 2]
        assert len(caught) == 1
        said = str(caught[0].message)
        assert said.startswith("4 of 6 networks are in parts: fleet 1 is in 2 parts: 'e', 'f' are out of range")
        assert "fleet 4 is in 2 parts" in said
        assert said.endswith("; and 1 more")


def test_a_message_stays_short_and_in_one_line() -> None:
    parts = find_parts(links((0, 1), (1, 2), (4, 5)), Layout(FLEET, METRES))
    assert parts is not None
    long = dataclasses.replace(parts, out_of_range=tuple("\n" * 5000 + str(k) for k in range(500)))
    assert "and 497 more are out of range" in str(long)
    assert len(str(long)) < 600
    assert "\n" not in str(long)
