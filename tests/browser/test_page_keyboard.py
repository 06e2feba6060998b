"""By keyboard alone, and by ear: the map, the tabs, and what is said of changes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.browser import Open, Service, expect, is_live, places, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)


def test_from_the_top_of_the_page_to_the_map(service: Service, open_page: Open) -> None:
    page = open_page(service.url)
    is_live(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the fleet map")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('#stage') !== null")


def test_from_node_to_node_and_moving_one(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        places(page)
        map = page.get_by_test_id("map")
        map.focus()
        ids = [node["id"] for node in net.state()["nodes"]]
        heard = []
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            active = map.get_attribute("aria-activedescendant")
            heard.append(active)
            assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        assert len(set(heard)) == 3, "each is another element to a screen reader"
        expect(page.locator(f"#{heard[-1]}")).to_have_text(
            re.compile(rf"^{ids[2]}, slot [01], \d+ links?, heading \d+°$")
        )
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_test_id("inspector").get_by_role("heading")).to_have_text(ids[1])

        north = _north(net.state(), ids[1])
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("said")).to_contain_text(f"{ids[1]} picked up")
        for _ in range(4):
            page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("said")).to_contain_text(f"{ids[1]} put down")
        until(page, lambda: _north(net.state(), ids[1]) > north + 50, "the node is farther north")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("inspector")).to_be_hidden()
        assert map.get_attribute("aria-activedescendant") is None


def _north(state: Any, id: str) -> float:
    return next(float(node["y"]) for node in state["nodes"] if node["id"] == id)


def test_keys_of_the_map(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        shown = places(page)
        page.get_by_test_id("map").focus()
        page.keyboard.press("+")
        assert places(page).metre > shown.metre
        page.keyboard.press("f")
        until(page, lambda: abs(places(page).metre / shown.metre - 1) < 0.01, "the whole fleet is in view")
        page.keyboard.press("Home")
        page.keyboard.press("s")
        first = net.state()["nodes"][0]["id"]
        until(page, lambda: net.call("GET", "")["pins"]["silent"] == [first], "the first node is silenced")
        page.keyboard.press("Space")
        until(page, lambda: bool(net.call("GET", "")["flight"]["playing"]), "the flight goes on")
        until(page, lambda: net.state()["version"] > 2, "there is a past")
        page.get_by_test_id("history").press("Home")
        expect(page.get_by_test_id("banner")).to_be_visible()
        page.get_by_test_id("map").focus()
        page.keyboard.press("s")
        page.keyboard.press("Space")
        page.wait_for_timeout(200)  # nothing should happen, which no condition tells
        assert net.call("GET", "")["pins"]["silent"] == [first], "the past is to look at"
        assert net.call("GET", "")["flight"]["playing"]


def test_tabs(service: Service, open_page: Open) -> None:
    page = open_page(service.url)
    is_live(page)
    page.get_by_role("tab", name="Flight").focus()
    for name in ("Changes", "Pins", "Tables", "History", "Flight"):
        page.keyboard.press("ArrowRight")
        tab = page.get_by_role("tab", name=name)
        expect(tab).to_be_focused()
        expect(tab).to_have_attribute("aria-selected", "true")
        assert page.get_by_role("tabpanel").count() == 1
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="History")).to_be_focused()


def test_a_link_is_pinned_from_the_table(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("tab", name="Tables").press("Enter")
        pin = page.get_by_test_id("links-rows").get_by_role("button", name="Pin").first
        pin.press("Enter")
        expect(page.get_by_test_id("pin-keep")).to_be_focused()
        page.keyboard.press("Enter")
        until(page, lambda: len(net.call("GET", "")["pins"]["keep"]) == 1, "a link is kept")
        kept = page.get_by_test_id("links-rows").get_by_role("button", name="Kept")
        expect(kept).to_be_focused()
        kept.press("Enter")
        expect(page.get_by_test_id("pin-release")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("link-menu")).to_be_hidden()
        expect(kept).to_be_focused()


def test_changes_are_said(service: Service, open_page: Open) -> None:
    with service.network() as net:
        here = {"A": (0.0, 0.0), "B": (2000.0, 0.0), "C": (2000.0, 2000.0), "D": (0.0, 2000.0)}
        net.report(0.0, here)
        page = open_page(net.page)
        is_live(page)
        said = page.get_by_test_id("said")
        assert said.get_attribute("aria-live") == "polite"
        assert said.inner_text() == "", "what was there before is no change"
        answer = net.report(1.0, {**here, "A": (5000.0, 4000.0)})
        assert answer["changed"]
        told = f"Version {answer['version']}: {answer['added']} link"
        expect(said).to_contain_text(told)
        expect(said).to_contain_text(f"{answer['dropped']} dropped")
