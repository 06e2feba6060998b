"""Pictures of the controller's page for the documentation: light, dark and on a phone.

    python scripts/page_pictures.py

It needs what `make test-service` needs: playwright and a chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import httpx2 as httpx
import typer
from PIL import Image, ImageColor

from served import served

FOLDER = Path(__file__).parent.parent / "docs" / "images"
DESKTOP, PHONE = {"width": 1360, "height": 850}, {"width": 390, "height": 844}
# Dots a pixel: sharp where screens are, and still small as a file.
SHARPNESS = 1.5
# Versions until the charts have something to show, and updates a second on the way there.
VERSIONS, HURRY = 150, 10
COLOURS, STRIPE = 256, 12
MEANINGFUL = ("accent", "link", "added", "dropped", "parity-0", "parity-1", "good", "bad")


def main(out: Annotated[Path, typer.Option(help="Folder to write to.")] = FOLDER) -> None:
    """Fly the demo for a while, and take the pictures."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), "--demo") as running, sync_playwright() as web:
        found = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = web.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        _fly_on(running.url)
        for name, scheme, size in (("light", "light", DESKTOP), ("dark", "dark", DESKTOP), ("phone", "light", PHONE)):
            narrow = size is PHONE
            screen: dict[str, Any] = {
                "viewport": size,
                "color_scheme": scheme,
                "is_mobile": narrow,
                "has_touch": narrow,
            }
            context = browser.new_context(device_scale_factor=SHARPNESS, **screen)
            page = context.new_page()
            page.goto(running.url)
            page.get_by_text("Live", exact=True).wait_for()
            _arrange(page, name)
            path = out / f"controller-{name}.png"
            page.screenshot(path=path)
            _shrink(path, page)
            print(f"{path}: {path.stat().st_size / 1024:.0f} KB")
            context.close()
        browser.close()


def _fly_on(url: str) -> None:
    """Let the demo's fleet come apart a little, so that there is something to see."""
    (network,) = httpx.get(f"{url}/v1/networks").json()["networks"]
    flight = f"{url}/v1/networks/{network['id']}/flight"
    httpx.patch(flight, json={"rate": HURRY, "speed": 20}).raise_for_status()
    while httpx.get(f"{url}/v1/networks/{network['id']}").json()["version"] < VERSIONS:
        time.sleep(0.2)
    httpx.patch(flight, json={"rate": 2, "speed": 4}).raise_for_status()


def _arrange(page: Any, name: str) -> None:
    """Something of interest in each: links that have just changed, and why; the beams of a node; the plain map."""
    if name == "dark":
        page.get_by_test_id("map").focus()
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.get_by_role("tab", name="Flight").click()
    page.wait_for_timeout(5000)  # trails grow
    if name == "light":
        page.get_by_role("tab", name="Changes").click()
        told = page.locator("#panel-changes .lede strong")
        first = told.inner_text()
        while told.inner_text() == first or not re.search(r"[1-9]\d* added, [1-9]", told.inner_text()):
            page.wait_for_timeout(50)


def _shrink(path: Path, page: Any) -> None:
    """To a third of its size by fewer colours. Those that mean something are rare, and would be lost: they are put
    beside the picture while the few are chosen."""
    read = "(name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()"
    kept = [ImageColor.getrgb(page.evaluate(read, name)) for name in MEANINGFUL]
    with Image.open(path) as picture:
        width, height = picture.size
        wide = Image.new("RGB", (width + STRIPE * len(kept), height))
        wide.paste(picture, (0, 0))
    for place, colour in enumerate(kept):
        wide.paste(colour, (width + STRIPE * place, 0, width + STRIPE * (place + 1), height))
    wide.quantize(COLOURS, dither=Image.Dither.NONE).crop((0, 0, width, height)).save(path, optimize=True)


if __name__ == "__main__":
    typer.run(main)
