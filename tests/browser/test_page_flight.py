"""The flight of the service itself: play, pause, pace, another scenario; and its frames."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.browser import Open, Service, drawn, expect, frame_gaps, is_live, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)


def test_play_and_pause(service: Service, open_page: Open) -> None:
    with service.network(flight={"playing": True}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("button", name="Pause", exact=True).click()
        expect(page.get_by_test_id("status")).to_have_text("Paused")
        assert net.call("GET", "")["flight"]["playing"] is False
        version = net.state()["version"]
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.get_by_test_id("status")).to_have_text("Live")
        until(page, lambda: net.state()["version"] > version + 1, "versions come again")


def test_speed_and_rate(service: Service, open_page: Open) -> None:
    with service.network(flight={"speed": 4, "rate": 2}) as net:
        page = open_page(net.page)
        is_live(page)
        expect(page.get_by_test_id("speed")).to_be_enabled()
        page.get_by_test_id("speed").press("End")
        until(page, lambda: net.call("GET", "")["flight"]["speed"] == 64, "the speed is the highest")
        page.get_by_test_id("rate").press("Home")
        until(page, lambda: net.call("GET", "")["flight"]["rate"] == 0.5, "the rate is the lowest")
        expect(page.locator("#speed-told")).to_have_text("64 × time")
        expect(page.locator("#rate-told")).to_have_text("0.5 a second")


def test_another_scenario(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_label("Formation").select_option("streets")
        page.get_by_label("Nodes", exact=True).fill("12")
        page.get_by_label("Seed").fill("7")
        page.get_by_test_id("launch").click()
        until(page, lambda: net.call("GET", "")["flight"]["family"] == "streets", "streets are flown")
        flight = net.call("GET", "")["flight"]
        assert (flight["nodes"], flight["seed"], flight["motion"]) == (12, 7, "streets")
        expect(page.locator("#r-nodes")).to_have_text("of 12 nodes")
        page.get_by_test_id("end-flight").click()
        until(page, lambda: net.call("GET", "")["flight"] is None, "the flight has ended")
        expect(page.get_by_test_id("play")).to_be_disabled()


def test_settings_of_the_updates(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_label("Effort").select_option("careful")
        page.get_by_label("Loyalty").fill("1.5")
        page.get_by_label("Loyalty").press("Tab")
        until(page, lambda: net.call("GET", "")["settings"]["loyalty"] == 1.5, "loyalty is kept")
        page.get_by_role("tabpanel").get_by_label("Radio").select_option("ku-15")
        until(page, lambda: net.call("GET", "")["radio"]["sectors"] == 8, "the radio has eight sectors")
        assert net.call("GET", "")["settings"]["preset"] == "careful"
        page.get_by_label("Loyalty").fill("-1")
        page.get_by_label("Loyalty").press("Tab")
        page.wait_for_timeout(200)
        assert net.call("GET", "")["settings"]["loyalty"] == 1.5, "what makes no sense is not sent"


def test_what_the_service_refuses_is_said(service: Service, open_page: Open) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page, expected="status of 4")
        is_live(page)
        name = page.get_by_role("tabpanel").get_by_label("Name")
        name.evaluate("(field) => { field.value = 'a\\u0007b'; }")
        name.dispatch_event("change")
        expect(page.get_by_test_id("toasts")).to_contain_text("printable")


def test_frames_keep_coming_with_32_nodes_at_5_updates_a_second(
    service: Service, open_page: Open, record_property: Callable[[str, object], None]
) -> None:
    with service.network(flight={"nodes": 32, "rate": 5, "playing": True}) as net:
        page = open_page(net.page)
        is_live(page)
        before, version = drawn(page), net.state()["version"]
        gaps = frame_gaps(page, 4)
        told = f"{len(gaps) / 4:.0f} frames/s, gaps: median {gaps[len(gaps) // 2]:.1f} ms, longest {gaps[-1]:.1f} ms"
        record_property("frames_32_nodes", told)
        print(told)
        assert len(gaps) > 20
        assert net.state()["version"] > version + 5
        assert drawn(page) != before
