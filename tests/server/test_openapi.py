"""The interface as OpenAPI has it: all of it, with examples that work and every refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from manetdiff.server.messages_in import ChangedFlight, ChangedNetwork, NewFlight, NewNetwork, Pins, Positions
from support.service import created, service

ISSUE = {
    "/v1/networks": {"get", "post"},
    "/v1/networks/{id}": {"get", "patch", "delete"},
    "/v1/networks/{id}/positions": {"post"},
    "/v1/networks/{id}/topology": {"get"},
    "/v1/networks/{id}/history": {"get"},
    "/v1/networks/{id}/metrics-over-time": {"get"},
    "/v1/networks/{id}/transition": {"get"},
    "/v1/networks/{id}/pins": {"put", "delete"},
    "/v1/networks/{id}/explain": {"get"},
    "/v1/networks/{id}/events": {"get"},
    "/healthz": {"get"},
    "/readyz": {"get"},
    "/metrics": {"get"},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    told: dict[str, Any] = client.get("/openapi.json").json()
    return told


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, told) for path, methods in document["paths"].items() for method, told in methods.items()]


def test_all_that_there_is_to_call_is_there(document: dict[str, Any]) -> None:
    for path, methods in ISSUE.items():
        assert methods <= set(document["paths"][path]), path


def test_every_call_says_what_it_does_and_how_it_may_be_refused(document: dict[str, Any]) -> None:
    names = [told["operationId"] for _, _, told in _operations(document)]
    assert len(names) == len(set(names))
    for path, method, told in _operations(document):
        assert told["description"], path
        if not path.startswith("/v1") and path != "/metrics":
            continue
        refusals = {"401", "403", "421", "503"}
        refusals |= {"404", "422"} if "{id}" in path else set()
        refusals |= {"400", "408", "413", "415", "422"} if "requestBody" in told else set()
        assert refusals <= set(told["responses"]), (method, path)
        assert told["security"] == [{"HTTPBearer": []}]
        for status in refusals & set(told["responses"]):
            (content,) = told["responses"][status]["content"].values()
            assert content["schema"]["$ref"].endswith("/Problem")
    report = document["paths"]["/v1/networks/{id}/positions"]["post"]
    assert {"200", "202", "409", "429"} <= set(report["responses"])


def test_every_body_has_examples_that_are_what_it_asks_for(document: dict[str, Any]) -> None:
    kinds = {kind.__name__: kind for kind in (ChangedFlight, ChangedNetwork, NewFlight, NewNetwork, Pins, Positions)}
    for path, _, told in _operations(document):
        if "requestBody" in told:
            name = told["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            examples = document["components"]["schemas"][name]["examples"]
            assert examples, path
            for one in examples:
                kinds[name].model_validate(one)


def test_the_examples_work_one_after_the_other(client: TestClient, document: dict[str, Any]) -> None:
    examples = {name: told.get("examples", []) for name, told in document["components"]["schemas"].items()}
    for one in examples["NewNetwork"]:
        assert client.post("/v1/networks", json=one).status_code == 201
    for one in examples["Positions"]:
        answer = client.post(f"/v1/networks/{created(client)}/positions", json=one)
        assert (answer.status_code, answer.json()["version"], answer.json()["metrics"]["connected"]) == (200, 1, 1.0)
    url = f"/v1/networks/{created(client)}"
    for one in examples["ChangedNetwork"]:
        assert client.patch(url, json=one).status_code == 200
    for one in examples["Pins"]:
        assert client.put(f"{url}/pins", json=one).status_code == 200
    for one in examples["NewFlight"]:
        assert client.put(f"{url}/flight", json=one).status_code == 200
    for one in examples["ChangedFlight"]:
        assert client.patch(f"{url}/flight", json=one).status_code == 200


def test_no_page_of_others_is_needed_to_read_it(client: TestClient) -> None:
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404
