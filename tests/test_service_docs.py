"""The pages on the service: every route, field, limit, option and metric is there, and the examples work."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from support.live_server import can_serve, live_server

if not can_serve():
    pytest.skip("the extra 'serve' is not installed", allow_module_level=True)

from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient

from manetdiff.cli.app import app as commands
from manetdiff.server import guard, membership, peers, waiting, watch
from manetdiff.server.app import create_app
from manetdiff.server.config import Config, Limits
from manetdiff.server.messages_in import MOST_NODES, Settings
from support.service import created, report, service, small_fleet

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HTTP = (DOCS / "api" / "http.md").read_text(encoding="utf-8")
HOWTO = (DOCS / "howto" / "run-as-a-service.md").read_text(encoding="utf-8")
REPLICAS = (DOCS / "howto" / "replicas.md").read_text(encoding="utf-8")
THREATS = (DOCS / "threat-model.md").read_text(encoding="utf-8")
CONTROLLER = (DOCS / "controller.md").read_text(encoding="utf-8")
EXAMPLES = DOCS / "service"
SERVER = ROOT / "src" / "manetdiff" / "server"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
ADDRESS = "http://127.0.0.1:8470"
END = "-- end of example --"


def sections() -> dict[str, str]:
    """The text under each heading that names a route."""
    parts = re.split(r"^#{2,3} (.+)$", HTTP, flags=re.MULTILINE)
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if " /" in title}


def named(text: str) -> set[str]:
    """What stands between backticks, word by word; in blocks of code, too."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", FENCE.sub("", text)))))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    told: dict[str, Any] = client.get("/openapi.json").json()
    return told


@pytest.fixture(scope="module")
def state(client: TestClient) -> dict[str, Any]:
    """Of a network that has a topology and a version before it."""
    network = created(client)
    for time in (0.0, 4.0):
        client.post(f"/v1/networks/{network}/positions", json=report(small_fleet(), time))
    told: dict[str, Any] = client.get(f"/v1/networks/{network}/state").json()
    return told


def test_the_page_has_every_route_and_no_other(document: dict[str, Any]) -> None:
    routes = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    app: Any = create_app(Config(database="sqlite:///nowhere.db"))
    sockets = {f"WS {route.path}" for route in _routes(app._app.routes) if isinstance(route, WebSocketRoute)}
    assert sockets
    assert set(sections()) == routes | sockets


def _routes(routes: list[Any]) -> Iterator[Any]:
    for route in routes:
        yield route
        yield from _routes(getattr(getattr(route, "original_router", None), "routes", []))


def test_every_parameter_and_field_is_named_where_its_route_is(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            section = named(sections()[f"{method.upper()} {path}"])
            asked = {one["name"] for one in told.get("parameters", []) if one["in"] == "query"}
            assert asked <= section, f"{method} {path}: {asked - section}"
            body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            fields = set(schemas[body["$ref"].rpartition("/")[2]]["properties"]) if "$ref" in body else set()
            assert fields <= section, f"{method} {path}: {fields - section}"
    assert set(Settings.model_fields) <= named(sections()["POST /v1/networks"])
    for kind in ("LocalNode", "EarthNode"):
        assert set(schemas[kind]["properties"]) <= named(sections()["POST /v1/networks/{id}/positions"])


def test_every_refusal_is_in_the_table(document: dict[str, Any]) -> None:
    statuses = {
        int(status)
        for methods in document["paths"].values()
        for told in methods.values()
        for status in told["responses"]
    }
    listed = {int(status) for status in re.findall(r"^\| (\d{3}) \|", HTTP, flags=re.MULTILINE)}
    assert {status for status in statuses if status >= 400} <= listed


def test_every_field_of_an_answer_and_of_a_state_is_named(client: TestClient, state: dict[str, Any]) -> None:
    routes = sections()
    assert set(state["network"]) <= named(routes["GET /v1/networks/{id}"])
    assert set(state["network"]["counts"]) <= named(routes["GET /v1/networks/{id}"])
    events = named(routes["GET /v1/networks/{id}/events"])
    for one in (state, state["nodes"][0], state["links"][0], state["update"]):
        assert set(one) <= events, set(one) - events
    network = f"/v1/networks/{state['network']['id']}"
    answer = client.post(f"{network}/positions", json=report(small_fleet(), 8.0)).json()
    assert set(answer) <= named(routes["POST /v1/networks/{id}/positions"])
    (version,) = client.get(f"{network}/history", params={"limit": 1}).json()["versions"]
    assert set(version) <= named(routes["GET /v1/networks/{id}/history"])
    for last in ("metrics-over-time", "explain", "denoising"):
        told = client.get(f"{network}/{last}").json()
        assert set(told) - {"version"} <= named(routes[f"GET /v1/networks/{{id}}/{last}"]), last
    assert set(client.get("/v1/choices").json()) <= named(routes["GET /v1/choices"])


@pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "curl", "jq"))), reason="bash, curl or jq are not installed, or curl is too old"
)
def test_the_examples_print_what_the_page_says(tmp_path: Path) -> None:
    blocks = list(FENCE.finditer(HTTP))
    with live_server(tmp_path) as url:
        script = "set -u\n" + "".join(_runnable(block[1], block[2], url) for block in blocks if block[1] != "text")
        ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    printed = iter(ran.stdout.split(f"{END}\n"))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "text":
            continue
        seen = next(printed)
        if following is not None and following[1] == "text" and not HTTP[block.end() : following.start()].strip():
            expected = ".*".join(re.escape(part) for part in _lines(following[2]).split("…"))
            assert re.fullmatch(expected, _lines(seen)), f"{block[2]}\nprints\n{seen}\n{ran.stderr}"
        else:
            assert "detail" not in seen, seen
    assert not ran.stderr, ran.stderr


def _runnable(kind: str, code: str, url: str) -> str:
    assert kind in ("sh", "python"), kind
    code = code.replace(ADDRESS, url)
    if kind == "python":
        code = f"NET=$NET {shlex.quote(sys.executable)} -c {shlex.quote(code)}\n"
    return f"{code}printf '%s\\n' '{END}'\n"


def _lines(text: str) -> str:
    """Without what curl leaves out: the end of an answer's line."""
    return "".join(text.splitlines())


def test_the_metrics_are_those_of_the_service(client: TestClient) -> None:
    told = client.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (manetdiff_\w+) (\w+)$", told, flags=re.MULTILINE))
    kinds = {name: kind for name, kind in kinds.items() if not name.endswith("_created")}
    table = re.findall(r"^\| (`manetdiff_.*?) \|", HOWTO, flags=re.MULTILINE)
    assert set(re.findall(r"manetdiff_\w+", " ".join(table))) == set(kinds)
    histograms = {f"{name}_{part}" for name, kind in kinds.items() if kind == "histogram" for part in ("bucket", "sum")}
    for text in (HOWTO, (EXAMPLES / "alerts.yml").read_text(encoding="utf-8")):
        asked = set(re.findall(r"(manetdiff_\w+)(?=[\[{])", FENCE.sub(lambda block: block[2], text)))
        assert asked <= set(kinds) | histograms, asked


def test_the_options_are_those_of_the_command() -> None:
    command = typer.main.get_command(commands).commands["serve"]  # type: ignore[attr-defined]
    options = {max(one.opts, key=len) for one in command.params} - {"--help"}
    table = re.findall(r"^\| (`--.*?) \|", HOWTO, flags=re.MULTILINE)
    assert set(re.findall(r"--[\w-]+", " ".join(table))) == options


def test_what_the_files_call_exists_and_the_page_shows_what_is_in_them() -> None:
    unit = (EXAMPLES / "manetdiff.service").read_text(encoding="utf-8")
    started = re.search(r"^ExecStart=(.*?[^\\])$", unit, flags=re.MULTILINE | re.DOTALL)
    assert started is not None
    program, name, *words = shlex.split(started[1].replace("\\\n", " "))
    assert program.endswith("/bin/manetdiff")
    typer.main.get_command(commands).commands[name].make_context(name, words)  # type: ignore[attr-defined]
    files = "".join(file.read_text(encoding="utf-8") for file in EXAMPLES.iterdir())
    there = {line.strip() for line in files.splitlines()}
    for block in (*FENCE.finditer(HOWTO), *FENCE.finditer(REPLICAS)):
        if block[1] in ("nginx", "yaml") or "reverse_proxy" in block[2] or "backend" in block[2]:
            assert {line.strip() for line in block[2].splitlines()} <= there
    assert Limits().body == 2 * 1024 * 1024
    assert "client_max_body_size 2m;" in files
    assert "max_size 2MiB" in files


def test_the_limits_are_those_of_the_code() -> None:
    limits = Limits()
    table = CONTROLLER.partition("## Overload")[2].partition("## Viewers")[0]
    for told in (
        f"| {limits.rate:g} a second, {limits.burst:g} at once |",
        f"| {limits.longest_wait:g} s |",
        f"| {waiting.MOST} |",
        f"| {guard.AT_ONCE} |",
        f"| {limits.viewers}, {limits.senders} |",
        f"| networks | {limits.networks} |",
        f"| {limits.nodes:,} |",
        f"| {limits.body // 2**20} MiB, {guard.BODY_S:g} s to arrive |",
    ):
        assert told in table, told
    assert f"1 to {MOST_NODES:,}" in HTTP
    assert f"{limits.versions:,}, {limits.days:g}" in HOWTO


def test_the_times_of_replicas_are_those_of_the_code() -> None:
    told = " ".join(CONTROLLER.partition("## Replicas")[2].partition("## Overload")[0].split())
    assert 1 / membership.BEAT_S == 2.0
    assert "twice a second" in told
    assert f"stays as it is for {watch.SILENT_S:g} s" in told
    assert f"{membership.HELD_S:g} s after its last sign of life" in told
    assert watch.WITHOUT_LOCK_S + membership.BEAT_S <= 1.5
    assert f"{watch.SILENT_S:g} to {watch.SILENT_S + 2 * membership.BEAT_S:g} s" in told
    assert f"{peers.OPEN_S:g} s for a connection, {peers.ANSWER_S:g} s for an answer" in THREATS


def test_every_file_of_the_service_is_in_the_table_and_every_file_of_the_table_is_there() -> None:
    table = CONTROLLER.partition("## Where it is")[2]
    files = set(re.findall(r"`([\w/]+(?:\.py|/))`", table)) - {"src/"}
    assert {name for name in files if not (SERVER / name).exists() and not name.startswith("src/")} == set()
    there = {file.name for file in SERVER.glob("*.py")} - {"__init__.py"}
    folders = {f"{folder.name}/" for folder in SERVER.iterdir() if folder.is_dir() and folder.name != "__pycache__"}
    assert there | folders <= files
