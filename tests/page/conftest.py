"""A real browser on a real `colline serve`. Every page is watched: no console error, no request to another host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.page import delivery_lake
from tests.page.browser_helpers import PATIENCE, ROOT, Site, Watch
from tests.server.serving import Server, serving

expect.set_options(timeout=PATIENCE)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session", autouse=True)
def built_page() -> None:
    if not (ROOT / "src/colline/server/static/index.html").is_file():
        pytest.fail("the page is not built; hint: run `make page`")


@pytest.fixture(scope="module")
def browser(browser_program: Path) -> Iterator[Browser]:
    """A browser for one module: its event loop runs in this thread, and tests of other rooms start their own."""
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
def demo_site(ingested: Server) -> Site:
    """A page on events that took the whole way: captured by the demo, received, ingested; hostile names among them."""
    ingested.client.get("/api/v1/overview", timeout=120)
    return Site(ingested.address)


@pytest.fixture(scope="session")
def wide_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _served(delivery_lake.write(delivery_lake.wide(), tmp_path_factory.mktemp("wide") / "lake"))


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
