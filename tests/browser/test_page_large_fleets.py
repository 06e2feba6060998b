"""A thousand nodes: drawn, and the page still answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.browser import Open, Service, drawn, expect, frame_gaps, is_live, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)


def test_a_thousand_nodes_stay_usable(
    service: Service, open_page: Open, record_property: Callable[[str, object], None]
) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_label("Formation").select_option("scatter")
        page.get_by_label("Nodes", exact=True).fill("1000")
        page.get_by_test_id("launch").click()
        expect(page.locator("#r-nodes")).to_have_text("of 1000 nodes")
        gaps = frame_gaps(page, 5)
        told = f"{len(gaps) / 5:.0f} frames/s, gaps: median {gaps[len(gaps) // 2]:.1f} ms, longest {gaps[-1]:.1f} ms"
        record_property("frames_1000_nodes", told)
        print(told)
        before = drawn(page)
        until(page, lambda: drawn(page) != before, "the map is drawn again")

        page.get_by_role("tab", name="Tables").click()
        rows = page.get_by_test_id("nodes-rows").locator("tr")
        expect(rows).to_have_count(100)
        page.get_by_label("Filter nodes and links by id").fill("777")
        expect(rows).to_have_count(1)
        rows.first.get_by_role("button").click()
        expect(page.get_by_test_id("inspector").get_by_role("heading")).to_have_text("777")
        page.get_by_role("button", name="Zoom in").click()
        expect(page.get_by_test_id("fit")).to_have_attribute("aria-pressed", "false")
        page.get_by_test_id("play").click()
        expect(page.get_by_test_id("status")).to_have_text("Paused")
