"""axe-core finds nothing wrong with the page: light and dark, on desktop and phone, whatever is open."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from manetdiff.user_cache import user_cache
from support.browser import DESKTOP, PHONE, Open, Service, expect, is_live, places

pytestmark = pytest.mark.browser
pytest_plugins = ("support.browser",)

AXE = "axe-core-4.12.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, fetched once and kept."""
    folder = user_cache() or tmp_path_factory.mktemp("axe")
    kept = folder / f"{AXE}.min.js"
    if not kept.exists():
        _fetch(kept, tmp_path_factory.mktemp("npm"))
    return kept.read_text(encoding="utf-8")


def _fetch(into: Path, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core cannot be fetched: there is no npm")
    name, _, version = AXE.rpartition("-")
    command = [npm, "pack", f"{name}@{version}", "--pack-destination", str(folder)]
    fetched = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if fetched.returncode != 0:
        pytest.skip(f"axe-core cannot be fetched: {fetched.stderr.strip().splitlines()[-1:]}")
    with tarfile.open(folder / f"{AXE}.tgz") as packed:
        source = packed.extractfile("package/axe.min.js")
        assert source is not None
        into.parent.mkdir(parents=True, exist_ok=True)
        into.write_bytes(source.read())


Check = Callable[[Any, str], None]


@pytest.fixture
def check(axe: str) -> Iterator[Check]:
    """Look for violations; all that were found fail the test at its end, each with where and what."""
    found: list[str] = []

    def look(page: Any, where: str) -> None:
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(axe)
        result = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
        for violation in result["violations"]:
            told = [node["html"][:120] + " " + node["failureSummary"] for node in violation["nodes"][:3]]
            found.append(f"{where}: {violation['id']}: {told}")

    yield look
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_fleet_in_flight(service: Service, open_page: Open, check: Check, scheme: str, size: tuple[int, int]) -> None:
    narrow = size == PHONE
    with service.network(flight={}) as net:
        link = net.state()["links"][0]
        net.call("PUT", "/pins", {"keep": [[link["source"], link["target"]]]})
        page = open_page(net.page, size, scheme=scheme, touch=narrow, reduced_motion="reduce")
        is_live(page)
        check(page, "live")
        if narrow:
            page.get_by_test_id("sheet-handle").click()
        for tab in ("Flight", "Changes", "Pins", "Tables", "History", *(["Charts"] if narrow else [])):
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tabpanel", name=tab)).to_be_visible()
            if tab == "Tables":
                expect(page.get_by_test_id("links-rows").locator("tr").first).to_be_visible()
            if tab == "History":
                expect(page.get_by_role("button", name="View version 1", exact=True)).to_be_visible()
            check(page, f"tab {tab}")
        if narrow:
            page.get_by_test_id("sheet-handle").click()
        page.get_by_test_id("export").click()
        check(page, "export menu")
        page.keyboard.press("Escape")
        page.mouse.click(*next(iter(places(page).nodes.values())))
        expect(page.get_by_test_id("inspector")).to_be_visible()
        check(page, "inspector")
        page.get_by_test_id("inspector").locator(".links button").first.click()
        expect(page.get_by_test_id("link-menu")).to_be_visible()
        check(page, "link menu")
        page.keyboard.press("Escape")
        page.get_by_test_id("before").click()
        page.get_by_test_id("history").press("Home")
        expect(page.get_by_test_id("banner")).to_be_visible()
        check(page, "history, before and after")
        page.get_by_test_id("denoising").click()
        expect(page.get_by_test_id("denoising-step")).to_be_visible()
        check(page, "denoising")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_dialogs_cards_and_messages(
    service: Service, open_page: Open, check: Check, scheme: str, size: tuple[int, int]
) -> None:
    narrow = size == PHONE
    with service.network(stale=0.2, gone=600.0) as net:
        page = open_page(net.page, size, scheme=scheme, touch=narrow, reduced_motion="reduce")
        expect(page.get_by_test_id("waiting")).to_be_visible()
        check(page, "waiting for positions")
        page.get_by_role("button", name="Copy").click()  # whether it may or not, something is said
        net.report(0.0, {"A": (0.0, 0.0), "B": (3000.0, 0.0), "C": (1000.0, 2000.0)})
        expect(page.get_by_test_id("legend-stale")).to_be_visible()
        check(page, "stale nodes and a message")
        if narrow:
            page.get_by_test_id("sheet-handle").click()
        page.get_by_role("button", name="New network").click()
        expect(page.get_by_test_id("new-dialog")).to_be_visible()
        check(page, "dialog of a new network")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_test_id("delete-network").click()
        expect(page.get_by_test_id("delete-dialog")).to_be_visible()
        check(page, "dialog of deleting")
        page.get_by_test_id("delete-dialog").get_by_role("button", name="Cancel").click()
        # As of a server without networks, and of one that asks for a token.
        page.evaluate("() => document.getElementById('token-dialog').showModal()")
        check(page, "dialog of the token")
        page.evaluate("() => document.getElementById('token-dialog').close()")
        page.evaluate("() => { document.getElementById('start').hidden = false; }")
        check(page, "card of an empty server")
