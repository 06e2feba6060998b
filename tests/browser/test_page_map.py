"""The map under the hand: nodes are dragged, links are pinned, and the topology follows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from support.browser import Net, Open, Service, drawn, expect, is_live, pairs_of, places, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)


def test_a_dragged_node_is_there_for_the_service_and_its_links_follow(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 10}) as net:
        page = open_page(net.page)
        is_live(page)
        shown, before = places(page), net.state()
        places_before = {node["id"]: node for node in before["nodes"]}
        # From one end of the fleet to beyond the other.
        first = min(shown.nodes, key=lambda id: shown.nodes[id][0])
        last = max(shown.nodes, key=lambda id: shown.nodes[id][0])
        start, end = shown.nodes[first], (shown.nodes[last][0] - 60, shown.nodes[last][1] + 60)
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(*end, steps=8)
        page.mouse.up()
        east = places_before[first]["x"] + (end[0] - start[0]) / shown.metre
        north = places_before[first]["y"] - (end[1] - start[1]) / shown.metre
        until(page, lambda: _is_near(net, first, east, north, 3 / shown.metre), "the service has the node there")
        after = net.state()
        assert after["version"] > before["version"]
        assert _links_of(first, after) != _links_of(first, before)
        until(page, lambda: places(page).pairs() == pairs_of(net.state()), "the map shows the links of the service")
        expect(page.get_by_test_id("inspector").get_by_role("heading")).to_have_text(first)


def test_a_node_of_a_fleet_in_degrees_is_dragged_too(service: Service, open_page: Open) -> None:
    with service.network() as net:
        at = {"A": (47.10, 8.50), "B": (47.13, 8.55), "C": (47.09, 8.58)}
        told = [{"id": id, "lat": lat, "lon": lon, "alt": 900, "heading": 45} for id, (lat, lon) in at.items()]
        net.call("POST", "/positions", {"time": 1000.0, "nodes": told})
        page = open_page(net.page)
        is_live(page)
        shown = places(page)
        (node,) = (node for node in net.state()["nodes"] if node["id"] == "B")
        x, y = shown.nodes["B"]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 90, y + 60, steps=6)
        page.mouse.up()
        east, north = node["x"] - 90 / shown.metre, node["y"] - 60 / shown.metre
        # The frame lies around the fleet as it was first, and stays.
        until(page, lambda: _is_near(net, "B", east, north, 3 / shown.metre), "the service has the node there")
        (after,) = (node for node in net.state()["nodes"] if node["id"] == "B")
        assert after["z"] == node["z"]
        assert math.isclose(after["yaw"], node["yaw"], abs_tol=0.01)


def _links_of(id: str, state: Any) -> set[frozenset[str]]:
    return {pair for pair in pairs_of(state) if id in pair}


def _is_near(net: Net, id: str, east: float, north: float, metres: float) -> bool:
    (node,) = (node for node in net.state()["nodes"] if node["id"] == id)
    return bool(abs(node["x"] - east) < metres and abs(node["y"] - north) < metres)


def test_a_link_is_pinned_by_a_click_and_released_again(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        a, b = _click_a_link(page)
        expect(page.get_by_test_id("link-menu")).to_contain_text("Mbit/s")
        page.get_by_test_id("pin-keep").click()
        until(page, lambda: net.call("GET", "")["pins"]["keep"] == [[a, b]], "the link is kept")
        expect(page.get_by_test_id("link-menu")).to_be_hidden()
        expect(page.locator("#legend-kept")).to_be_visible()
        page.get_by_role("tab", name="Pins").click()
        page.get_by_role("tabpanel").get_by_role("button", name=f"Release: {a} – {b}").click()
        until(page, lambda: net.call("GET", "")["pins"]["keep"] == [], "the link is released")
        expect(page.get_by_role("tabpanel")).to_contain_text("Nothing is pinned")


def test_a_forbidden_link_goes(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        pair = frozenset(_click_a_link(page))
        page.get_by_test_id("pin-avoid").click()
        until(page, lambda: pair not in pairs_of(net.state()), "the service has dropped it")
        until(page, lambda: pair not in places(page).pairs(), "the map has dropped it")
        expect(page.locator("#legend-forbidden")).to_be_visible()


def _click_a_link(page: Any) -> tuple[str, str]:
    """One with no node near its middle; its ends."""
    shown = places(page)

    def clear(link: tuple[str, str, tuple[float, float]]) -> float:
        others = [at for a, b, at in shown.links if (a, b) != link[:2]]
        return min(math.dist(link[2], at) for at in [*shown.nodes.values(), *others])

    a, b, at = max(shown.links, key=clear)
    page.mouse.click(*at)
    expect(page.get_by_test_id("link-menu")).to_contain_text(f"{a} – {b}")
    return a, b


def test_a_silenced_node_has_no_links(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        id, at = next(iter(places(page).nodes.items()))
        page.mouse.click(*at)
        page.get_by_test_id("silence").click()
        until(page, lambda: not any(id in pair for pair in pairs_of(net.state())), "it has no links")
        expect(page.get_by_test_id("silence")).to_have_text("Let it send")
        expect(page.locator("#legend-silent")).to_be_visible()


def test_zoom_pan_and_back_to_the_whole_fleet(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        shown = places(page)
        fit = page.get_by_test_id("fit")
        expect(fit).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Zoom in").click()
        expect(fit).to_have_attribute("aria-pressed", "false")
        assert places(page).metre > shown.metre
        fit.click()
        until(page, lambda: abs(places(page).metre / shown.metre - 1) < 0.01, "the fleet is in view as before")


def test_the_fleet_keeps_clear_of_the_numbers(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 24, "family": "scatter"}) as net:
        page = open_page(net.page)
        is_live(page)
        readout, stage = page.locator("#readout").bounding_box(), page.locator("#stage").bounding_box()
        assert readout is not None
        assert stage is not None
        for x, y in places(page).nodes.values():
            assert y > readout["y"] + readout["height"]
            assert y < stage["y"] + stage["height"]
            assert stage["x"] < x < stage["x"] + stage["width"]


def test_a_map_at_rest_is_not_drawn_again(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        places(page)
        before = drawn(page)
        counted = page.evaluate(
            """() => new Promise((resolve) => {
              let drawn = 0;
              const { fillRect } = CanvasRenderingContext2D.prototype;
              CanvasRenderingContext2D.prototype.fillRect = function (...given) {
                drawn += 1;
                fillRect.apply(this, given);
              };
              setTimeout(() => resolve(drawn), 600);
            })"""
        )
        assert counted == 0
        assert drawn(page) == before
