"""A real browser on a real `colline serve`. Every page is watched: no console error, no request to another host."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / room) for room in ("graph", "server")]  # the lake writer, the server process

import delivery_lake  # noqa: E402  the path above comes first
from serving import serving  # noqa: E402  the path above comes first

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 30_000  # a computer that does much else at the same time is slow, not wrong
expect.set_options(timeout=PATIENCE)
SHOTS = ROOT / "artefacts" / "page"
NET = "file|/lake/gold/daily_revenue|net"
EMAIL = "file|/lake/bronze/customers|email"


class Site:
    """The address of a server and the views one can go to."""

    def __init__(self, address: str) -> None:
        self.address = address

    def link(self, **view: str) -> str:
        return f"{self.address}/?{urlencode(view)}"


@pytest.fixture(scope="session", autouse=True)
def built_page() -> None:
    if not (ROOT / "src/colline/server/page/index.html").is_file():
        pytest.fail("the page is not built; hint: run `make page`")


@pytest.fixture(scope="session")
def browser(browser_program: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(browser_program), args=FLAGS)
        yield found
        found.close()


def _served(lake: Path) -> Iterator[Site]:
    with serving(lake, "--no-access-log") as server:
        server.client.get("/api/v1/overview", timeout=120)  # the first answer maps the lake; a busy computer takes long
        yield Site(server.address)


@pytest.fixture(scope="session")
def delivery_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = delivery_lake.write(delivery_lake.delivery(), tmp_path_factory.mktemp("delivery") / "lake")
    delivery_lake.journal(path)
    return path


@pytest.fixture(scope="session")
def site(delivery_path: Path) -> Iterator[Site]:
    yield from _served(delivery_path)


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _served(delivery_lake.write(delivery_lake.hostile(), tmp_path_factory.mktemp("hostile") / "lake"))


@pytest.fixture(scope="session")
def wide_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _served(delivery_lake.write(delivery_lake.wide(), tmp_path_factory.mktemp("wide") / "lake"))


class Watch:
    """What a page did that it may not do. A test that provokes an error answer allows its status."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self.hosts: set[str] = set()
        self.allowed: set[str] = set()

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.allowed):
            self.errors.append(f"{message.text} {message.location.get('url', '')}")

    def asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data"):
            self.hosts.add(parts.netloc)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def page(browser: Browser, watch: Watch) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", timezone_id="Europe/Paris", accept_downloads=True
    )
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.on("console", watch.heard)
    opened.on("pageerror", lambda error: watch.errors.append(str(error)))
    opened.on("request", watch.asked)
    yield opened
    context.close()
    assert watch.errors == []
    assert len(watch.hosts) <= 1, f"requests to {watch.hosts}"


def shoot(page: Page, name: str) -> None:
    """A screenshot kept as an artefact."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def drawn(page: Page) -> None:
    """Waits until the graph is on screen and its tables know their size."""
    page.wait_for_selector(".card .row")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(250)


def cards(page: Page) -> dict[str, float]:
    """The tables drawn, with how far left each is."""
    found = page.eval_on_selector_all(
        ".card", "all => all.map(c => [c.querySelector('strong').textContent, c.getBoundingClientRect().x])"
    )
    return dict(found)
