"""Looking back and looking in: old versions, what an update has changed and why, and the denoising step by step."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.browser import Net, Open, Service, drawn, expect, is_live, pairs_of, places, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

CIRCLE = [(4000.0, 0.0), (2000.0, 3500.0), (-2000.0, 3500.0), (-4000.0, 0.0), (-2000.0, -3500.0), (2000.0, -3500.0)]


def _moved(net: Net, times: int) -> None:
    """Report a fleet whose nodes trade places, so that links change from version to version."""
    for k in range(times):
        net.report(float(k), {str(n): CIRCLE[(n + 2 * k * (n % 2)) % 6] for n in range(6)})


def test_history_by_slider_and_back_to_live(service: Service, open_page: Open) -> None:
    with service.network() as net:
        _moved(net, 6)
        page = open_page(net.page)
        is_live(page)
        newest = net.state()["version"]
        slider = page.get_by_test_id("history")
        for _ in range(3):
            slider.press("ArrowLeft")
        expect(page.get_by_test_id("banner")).to_contain_text(f"Viewing version {newest - 3} of {newest}")
        expect(page.get_by_test_id("version")).to_have_text(f"version {newest - 3}")
        old = net.call("GET", f"/state?version={newest - 3}")
        until(page, lambda: places(page).pairs() == pairs_of(old), "the map shows the old links")
        expect(page.locator("#r-links")).to_have_text(str(len(old["links"])))
        net.report(10.0, {"0": (4100.0, 50.0)})
        expect(slider).to_have_attribute("max", str(newest + 1))
        expect(page.get_by_test_id("version")).to_have_text(f"version {newest - 3}")
        page.get_by_test_id("back-to-live").click()
        expect(page.get_by_test_id("banner")).to_be_hidden()
        expect(page.get_by_test_id("version")).to_have_text(f"version {newest + 1}")
        until(page, lambda: places(page).pairs() == pairs_of(net.state()), "the map shows what is live")


def test_history_as_a_table(service: Service, open_page: Open) -> None:
    with service.network() as net:
        _moved(net, 4)
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("tab", name="History").click()
        page.get_by_role("button", name="View version 2").click()
        expect(page.get_by_test_id("banner")).to_contain_text("Viewing version 2 of 4")


def test_before_and_after(service: Service, open_page: Open) -> None:
    with service.network() as net:
        _moved(net, 6)
        page = open_page(net.page)
        is_live(page)
        changed = next(row for row in net.call("GET", "/history")["versions"][1:-1] if row["added"] and row["dropped"])
        page.get_by_role("tab", name="History").click()
        page.get_by_role("button", name=f"View version {changed['version']}", exact=True).click()
        expect(page.get_by_test_id("banner")).to_be_visible()
        places(page)
        plain = drawn(page)
        page.get_by_test_id("before").click()
        expect(page.get_by_test_id("before")).to_have_attribute("aria-pressed", "true")
        told = f"({changed['added']} added, {changed['dropped']} dropped)"
        expect(page.get_by_test_id("banner")).to_contain_text(told)
        until(page, lambda: drawn(page) != plain, "the change is drawn")
        page.get_by_test_id("before").click()
        until(page, lambda: drawn(page) == plain, "the map is as before")


def test_what_changed_and_why(service: Service, open_page: Open) -> None:
    with service.network() as net:
        _moved(net, 3)
        page = open_page(net.page)
        is_live(page)
        page.get_by_role("tab", name="Changes").click()
        assert net.report(5.0, {"0": (-4200.0, -900.0), "3": (4000.0, 100.0)})["changed"]
        version = net.state()["version"]
        panel = page.get_by_role("tabpanel")
        expect(panel).to_contain_text(f"Version {version}:")
        explained = net.call("GET", f"/explain?version={version}")
        for change in explained["changes"][:3]:
            expect(panel).to_contain_text(change["reason"])


def test_the_denoising_step_by_step(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 8}) as net:
        page = open_page(net.page, reduced_motion="reduce")  # it does not play by itself then
        is_live(page)
        page.get_by_test_id("denoising").click()
        banner, slider = page.get_by_test_id("banner"), page.get_by_test_id("denoising-step")
        expect(banner).to_contain_text("Noise, T")
        chain = net.call("GET", "/denoising?steps=16&seed=0")
        steps = len(chain["steps"])
        assert _links(page) == _links_of(chain, chain["steps"][0])
        expect(page.locator("#legend-broken")).to_be_visible()
        slider.press("ArrowRight")
        expect(banner).to_contain_text(f"Step 1 of {steps - 1}")
        assert _links(page) == _links_of(chain, chain["steps"][1])
        slider.press("End")
        expect(banner).to_contain_text("Polished")
        assert _links(page) == _links_of(chain, chain["polished"])
        expect(slider).to_have_attribute("aria-valuetext", re.compile("Polished"))
        expect(page.locator("#legend-broken")).to_be_hidden()
        page.get_by_test_id("denoising").click()
        expect(banner).to_be_hidden()
        until(page, lambda: _links(page) == pairs_of(net.state()), "the map shows what is live")


def _links(page: Any) -> set[frozenset[str]]:
    return places(page).pairs()


def _links_of(chain: Any, step: Any) -> set[frozenset[str]]:
    ids = chain["nodes"]
    return {frozenset((ids[a], ids[b])) for a, b in step["links"]}


def test_the_denoising_plays_and_pauses(service: Service, open_page: Open) -> None:
    with service.network(flight={"nodes": 8}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_test_id("denoising").click()
        slider = page.get_by_test_id("denoising-step")
        until(page, lambda: slider.is_visible() and int(slider.input_value()) >= 2, "it plays")
        page.get_by_test_id("denoising-play").click()
        stopped = slider.input_value()
        page.wait_for_timeout(1000)  # nothing should happen, which no condition tells
        assert slider.input_value() == stopped
        page.get_by_test_id("denoising-again").click()
        expect(page.get_by_test_id("banner")).to_contain_text("Noise")
        page.get_by_test_id("back-to-live").click()
        expect(page.get_by_test_id("banner")).to_be_hidden()


def test_metrics_over_time_are_drawn(service: Service, open_page: Open) -> None:
    with service.network() as net:
        _moved(net, 5)
        page = open_page(net.page)
        is_live(page)
        charts = page.get_by_test_id("charts")
        assert charts.locator("figure").count() == 4
        picture = "() => [...document.querySelectorAll('#charts canvas')].map((one) => one.toDataURL())"
        before = page.evaluate(picture)
        net.report(20.0, {"0": (-4200.0, -900.0)})
        until(page, lambda: page.evaluate(picture) != before, "the charts go on")
