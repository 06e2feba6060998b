"""Fleets on both sides of the antimeridian or of a pole: in files as anywhere, at known distances."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from manetdiff import Fleet
from manetdiff.errors import FleetError, FormatError
from manetdiff.fleet import LocalFrame
from manetdiff.formats import read_fleet, read_tracks, write_fleet
from manetdiff.formats.map_lines import map_places

DEGREE_OF_EQUATOR_M = math.pi / 180 * 6_378_137
# Of a meridian where it meets the pole: the ellipsoid is flattest there.
DEGREE_AT_POLE_M = math.pi / 180 * 6_378_137**2 / 6_356_752.314245

ANTIMERIDIAN = ["a,0.0,179.99,90", "b,0.0,-179.99,90", "c,0.01,180,0", "d,-0.01,180.02,0"]
POLE = ["a,89.99,0,0", "b,89.99,180,180", "c,89.99,90,90", "d,89.99,-90,270"]


def distances(fleet: Fleet) -> npt.NDArray[np.float64]:
    """(n, n) metres."""
    apart: npt.NDArray[np.float64] = np.linalg.norm(fleet.positions[:, None] - fleet.positions[None], axis=2)
    return apart


def as_fleet(folder: Path, rows: list[str]) -> Fleet:
    (folder / "fleet.csv").write_text("\n".join(["id,lat,lon,heading", *rows]))
    return read_fleet(folder / "fleet.csv")


def as_table(folder: Path, rows: list[str], who: str) -> Fleet:
    lines = [f"time,{who},lat,lon,heading", *(f"{time},{row}" for time in (0, 10) for row in rows)]
    (folder / "table.csv").write_text("\n".join(lines))
    return read_tracks(folder / "table.csv").at(5)


@pytest.fixture(params=["fleet", "table", "reports of aircraft"])
def read(request: pytest.FixtureRequest, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A file of the kind, from rows to the fleet in it."""
    if request.param == "fleet":
        return lambda rows: as_fleet(tmp_path, rows)
    return lambda rows: as_table(tmp_path, rows, "id" if request.param == "table" else "icao24")


def test_a_fleet_on_both_sides_of_the_antimeridian(read) -> None:  # type: ignore[no-untyped-def]
    fleet = read(ANTIMERIDIAN)
    apart = distances(fleet)
    assert apart[0, 1] == pytest.approx(0.02 * DEGREE_OF_EQUATOR_M, rel=1e-6)
    assert apart[2, 3] == pytest.approx(math.hypot(0.02 * DEGREE_OF_EQUATOR_M, 0.02 * 110_574.3), rel=1e-5)
    assert apart.max() < 5000
    assert fleet.yaw == pytest.approx([0, 0, math.pi / 2, math.pi / 2], abs=1e-4)


def test_a_fleet_on_both_sides_of_a_pole(read) -> None:  # type: ignore[no-untyped-def]
    fleet = read(POLE)
    apart = distances(fleet)
    assert apart[0, 1] == apart[2, 3] == pytest.approx(0.02 * DEGREE_AT_POLE_M, rel=1e-6)
    assert apart[0, 2] == pytest.approx(0.01 * math.sqrt(2) * DEGREE_AT_POLE_M, rel=1e-6)
    # Towards the pole on one side of it is away from it on the other: all four fly the same way.
    assert np.cos(fleet.yaw - fleet.yaw[0]) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("rows", [ANTIMERIDIAN, POLE], ids=["antimeridian", "pole"])
def test_what_is_written_there_is_read_back_at_the_same_distances(tmp_path: Path, rows: list[str]) -> None:
    fleet = as_fleet(tmp_path, rows)
    for name in ("again.csv", "again.json"):
        write_fleet(fleet, tmp_path / name)
        assert np.allclose(distances(read_fleet(tmp_path / name)), distances(fleet), rtol=0, atol=1e-6)


AROUND = ["a,0,0,0", "b,0,20,0", "c,10,10,0", "far,0,175,0"]


def test_a_fleet_around_more_than_half_of_the_earth_is_refused_by_name(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(FormatError) as caught:
        read(AROUND)
    told = "node 'far' is beyond the horizon of the fleet's middle"
    assert told in str(caught.value) and "\n" not in str(caught.value)
    assert "a fleet must fit on one side of the earth" in str(caught.value)
    with pytest.raises(FleetError, match="node '3' is beyond the horizon"):
        Fleet.from_geodetic([0, 0, 10, 0], [0, 20, 10, 175], [0] * 4)


def test_places_that_the_earth_does_not_reach_have_no_degrees() -> None:
    frame = LocalFrame(48.0, 11.0)
    with pytest.raises(FleetError, match=r"no place on earth is 7e\+06, 0 m from 48, 11"):
        frame.to_degrees(np.array([[0.0, 0.0], [7e6, 0.0]]))
    # As far as it does reach, there and back.
    latitude, longitude = frame.to_degrees(np.array([[6.3e6, 0.0], [0.0, -6.3e6]]))
    assert frame.to_xy(latitude, longitude) == pytest.approx(np.array([[6.3e6, 0.0], [0.0, -6.3e6]]), abs=1e-3)


def test_the_meridian_of_greenwich_and_the_equator_have_no_sign(tmp_path: Path) -> None:
    fleet = Fleet.from_geodetic([0.0, 0.0, 0.1, -0.1], [0.0, 1.0, 0.0, 0.0], [0.0, 90.0, 180.0, 270.0])
    write_fleet(fleet, tmp_path / "fleet.csv")
    cells = (tmp_path / "fleet.csv").read_text().replace("\n", ",").split(",")
    assert "-0.0" not in cells and cells.count("0.0") >= 5
    assert not any(str(value) == "-0.0" for place in map_places(fleet) for value in place)
