"""Requests that make no sense: one line that says what is wrong and where, and a service that goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.service import created, report, service, small_fleet

# A network in parts shows in its metrics; here some are.
pytestmark = pytest.mark.filterwarnings("ignore::manetdiff.errors.DisconnectedWarning")

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture(scope="module")
def network(client: TestClient) -> str:
    return created(client)


@pytest.fixture(autouse=True)
def service_goes_on(client: TestClient) -> Iterator[None]:
    yield
    fresh = created(client)
    assert client.post(f"/v1/networks/{fresh}/positions", json=report(small_fleet(), 0.0)).json()["version"] == 1
    assert client.delete(f"/v1/networks/{fresh}").status_code == 204


def _refused(answer: Any, status: int, why: str) -> None:
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    detail = answer.json()["detail"]
    assert why in detail
    assert "\n" not in detail
    assert len(detail) <= 1100


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"", 422, "Field required"),
        (b"{", 422, "not JSON"),
        (b"\xff\xfe\x00", 400, "not JSON"),
        (b"null", 422, "the message: "),
        (b"[]", 422, "the message: "),
        (b'{"time": 0}', 422, "nodes: Field required"),
        (b'{"time": 0, "nodes": []}', 422, "nodes: "),
        (b'{"time": 0, "nodes": {}}', 422, "nodes: "),
        (b'{"time": 0, "nodes": [null]}', 422, "nodes.0: "),
        (b'{"time": 0, "nodes": [[], 3, "x"]}', 422, "nodes.2: "),
        (b'{"time": "noon", "nodes": [{"id": "A", "x": 0, "y": 0}]}', 422, "time: "),
        (b'{"time": NaN, "nodes": [{"id": "A", "x": 0, "y": 0}]}', 422, "time: "),
        (b'{"time": 1e13, "nodes": [{"id": "A", "x": 0, "y": 0}]}', 422, "time: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": Infinity, "y": 0}]}', 422, "nodes.0.x: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": -Infinity}]}', 422, "nodes.0.y: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 1e999, "y": 0}]}', 422, "nodes.0.x: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 1' + b"0" * 400 + b', "y": 0}]}', 422, "nodes.0.x: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 1' + b"0" * 5000 + b', "y": 0}]}', 400, "not JSON"),
        (b'{"time": 0, "nodes": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "not JSON"),
        (b'{"time": 0, "nodes": [{"id": "A", "lat": 91, "lon": 0}]}', 422, "nodes.0.lat: "),
        (b'{"time": 0, "nodes": [{"id": "A", "lat": 1, "lon": 0, "x": 3}]}', 422, "nodes.0.x: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0}]}', 422, "nodes.0.y: Field required"),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0, "vx": 1}]}', 422, "nodes.0.vx: "),
        (b'{"time": 0, "nodes": [{"x": 0, "y": 0}]}', 422, "nodes.0.id: Field required"),
        (b'{"time": 0, "nodes": [{"id": 7, "x": 0, "y": 0}]}', 422, "nodes.0.id: "),
        (
            b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "A", "x": 1, "y": 0}]}',
            422,
            "'A': the id stands",
        ),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "B", "lat": 1, "lon": 0}]}', 422, "'B'"),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}], "complete": "perhaps"}', 422, "complete: "),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}], "\\u0000\\n": 1}', 422, "Extra inputs"),
        (b'{"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}], "\\ud800": 1}', 422, ""),
    ],
)
def test_reports_that_make_no_sense(client: TestClient, network: str, body: bytes, status: int, why: str) -> None:
    _refused(client.post(f"/v1/networks/{network}/positions", content=body, headers=JSON), status, why)
    assert client.get(f"/v1/networks/{network}").json()["nodes"] == 0


def test_a_report_of_more_nodes_than_anyone_has_is_not_read_to_its_end(client: TestClient, network: str) -> None:
    nodes = [{"id": str(k), "x": 0, "y": 0} for k in range(40_000)]
    _refused(client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": nodes}), 422, "nodes: ")


ODD = [
    "../../etc/passwd",
    "..\\..\\windows",
    "/etc/passwd",
    "'; DROP TABLE networks; --",
    '"quoted" and \\escaped\\',
    "<script>alert(1)</script>",
    "{0} %s ${HOME} $(id)",
    "🛩 zwei Flügel ✈",
    "مركبة",
    "0",
    "-1",
    "null",
    "x" * 128,
    "__proto__",
]


def test_ids_with_odd_characters_come_back_as_they_were(client: TestClient) -> None:
    network = created(client)
    places = {name: (1000.0 * k, 700.0 * (k % 3)) for k, name in enumerate(ODD)}
    nodes = [{"id": name, "x": x, "y": y} for name, (x, y) in places.items()]
    answer = client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": nodes})
    assert answer.status_code == 200
    for path in ("topology", "state", "state?version=1"):
        document = client.get(f"/v1/networks/{network}/{path}").json()
        assert [node["id"] for node in document["nodes"]] == ODD
    link = document["links"][0]
    pins = {"avoid": [[link["source"], link["target"]]], "silent": [ODD[0]]}
    assert client.put(f"/v1/networks/{network}/pins", json=pins).json()["pins"]["silent"] == [ODD[0]]
    assert client.get(f"/v1/networks/{network}/explain").status_code == 200
    assert client.get(f"/v1/networks/{network}/transition?format=eel").status_code in (200, 422)
    for name in ODD:
        renamed = client.patch(f"/v1/networks/{network}", json={"name": name})
        assert renamed.json()["name"] == name


@pytest.mark.parametrize("name", ["", "\n", "a\nb", "a\rb", "\t", "\x00", "\x1b[31m", "\u2028", "\u202e", "x" * 129])
def test_names_that_cannot_be_shown_on_one_line_are_refused(client: TestClient, network: str, name: str) -> None:
    node = {"id": name, "x": 0, "y": 0}
    answer = client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": [node]})
    _refused(answer, 422, "nodes.0.id: ")
    _refused(client.post("/v1/networks", json={"name": name}), 422, "name: ")
    _refused(client.put(f"/v1/networks/{network}/pins", json={"silent": [name]}), 422, "silent.0: ")


@pytest.mark.parametrize(
    "place",
    ["nowhere", "%00", "..", "%2e%2e%2f", "..%2f..%2fetc%2fpasswd", "%ff%fe", "a%0ab", "%F0%9F%9B%A9", "'--", "x" * 64],
)
def test_networks_that_are_not_there(client: TestClient, place: str) -> None:
    for path in ("", "/topology", "/events", "/history"):
        assert client.get(f"/v1/networks/{place}{path}").status_code in (404, 405)
    assert client.get(f"/v1/networks/{'x' * 65}/topology").status_code == 422


@pytest.mark.parametrize(
    ("radio", "why"),
    [
        ('"/etc/passwd"', "radio: "),
        ('"default"', "radio: "),
        ("[]", "radio: "),
        ('{"nonsense": 1}', "nonsense"),
        ('{"range": NaN}', "range"),
        ('{"range": -Infinity}', "range"),
        ('{"range": "far"}', "range"),
        ('{"range": null}', "range"),
        ('{"range": ' + "[" * 400 + "]" * 400 + "}", "range"),
        ('{"sectors": 1e9}', "sectors"),
        ('{"sectors": 1' + "0" * 4000 + "}", "sectors"),
        ('{"sectors": true}', "sectors"),
        ('{"pattern": "../../pattern"}', "pattern"),
        ('{"link_budget": "/etc/passwd"}', "link_budget"),
        ('{"link_budget": {}}', "link_budget"),
        ('{"link_budget": {"frequency": 2e9}, "range": 3}', "link_budget"),
        ('{"link_budget": {"frequency": 0, "bandwidth": 1, "power": 1, "gain": 1, "noise_figure": 1}}', "frequency"),
        ('{"link_budget": {"file": "/etc/passwd"}}', "file"),
        ('{"\\ud800": 1}', "unknown"),
    ],
)
def test_radios_that_are_none(client: TestClient, network: str, radio: str, why: str) -> None:
    body = f'{{"name": "x", "radio": {radio}}}'.encode()
    _refused(client.post("/v1/networks", content=body, headers=JSON), 422, why)
    _refused(client.patch(f"/v1/networks/{network}", content=body, headers=JSON), 422, why)
    assert client.get(f"/v1/networks/{network}").json()["name"] == "Test"


def test_what_a_request_says_is_never_read_as_a_file(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "radio.json").write_text('{"range": 7.0}')
    path = str(tmp_path / "radio.json")
    for radio in (path, {"path": path}, {"file": path}, {"range": path}, {"link_budget": path}):
        answer = client.post("/v1/networks", json={"name": path, "radio": radio})
        assert answer.status_code == 422
        assert "7.0" not in answer.text


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"preset": "nonsense"}, "settings.preset: "),
        ({"stale": 0}, "settings.stale: "),
        ({"stale": 40, "gone": 20}, "gone must not be less"),
        ({"least_gain": 1.5}, "settings.least_gain: "),
        ({"seed": -1}, "settings.seed: "),
        ({"seed": 2**64}, "settings.seed: "),
        ({"ahead": "always"}, "settings.ahead: "),
        ({"presett": "fast"}, "settings.presett: "),
    ],
)
def test_settings_that_are_none(client: TestClient, network: str, settings: dict[str, Any], why: str) -> None:
    _refused(client.post("/v1/networks", json={"name": "x", "settings": settings}), 422, why)
    _refused(client.patch(f"/v1/networks/{network}", json={"settings": settings}), 422, why.removeprefix("settings."))


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ({"keep": [["A"]]}, "keep.0: "),
        ({"keep": [["A", "B", "C"]]}, "keep.0: "),
        ({"avoid": [["A", "A"]]}, "'A' to itself"),
        ({"keep": "A-B"}, "keep: "),
        ({"silent": [3]}, "silent.0: "),
        ({"pinned": []}, "pinned: "),
    ],
)
def test_pins_that_are_none(client: TestClient, network: str, pins: dict[str, Any], why: str) -> None:
    _refused(client.put(f"/v1/networks/{network}/pins", json=pins), 422, why)


@pytest.mark.parametrize(
    "query",
    [
        "topology?version=0",
        "topology?version=-1",
        "topology?version=1.5",
        "topology?version=9999999999",
        "topology?version=" + "9" * 5000,
        "history?limit=0",
        "history?limit=5001",
        "history?before=x",
        "metrics-over-time?since=-1",
        "transition?setup=nan",
        "transition?setup=inf",
        "transition?setup=-1",
        "transition?format=xml",
        "denoising?steps=0",
        "denoising?seed=-1",
        "state?version=%00",
    ],
)
def test_questions_that_make_no_sense(client: TestClient, network: str, query: str) -> None:
    name = query.partition("?")[2].partition("=")[0]
    _refused(client.get(f"/v1/networks/{network}/{query}"), 422, f"{name}: ")


@pytest.mark.parametrize(
    "plan",
    [
        {"family": "../scenarios"},
        {"nodes": 1},
        {"nodes": 1025},
        {"speed": 0},
        {"rate": 21},
        {"seed": -1},
        {"motion": "x" * 65},
        {"fleet": "/etc/passwd"},
    ],
)
def test_flights_that_are_none(client: TestClient, network: str, plan: dict[str, Any]) -> None:
    _refused(client.put(f"/v1/networks/{network}/flight", json=plan), 422, "")
    assert client.get(f"/v1/networks/{network}").json()["flight"] is None


def test_methods_and_places_that_there_are_none_of(client: TestClient, network: str) -> None:
    _refused(client.get("/v1/nowhere"), 404, "Not Found")
    for method, path in [("DELETE", "/v1/networks"), ("GET", f"/v1/networks/{network}/pins"), ("TRACE", "/healthz")]:
        answer = client.request(method, path)
        _refused(answer, 405, "Not Allowed")
        assert answer.headers["allow"]
    assert client.request("TRACE", f"/v1/networks/{network}").headers["allow"] == "DELETE, GET, PATCH"
    assert client.put(f"/v1/networks/{network}/topology").status_code == 405


@pytest.mark.parametrize("value", ["12", True, [1], {"a": 1}, None])
def test_what_is_no_number_is_not_taken_for_one(client: TestClient, network: str, value: Any) -> None:
    nodes = [{"id": "A", "x": value, "y": 0}]
    _refused(client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": nodes}), 422, "nodes.0.x: ")
    _refused(client.patch(f"/v1/networks/{network}", json={"settings": {"stale": value}}), 422, "stale: ")
