"""The same data as tables: every node and every link of the map, and nodes that are not heard of."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.browser import Open, Service, expect, is_live, pairs_of, places, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

SQUARE = {"A": (0.0, 0.0), "B": (3000.0, 0.0), "C": (3000.0, 3000.0), "D": (0.0, 3000.0)}


def test_tables_have_what_the_map_has(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 12}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("tab", name="Tables").click()
        state = net.state()
        nodes, links = page.get_by_test_id("nodes-rows").locator("tr"), page.get_by_test_id("links-rows").locator("tr")
        expect(nodes).to_have_count(len(state["nodes"]))
        expect(links).to_have_count(len(state["links"]))
        degree = {node["id"]: sum(node["id"] in pair for pair in pairs_of(state)) for node in state["nodes"]}
        for row, node in zip(_texts(nodes), state["nodes"], strict=True):
            id, slot, _, east, north, linked = row
            assert (id, slot, linked) == (node["id"], str(node["parity"]), str(degree[id]))
            assert (east, north) == (_kilometres(node["x"]), _kilometres(node["y"]))
        shown = {frozenset(row[0].split(" – ")): row for row in _texts(links)}
        assert set(shown) == pairs_of(state) == places(page).pairs()
        for link in state["links"]:
            row = shown[frozenset((link["source"], link["target"]))]
            assert row[1:3] == [_number(link["forward"]), _number(link["backward"])]


def _texts(rows: Any) -> list[list[str]]:
    read = (
        "(rows) => rows.map((row) => [...row.cells].map((cell) => (cell.querySelector('.name') ?? cell).textContent))"
    )
    found: list[list[str]] = rows.evaluate_all(read)
    return found


def _kilometres(metres: float) -> str:
    return f"{metres / 1000:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _number(value: float) -> str:
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}"


def test_rows_are_found_and_stay_in_order(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 12}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("tab", name="Tables").click()
        rows = page.get_by_test_id("nodes-rows").locator("tr")
        expect(rows).to_have_count(12)
        page.get_by_label("Filter nodes and links by id").fill("11")
        expect(rows).to_have_count(1)
        page.get_by_label("Filter nodes and links by id").fill("")
        expect(rows).to_have_count(12)
        assert [row[0] for row in _texts(rows)] == [str(k) for k in range(12)]
        rows.nth(3).get_by_role("button").click()
        expect(page.get_by_test_id("inspector").get_by_role("heading")).to_have_text("3")
        expect(rows.nth(3)).to_have_attribute("aria-current", "true")


def test_a_node_that_is_not_heard_of_is_shown_as_stale(service: Service, open_page: Open) -> None:
    with service.network(stale=1.0, gone=600.0) as net:
        net.report(0.0, SQUARE)
        page = open_page(net.page)
        is_live(page)
        expect(page.get_by_test_id("legend-stale")).to_be_hidden()
        others = {id: at for id, at in SQUARE.items() if id != "A"}
        clock = iter(range(1, 1000))

        def is_stale() -> bool:
            net.report(0.5 * next(clock), others)
            return str(page.get_by_test_id("status").inner_text()) == "Live, 1 stale"

        until(page, is_stale, "one node is stale")
        expect(page.get_by_test_id("legend-stale")).to_be_visible()
        page.mouse.click(*places(page).nodes["A"])
        expect(page.get_by_test_id("inspector")).to_contain_text("not lately")
        page.get_by_role("tab", name="Tables").click()
        expect(page.get_by_test_id("nodes-rows").locator("tr").first).to_have_text(re.compile("^Astale"))
        net.report(400.0, SQUARE)
        expect(page.get_by_test_id("nodes-rows").locator("tr").first).not_to_contain_text("stale")
