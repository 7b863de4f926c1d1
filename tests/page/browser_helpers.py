"""Shared by the browser tests: links to views, checks of the browser console, waiting, screenshots."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request

ROOT = Path(__file__).parents[2]
TIMEOUT_MS = 30_000  # long, because the machine may be busy
SCREENSHOTS = ROOT / "artefacts" / "page"
NET = "file|/lake/gold/daily_revenue|net"
REVENUE = "file|/lake/gold/daily_revenue"
REVENUE_JOB = '["shop","daily_revenue"]'
FAILED_RUN = "019a85f2-0003-7bb1-9d7e-5a4d1c0f2b11"
EMAIL = "file|/lake/bronze/customers|email"


# elements that are wider than the window
OUTSIDE = """() => [...document.querySelectorAll('main *, header *')]
    .filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest('pre, .table, .react-flow'))
    .map(e => e.outerHTML.slice(0, 200))"""


class Site:
    """A running server, with links to its views."""

    def __init__(self, address: str) -> None:
        self.address = address

    def link(self, **view: str) -> str:
        return f"{self.address}/?{urlencode(view)}"


class PageMonitor:
    """Collects console errors and requested hosts. A test that provokes an error adds its text to `allowed`."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.allowed: set[str] = set()

    def record_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.allowed):
            self.errors.append(f"{message.text} {message.location.get('url', '')}")

    def record_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data"):
            self.hosts.add(parts.netloc)


def save_screenshot(page: Page, name: str) -> None:
    """Save a screenshot under `artefacts/page`."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def wait_for_graph(page: Page) -> None:
    """Wait until the graph is drawn and its tables are loaded."""
    page.wait_for_selector(".card .row")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(250)


def card_positions(page: Page) -> dict[str, float]:
    """Horizontal position of each card, by table name."""
    found = page.eval_on_selector_all(
        ".card", "all => all.map(c => [c.querySelector('strong').textContent, c.getBoundingClientRect().x])"
    )
    return dict(found)


def wait_for_page(page: Page) -> None:
    """Wait until a graph, a table or the layers are on screen."""
    page.wait_for_selector(".card .row, .table, .layer-box", state="attached")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)
