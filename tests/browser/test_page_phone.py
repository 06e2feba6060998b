"""The page on a phone: nothing to scroll sideways, everything within reach of a finger."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import PHONE, Open, Service, expect, is_live, places, scrolls_sideways, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

ALWAYS_THERE = ("network", "export", "theme", "fit", "play", "before", "denoising", "history", "sheet-handle")
TABS = ("Flight", "Changes", "Pins", "Tables", "History", "Charts")


def test_everything_is_within_reach(service: Service, open_page: Open) -> None:
    with service.network(flight={"playing": True}) as net:
        page = open_page(net.page, PHONE, touch=True)
        is_live(page)
        assert not scrolls_sideways(page)
        for name in ALWAYS_THERE:
            _is_within_reach(page, page.get_by_test_id(name))
        rows = {round(_box(page.get_by_test_id(name))["y"], -1) for name in ("play", "before", "denoising")}
        assert len(rows) == 1, "time is one row"
        page.get_by_test_id("sheet-handle").tap()
        for name in TABS:
            page.get_by_role("tab", name=name).tap()
            panel = page.get_by_role("tabpanel", name=name)
            expect(panel).to_be_visible()
            assert not scrolls_sideways(page)
            assert panel.evaluate("(panel) => panel.scrollWidth <= panel.clientWidth"), name
            assert _box(page.locator("#stage"))["height"] > 200, "the map stays in view"
            _is_within_reach(page, page.get_by_test_id("play"))
        page.get_by_role("tab", name="Charts").tap()
        assert page.get_by_test_id("charts").locator("figure").count() == 4
        page.get_by_test_id("sheet-handle").tap()
        expect(page.get_by_role("tabpanel")).to_have_count(0)


def _box(found: Any) -> dict[str, float]:
    box: dict[str, float] | None = found.bounding_box()
    assert box is not None
    return box


def _is_within_reach(page: Any, found: Any) -> None:
    box, width, height = _box(found), *PHONE
    assert box["x"] >= 0, found
    assert box["x"] + box["width"] <= width, found
    assert box["y"] + box["height"] <= height, found
    assert min(box["height"], box["width"]) >= 40, "large enough for a finger"
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    is_on_top = "([found, [x, y]]) => found.contains(document.elementFromPoint(x, y))"
    assert page.evaluate(is_on_top, [found.element_handle(), middle]), "nothing lies over it"


def test_a_finger_selects_and_drags_a_node(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page, PHONE, touch=True)
        is_live(page)
        id, (x, y) = max(places(page).nodes.items(), key=lambda node: node[1][1])
        page.touchscreen.tap(x, y)
        inspector = page.get_by_test_id("inspector")
        expect(inspector.get_by_role("heading")).to_have_text(id)
        shown = places(page)
        for at in shown.nodes.values():
            assert at[1] < _box(inspector)["y"], "the card covers no node"
        x, y = shown.nodes[id]
        before = {node["id"]: node for node in net.state()["nodes"]}[id]
        _drag(page, [(x + 5 * k, y - 8 * k) for k in range(9)])

        def moved() -> bool:
            now = {node["id"]: node for node in net.state()["nodes"]}[id]
            east, north = (now["x"] - before["x"]) * shown.metre, (now["y"] - before["y"]) * shown.metre
            return bool(abs(east - 40) < 4 and abs(north - 64) < 4)

        until(page, moved, "the node is where the finger left it")


def _drag(page: Any, way: list[tuple[float, float]]) -> None:
    finger = page.context.new_cdp_session(page)
    for k, (x, y) in enumerate(way):
        touched = {"type": "touchMove" if k else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        finger.send("Input.dispatchTouchEvent", touched)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_the_banner_covers_no_control(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page, PHONE, touch=True)
        is_live(page)
        page.get_by_test_id("denoising").tap()
        expect(page.get_by_test_id("banner")).to_be_visible()
        for name in ("fit", "denoising-play", "denoising-step", "denoising-again", "denoising"):
            _is_within_reach(page, page.get_by_test_id(name))
        banner = _box(page.get_by_test_id("banner"))
        page.get_by_test_id("denoising-play").tap()
        for _, y in places(page).nodes.values():
            assert not banner["y"] < y < banner["y"] + banner["height"]
        page.get_by_test_id("back-to-live").tap()
        expect(page.get_by_test_id("banner")).to_be_hidden()


@pytest.mark.parametrize("size", [(320, 640), (844, 390), (768, 1024)])
def test_other_screens_do_not_scroll_sideways(service: Service, open_page: Open, size: tuple[int, int]) -> None:
    page = open_page(service.url, size, touch=True)
    is_live(page)
    assert not scrolls_sideways(page)
    assert _box(page.locator("#stage"))["height"] > 150
    page.get_by_test_id("sheet-handle").tap()
    page.get_by_role("tab", name="Tables").tap()
    expect(page.get_by_role("tabpanel", name="Tables")).to_be_visible()
    assert not scrolls_sideways(page)


def test_a_new_network_from_the_sheet(service: Service, open_page: Open) -> None:
    page = open_page(service.url, PHONE, touch=True)
    is_live(page)
    page.get_by_test_id("sheet-handle").tap()
    page.get_by_role("button", name="New network").tap()
    expect(page.get_by_test_id("new-dialog")).to_be_visible()
    assert not scrolls_sideways(page)
    page.get_by_role("button", name="Cancel").tap()
    expect(page.get_by_test_id("new-dialog")).to_be_hidden()
