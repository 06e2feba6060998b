"""The page as it comes up: without errors, within its policy, in light and dark, and with any name as mere text."""

from __future__ import annotations

import httpx2 as httpx
import pytest

from support.browser import DESKTOP, Open, Service, drawn, expect, is_live, places, until

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

ODD = ["<img src=x onerror=alert(1)>", "機体七号", "🛩️ twelve", "x" * 128, "a&b</script>", 'she said "go"']


def test_the_demo_flies_without_errors(service: Service, open_page: Open) -> None:
    page = open_page(service.url)
    is_live(page)
    expect(page.get_by_test_id("status")).to_have_text("Live")
    version = page.get_by_test_id("version").inner_text()
    expect(page.get_by_test_id("version")).not_to_have_text(version)
    before = drawn(page)
    until(page, lambda: drawn(page) != before, "the map is drawn again")


@pytest.mark.parametrize("hash", ["#network=%", "#network=nowhere", "#something"])
def test_an_address_that_leads_nowhere_leads_to_the_demo(service: Service, open_page: Open, hash: str) -> None:
    page = open_page(f"{service.url}/{hash}")
    is_live(page)
    assert page.get_by_test_id("network").input_value() == service.call("GET", "choices")["demo"]


def test_the_policy_lets_nothing_in_from_elsewhere(service: Service) -> None:
    policy = httpx.get(service.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_light_and_dark_as_the_system_has_it_and_as_one_likes(service: Service, open_page: Open) -> None:
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page(service.url, scheme=scheme) for scheme in ("light", "dark"))
    bright, dim = light.evaluate(paper), dark.evaluate(paper)
    assert bright != dim
    light.get_by_test_id("theme").click()
    until(light, lambda: light.evaluate(paper) == dim, "the colours are the dark ones")
    light.reload()
    assert light.evaluate(paper) == dim, "what was chosen is kept"
    expect(light.get_by_test_id("theme")).to_have_attribute("aria-pressed", "true")


def test_any_id_is_shown_as_text(service: Service, open_page: Open) -> None:
    with service.network() as net:
        net.report(0.0, {id: (3000.0 * k, 1000.0 * (k % 2)) for k, id in enumerate(ODD)})
        page = open_page(net.page)
        alerts: list[str] = []
        page.on("dialog", lambda dialog: alerts.append(dialog.message))
        is_live(page)
        page.get_by_role("tab", name="Tables").click()
        for id in ODD:
            expect(page.get_by_test_id("nodes-rows").get_by_role("button", name=id, exact=True)).to_be_visible()
        page.mouse.click(*places(page).nodes[ODD[0]])
        expect(page.get_by_test_id("inspector").get_by_role("heading")).to_have_text(ODD[0])
        page.get_by_test_id("inspector").locator(".links button").first.click()
        expect(page.get_by_test_id("link-menu")).to_contain_text(ODD[0])
        page.get_by_test_id("pin-keep").click()
        page.get_by_role("tab", name="Pins").click()
        expect(page.get_by_role("tabpanel")).to_contain_text(ODD[0])
        assert page.locator("img").count() == 0
        assert not alerts


def test_a_network_with_a_hostile_name_is_shown_as_text(service: Service, open_page: Open) -> None:
    with service.network() as net:
        net.call("PATCH", "", {"name": ODD[0]})
        page = open_page(net.page)
        expect(page.get_by_test_id("waiting")).to_be_visible()
        until(page, lambda: page.title().startswith(ODD[0]), "the title has the name")
        assert page.locator("img").count() == 0


@pytest.mark.parametrize("size", [DESKTOP, (1280, 720), (1024, 768)])
def test_nothing_is_cut_off_on_screens_of_usual_sizes(service: Service, open_page: Open, size: tuple[int, int]) -> None:
    page = open_page(service.url, size)
    is_live(page)
    cut = page.evaluate(
        """() => [...document.querySelectorAll("button, figcaption > *, .readout > div, .legend li, label, output")]
          .filter((seen) => seen.offsetParent !== null && seen.closest("[hidden], .unseen, .panel, .sheet") === null)
          .filter((seen) => {
            const box = seen.getBoundingClientRect();
            const frame = seen.closest("figcaption")?.getBoundingClientRect();
            if (frame !== undefined && box.top >= frame.bottom) return false; // left out whole
            return box.right > Math.min(innerWidth, frame?.right ?? innerWidth) + 0.5 || box.bottom > innerHeight + 0.5;
          })
          .map((seen) => seen.textContent.trim())"""
    )
    assert cut == []
