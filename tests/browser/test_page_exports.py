"""What can be taken away: NetJSON, a picture, a video."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from support.browser import Open, Service, downloaded, expect, is_live, pairs_of, places

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

WEBM = b"\x1a\x45\xdf\xa3"  # how every file of Matroska's family begins


def test_netjson_of_the_version_in_view(service: Service, open_page: Open, tmp_path: Path) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_test_id("export").click()
        path = downloaded(page, page.get_by_test_id("export-netjson").click, tmp_path)
        graph, state = json.loads(path.read_text(encoding="utf-8")), net.state()
        assert path.suffix == ".json"
        assert graph["type"] == "NetworkGraph"
        assert graph["properties"]["version"] == state["version"]
        assert {node["id"] for node in graph["nodes"]} == {node["id"] for node in state["nodes"]}
        assert pairs_of(graph) == pairs_of(state)


def test_netjson_of_an_old_version(service: Service, open_page: Open, tmp_path: Path) -> None:
    with service.network() as net:
        for k in range(3):
            net.report(float(k), {"A": (0.0, 0.0), "B": (2000.0, 100.0 * k), "C": (1000.0, 2000.0)})
        page = open_page(net.page)
        is_live(page)
        page.get_by_test_id("history").press("Home")
        expect(page.get_by_test_id("banner")).to_contain_text("Viewing version 1 of 3")
        page.get_by_test_id("export").click()
        path = downloaded(page, page.get_by_test_id("export-netjson").click, tmp_path)
        assert json.loads(path.read_text(encoding="utf-8"))["properties"]["version"] == 1


def test_a_picture(service: Service, open_page: Open, tmp_path: Path) -> None:
    with service.network(flight={}) as net:
        page = open_page(net.page)
        is_live(page)
        places(page)
        page.get_by_test_id("export").click()
        path = downloaded(page, page.get_by_test_id("export-png").click, tmp_path)
        stage = page.locator("#stage").bounding_box()
        assert stage is not None
        with Image.open(path) as picture:
            assert picture.format == "PNG"
            assert picture.width == stage["width"]
            assert picture.height > stage["height"], "there is a line under it that says what it is of"
            colours = picture.convert("RGB").getcolors(maxcolors=1 << 24)
        assert colours is not None
        assert len(colours) > 50


@pytest.mark.parametrize("playing", [True, False])
def test_a_video(service: Service, open_page: Open, tmp_path: Path, playing: bool) -> None:
    with service.network(flight={"playing": playing}) as net:
        page = open_page(net.page)
        is_live(page)
        page.get_by_test_id("export").click()
        page.get_by_test_id("export-video").click()
        expect(page.get_by_test_id("toasts")).to_contain_text("Recording")
        expect(page.get_by_test_id("export")).to_have_attribute("data-recording", "true")
        page.wait_for_timeout(1200)  # what is recorded is time itself
        page.get_by_test_id("export").click()
        expect(page.get_by_test_id("export-video")).to_have_attribute("aria-pressed", "true")
        path = downloaded(page, page.get_by_test_id("export-video").click, tmp_path)
        assert path.suffix == ".webm"
        data = path.read_bytes()
        assert data.startswith(WEBM)
        assert len(data) > 1000
        expect(page.get_by_test_id("export")).to_have_attribute("data-recording", "false")


def test_the_menu_by_keyboard(service: Service, open_page: Open) -> None:
    page = open_page(service.url)
    button, first = page.get_by_test_id("export"), page.get_by_test_id("export-netjson")
    button.press("Enter")
    expect(first).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    expect(button).to_be_focused()
