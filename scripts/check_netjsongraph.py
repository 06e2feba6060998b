"""Load topology files in netjsongraph.js, in a real browser, and count what it drew.

    npm install --prefix /somewhere netjsongraph.js
    python -m venv /elsewhere && /elsewhere/bin/pip install playwright
    manetdiff generate fleet.json --out topology.json
    /elsewhere/bin/python scripts/check_netjsongraph.py topology.json \\
        --package /somewhere/node_modules/netjsongraph.js --chromium "$(command -v chromium)" --screenshot seen.png

An optional check, which no test runs: it needs playwright and a Chromium, and not manetdiff. --package is the folder
of the package (0.1: src/netjsongraph.js and lib/d3.min.js; later: dist/netjsongraph.min.js) or that one file itself,
such as openwisp-network-topology carries it. Pages are served from this computer only, and every request beyond it is
refused and counted as an error. The exit status is 1 if any file was not drawn as it is, or anything was logged as an
error.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ORIGIN = "http://topology.invalid"  # answered by the script itself, never by a network

# Each page leaves in window.seen what was loaded, once it is drawn.
FIRST_GENERATION = """
d3.netJsonGraph("/topology.json", {el: "#graph", onEnd: () => {
    const lines = [...document.querySelectorAll("#graph line.njg-link")];
    window.seen = {
        nodes: [...document.querySelectorAll("#graph circle.njg-node")].map((circle) => circle.__data__.id),
        links: lines.map((line) => [line.__data__.source.id, line.__data__.target.id]),
    };
}});
"""
SECOND_GENERATION = """
const graph = new NetJSONGraph("/topology.json", {el: "#graph", onReady() {
    setTimeout(() => {
        const drawn = graph.echarts.getModel().getSeriesByIndex(0);
        const ids = (data, read) => data.mapArray((index) => read(data.getRawDataItem(index)));
        window.seen = {
            nodes: ids(drawn.getData(), (node) => node.id ?? node.name),
            links: ids(drawn.getEdgeData(), (link) => [link.source, link.target]),
        };
    }, 3000);
}});
graph.render();
"""


@dataclass(frozen=True)
class Bundle:
    """The scripts and styles of one release of netjsongraph.js, and how it is told to draw."""

    scripts: tuple[Path, ...]
    styles: tuple[Path, ...]
    draw: str

    def page(self) -> str:
        """A page that draws /topology.json."""
        styles = "".join(f"<style>{style.read_text(encoding='utf-8')}</style>" for style in self.styles)
        scripts = "".join(f"<script src='/script/{place}'></script>" for place in range(len(self.scripts)))
        return (
            f"<!DOCTYPE html><html><head><meta charset='utf-8'><link rel='icon' href='data:,'>{styles}</head>"
            "<body style='margin: 0'><div id='graph' style='width: 1000px; height: 700px'></div>"
            f"{scripts}<script>{self.draw}</script></body></html>"
        )


def find_bundle(package: Path) -> Bundle:
    """The bundle in the folder of the package, or the one whose minified file is given."""
    first = package / "src" / "netjsongraph.js"
    d3 = package / "lib" / "d3.min.js"
    if first.exists() and d3.exists():
        return Bundle((d3, first), tuple(sorted(first.parent.glob("*.css"))), FIRST_GENERATION)
    second = package / "dist" / "netjsongraph.min.js" if package.is_dir() else package
    if second.exists():
        return Bundle((second,), (), SECOND_GENERATION)
    sys.exit(f"{package}: neither src/netjsongraph.js with lib/d3.min.js nor dist/netjsongraph.min.js is there")


def draw(bundle: Bundle, document: dict[str, Any], chromium: Path, screenshot: Path | None) -> tuple[Any, list[str]]:
    """What the page says it has drawn (None: nothing), and every error."""
    from playwright.sync_api import Route, sync_playwright
    from playwright.sync_api import TimeoutError as TookTooLong

    errors: list[str] = []
    answers = {"/": ("text/html", bundle.page()), "/topology.json": ("application/json", json.dumps(document))}
    for place, script in enumerate(bundle.scripts):
        answers[f"/script/{place}"] = ("text/javascript", script.read_text(encoding="utf-8"))

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if path in answers:
            route.fulfill(content_type=f"{answers[path][0]}; charset=utf-8", body=answers[path][1])
        else:
            errors.append(f"asked for {route.request.url}")
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.route("**/*", answer)
        page.goto(f"{ORIGIN}/")
        try:
            seen = page.wait_for_function("window.seen", timeout=60_000).json_value()
        except TookTooLong:
            seen = None
        if screenshot is not None:
            page.screenshot(path=str(screenshot))
        browser.close()
    return seen, errors


def differences(document: dict[str, Any], seen: Any) -> list[str]:
    """How what was drawn differs from the file, in words."""
    if seen is None:
        return ["nothing was drawn within a minute"]
    found = []
    nodes = sorted(node["id"] for node in document["nodes"])
    links = sorted(sorted((link["source"], link["target"])) for link in document["links"])
    if sorted(seen["nodes"]) != nodes:
        found.append(f"{len(seen['nodes'])} nodes were drawn, not these {len(nodes)}")
    if sorted(sorted(ends) for ends in seen["links"]) != links:
        found.append(f"{len(seen['links'])} links were drawn, not these {len(links)}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topology", type=Path, nargs="+", help="topology files (NetJSON)")
    parser.add_argument("--package", type=Path, required=True, help="the npm package's folder, or its minified file")
    parser.add_argument("--chromium", type=Path, required=True, help="the browser's program")
    parser.add_argument("--screenshot", type=Path, help="write what the last file looks like (PNG)")
    options = parser.parse_args()
    bundle = find_bundle(options.package)
    failed = False
    for file in options.topology:
        document = json.loads(file.read_text(encoding="utf-8"))
        seen, errors = draw(bundle, document, options.chromium, options.screenshot)
        wrong = differences(document, seen) + errors
        failed |= bool(wrong)
        counts = f"{len(document['nodes'])} nodes, {len(document['links'])} links"
        print(f"{file.name}: {'; '.join(wrong) if wrong else f'{counts}, all drawn, no errors'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
