"""The page of a real service in a real browser: a pytest plugin, so that test files need not import fixtures.

What is drawn on the map is asked of the page's own modules; all else is looked at as anyone would.
PYTEST_DONT_REWRITE: test files import it before pytest can.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2 as httpx
import pytest

from support.live_server import can_serve, live_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

DESKTOP, PHONE = (1440, 900), (390, 844)
PATIENCE_S = 20.0
# No sandbox: in containers there is none to be had. The rest keeps the browser from calling home.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Of a module and no longer: while it runs, this thread can have no event loop of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=found, args=list(FLAGS))
        except playwright.Error as error:
            pytest.skip(f"chromium cannot be started: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`manetdiff serve --demo`, for all tests; each has a network of its own there."""
    if not can_serve():
        pytest.skip("the extra 'serve' is not installed")
    with live_server(tmp_path_factory.mktemp("service"), "--demo") as url:
        yield Service(url)


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Open]:
    """Pages in contexts of their own; what went wrong in them fails the test at its end."""
    opened: list[tuple[Any, Watch]] = []

    def open_one(
        url: str,
        size: tuple[int, int] = DESKTOP,
        *,
        scheme: str = "light",
        touch: bool = False,
        expected: str | None = None,
        **more: Any,
    ) -> Page:
        viewport = {"width": size[0], "height": size[1]}
        screen: dict[str, Any] = {"viewport": viewport, "color_scheme": scheme, "has_touch": touch, "is_mobile": touch}
        context = chromium.new_context(**screen, **more)
        page = context.new_page()
        opened.append((context, Watch(page, expected)))
        page.goto(url)
        return page

    yield open_one
    for context, watch in opened:
        watch.check()
        context.close()


class Watch:
    """Errors of a page. expected: what those look like that the test brings about."""

    def __init__(self, page: Page, expected: str | None) -> None:
        self._wrong: list[str] = []
        self._expected = None if expected is None else re.compile(expected)
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (event) =>"
            " console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))"
        )
        page.on("pageerror", lambda error: self._wrong.append(f"page error: {error}"))
        page.on("console", self._read)

    def _read(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self._wrong.append(f"console: {line.text}")

    def check(self) -> None:
        """Fail if anything went wrong."""
        wrong = [line for line in self._wrong if self._expected is None or not self._expected.search(line)]
        assert not wrong, wrong


@dataclass
class Service:
    """Calls of the service itself, to compare with what the page shows."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers."""
        answer = httpx.request(method, f"{self.url}/v1/{path}", json=body, headers=self.headers, timeout=60)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    @contextmanager
    def network(self, *, flight: dict[str, Any] | None = None, **settings: Any) -> Iterator[Net]:
        """A network for one test. flight: of the service's own, paused unless it says otherwise."""
        body = {"name": "Test fleet", "settings": {"preset": "instant", **settings}}
        net = Net(self, self.call("POST", "networks", body)["id"])
        try:
            if flight is not None:
                net.call("PUT", "/flight", {"nodes": 8, "playing": False, **flight})
            yield net
        finally:
            if net.id in {one["id"] for one in self.call("GET", "networks")["networks"]}:
                net.call("DELETE", "")


class Net(NamedTuple):
    """One network of a service."""

    service: Service
    id: str

    @property
    def page(self) -> str:
        """Its address on the page."""
        return f"{self.service.url}/#network={self.id}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers."""
        return self.service.call(method, f"networks/{self.id}{path}", body)

    def state(self) -> Any:
        """As viewers see it."""
        return self.call("GET", "/state")

    def report(self, at: float, nodes: dict[str, tuple[float, float]]) -> Any:
        """Positions in metres, by id."""
        told = [{"id": id, "x": x, "y": y, "yaw": 0.0} for id, (x, y) in nodes.items()]
        return self.call("POST", "/positions", {"time": at, "nodes": told})


def expect(found: Locator) -> Any:
    """Playwright's, with patience for slow machines."""
    from playwright.sync_api import expect as expect_of_playwright

    expect_of_playwright.set_options(timeout=1e3 * PATIENCE_S)
    return expect_of_playwright(found)


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"still not so: {what}"
        page.wait_for_timeout(50)


def is_live(page: Page) -> None:
    """Wait until the page shows a fleet."""
    expect(page.get_by_test_id("version")).to_have_text(re.compile(r"version \d+"))


# Where things are on the screen, when they have come to rest.
PLACES = """() => import("/page/map/fleet_view.js").then(({ camera, scene }) => {
  const { left, top } = document.getElementById("map").getBoundingClientRect();
  const at = ({ x, y }) => [left + camera.screenX(x), top + camera.screenY(y)];
  return {
    nodes: Object.fromEntries([...scene.nodes.values()].map((node) => [node.id, at(node)])),
    links: [...scene.links.values()].map(({ source, target, a, b }) =>
      [source, target, at({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })]),
    metre: camera.scale,
  };
})"""


class Places(NamedTuple):
    """nodes: pixels by id. links: ends, and pixels of the middle. metre: pixels."""

    nodes: dict[str, tuple[float, float]]
    links: list[tuple[str, str, tuple[float, float]]]
    metre: float

    def pairs(self) -> set[frozenset[str]]:
        """The links, whichever way round."""
        return {frozenset((a, b)) for a, b, _ in self.links}


def places(page: Page) -> Places:
    """What the map shows, once it stands still: of a fleet in flight it never does."""
    before = None
    for _ in range(200):
        now = page.evaluate(PLACES)
        if now == before and now["nodes"]:
            return Places(**now)
        before = now
        page.wait_for_timeout(60)
    raise AssertionError("the map does not come to rest")


def pairs_of(state: Any) -> set[frozenset[str]]:
    """The links of a state of the service."""
    return {frozenset((link["source"], link["target"])) for link in state["links"]}


def frame_gaps(page: Page, seconds: float) -> list[float]:
    """Milliseconds between frames, sorted."""
    gaps = page.evaluate(
        """(ms) => new Promise((resolve) => {
          const gaps = [];
          const end = performance.now() + ms;
          let last = performance.now();
          const frame = () => {
            const now = performance.now();
            gaps.push(now - last);
            last = now;
            if (now < end) requestAnimationFrame(frame);
            else resolve(gaps);
          };
          requestAnimationFrame(frame);
        })""",
        1e3 * seconds,
    )
    return sorted(gaps)


def drawn(page: Page) -> str:
    """The map as it is drawn now, to compare."""
    return str(page.evaluate("() => document.getElementById('canvas').toDataURL()"))


def scrolls_sideways(page: Page) -> bool:
    """Whether anything is wider than the screen."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth > innerWidth"))


def downloaded(page: Page, press: Callable[[], None], folder: Path) -> Path:
    """What a press of a button saves."""
    with page.expect_download(timeout=1e3 * PATIENCE_S) as coming:
        press()
    path = folder / str(coming.value.suggested_filename)
    coming.value.save_as(path)
    return path
