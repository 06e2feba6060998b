"""The page and its server: killed and back, with a token, empty, and when somebody else deletes the network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Served, free_port
from support.browser import Open, Service, expect, is_live, until
from support.live_server import can_serve, live_server

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

TOKEN = "correct-horse-battery-staple"
# What the browser itself writes when a server is gone.
GONE = "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE"


def test_back_by_itself_after_the_server_was_killed(open_page: Open, tmp_path: Path) -> None:
    if not can_serve():
        pytest.skip("the extra 'serve' is not installed")
    port = free_port()
    running = Served(tmp_path, "--demo", port=port)
    try:
        page = open_page(running.url, expected=GONE)
        is_live(page)
        expect(page.get_by_test_id("status")).to_have_text("Live")
        page.evaluate("() => { window.untouched = true; }")
        network, version = page.get_by_test_id("network").input_value(), Service(running.url).call("GET", "networks")
        running.kill()
        expect(page.get_by_test_id("status")).to_have_attribute("data-kind", "lost")
        expect(page.get_by_test_id("status")).to_have_text("Connection lost")
        page.get_by_test_id("play").click()
        expect(page.get_by_test_id("toasts")).to_contain_text("The server does not answer")
        running = Served(tmp_path, "--demo", port=port)
        expect(page.get_by_test_id("status")).to_have_text("Live")
        assert page.get_by_test_id("network").input_value() == network
        newest = version["networks"][0]["version"]
        until(page, lambda: _version(page.get_by_test_id("version").inner_text()) > newest, "versions go on")
        assert page.evaluate("() => window.untouched"), "the page was not loaded again"
    finally:
        running.stop()


def _version(text: str) -> int:
    return int(text.removeprefix("version "))


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Service]:
    """A server without any networks that asks for a token."""
    if not can_serve():
        pytest.skip("the extra 'serve' is not installed")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    file.chmod(0o600)
    with live_server(tmp_path, "--token-file", str(file)) as url:
        yield Service(url, {"Authorization": f"Bearer {TOKEN}"})


def test_the_token_is_asked_for_and_stays_out_of_addresses(guarded: Service, open_page: Open) -> None:
    page = open_page(guarded.url, expected="status of 401")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    dialog = page.get_by_test_id("token-dialog")
    expect(dialog).to_be_visible()
    for _ in range(3):  # it cannot be got rid of
        page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    page.get_by_test_id("token").fill("not-the-token-at-all")
    page.get_by_test_id("token-send").click()
    expect(dialog).to_contain_text("That was not the token")
    page.get_by_test_id("token").fill(TOKEN)
    page.get_by_test_id("token").press("Enter")
    expect(dialog).to_be_hidden()

    # A server without networks says what to do, and does it.
    expect(page.get_by_test_id("start")).to_be_visible()
    expect(page.get_by_test_id("launch")).to_be_disabled()
    page.get_by_test_id("start-demo").click()
    is_live(page)
    expect(page.get_by_test_id("status")).to_have_text("Live")
    expect(page.get_by_test_id("start")).to_be_hidden()

    page.reload()
    is_live(page)
    expect(dialog).to_be_hidden()
    assert asked
    assert not [url for url in [*asked, page.url] if TOKEN in url]
    stored = page.evaluate("() => JSON.stringify([{ ...localStorage }, document.cookie])")
    assert TOKEN not in stored, "it goes with the tab"


def test_a_network_of_ones_own_waits_for_positions(service: Service, open_page: Open) -> None:
    page = open_page(service.url)
    is_live(page)
    page.get_by_test_id("new-network").click()
    dialog = page.get_by_test_id("new-dialog")
    dialog.get_by_label("Name").fill("Coast patrol")
    dialog.get_by_label("Positions").select_option("own")
    page.get_by_test_id("new-create").click()
    waiting = page.get_by_test_id("waiting")
    expect(waiting).to_be_visible()
    expect(page.get_by_test_id("status")).to_have_text("Waiting")
    id = page.get_by_test_id("network").input_value()
    expect(waiting).to_contain_text(f"{service.url}/v1/networks/{id}/positions")
    service.call(
        "POST",
        f"networks/{id}/positions",
        {"time": 0, "nodes": [{"id": name, "x": 2000 * k, "y": 500 * (k % 2)} for k, name in enumerate("ABC")]},
    )
    expect(waiting).to_be_hidden()
    expect(page.locator("#r-nodes")).to_have_text("of 3 nodes")

    page.get_by_test_id("delete-network").click()
    expect(page.get_by_test_id("delete-dialog")).to_contain_text("Coast patrol")
    page.get_by_test_id("delete-confirm").click()
    until(page, lambda: page.get_by_test_id("network").input_value() != id, "another network is shown")
    assert id not in {network["id"] for network in service.call("GET", "networks")["networks"]}


def test_a_network_that_somebody_else_deletes(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as other, service.network(flight={"playing": True}) as net:
        page = open_page(net.page, expected="status of 404")
        is_live(page)
        page.get_by_test_id("history").press("Home")
        net.call("DELETE", "")
        expect(page.get_by_test_id("toasts")).to_contain_text("deleted")
        is_live(page)
        assert page.get_by_test_id("network").input_value() != net.id
        page.get_by_test_id("network").select_option(other.id)
        expect(page.get_by_test_id("status")).to_have_text("Paused")
        assert re.search(rf"#network={other.id}$", page.url)
