"""A real browser on a real `colline serve`. Console errors and requests to another host fail the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.page import delivery_lake
from tests.page.browser_helpers import ROOT, TIMEOUT_MS, PageMonitor, Site
from tests.server.serving import Server, serving

expect.set_options(timeout=TIMEOUT_MS)
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
    """One browser per module: its event loop runs in this thread, and tests of other packages start their own."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(browser_program), args=FLAGS)
        yield started
        started.close()


def _serve_lake(lake: Path) -> Iterator[Site]:
    with serving(lake, "--no-access-log") as server:
        server.client.get("/api/v1/overview", timeout=120)  # the first answer loads the snapshot, which can be slow
        yield Site(server.address)


@pytest.fixture(scope="session")
def delivery_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = delivery_lake.write(delivery_lake.delivery(), tmp_path_factory.mktemp("delivery") / "lake")
    delivery_lake.write_runs_and_quarantine(path)
    return path


@pytest.fixture(scope="session")
def site(delivery_path: Path) -> Iterator[Site]:
    yield from _serve_lake(delivery_path)


@pytest.fixture(scope="session")
def demo_site(ingested_server: Server) -> Site:
    """The page on a lake of events that the demo captured, the receiver accepted and the pipeline ingested."""
    ingested_server.client.get("/api/v1/overview", timeout=120)
    return Site(ingested_server.address)


@pytest.fixture(scope="session")
def wide_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _serve_lake(delivery_lake.write(delivery_lake.wide_lake(), tmp_path_factory.mktemp("wide") / "lake"))


@pytest.fixture(scope="session")
def extreme_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _serve_lake(delivery_lake.write(delivery_lake.extreme(), tmp_path_factory.mktemp("extreme") / "lake"))


@pytest.fixture
def monitor() -> PageMonitor:
    return PageMonitor()


@pytest.fixture
def page(browser: Browser, monitor: PageMonitor) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", timezone_id="Europe/Paris", accept_downloads=True
    )
    context.set_default_timeout(TIMEOUT_MS)
    new_page = context.new_page()
    new_page.on("console", monitor.record_message)
    new_page.on("pageerror", lambda error: monitor.errors.append(str(error)))
    new_page.on("request", monitor.record_request)
    yield new_page
    context.close()
    assert monitor.errors == []
    assert len(monitor.hosts) <= 1, f"requests to {monitor.hosts}"
