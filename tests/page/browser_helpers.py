"""What the page's tests share: where to go, what to watch, how to wait."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request

ROOT = Path(__file__).parents[2]
PATIENCE = 30_000  # a computer that does much else at the same time is slow, not wrong
SHOTS = ROOT / "artefacts" / "page"
NET = "file|/lake/gold/daily_revenue|net"
EMAIL = "file|/lake/bronze/customers|email"


class Site:
    """The address of a server and the views one can go to."""

    def __init__(self, address: str) -> None:
        self.address = address

    def link(self, **view: str) -> str:
        return f"{self.address}/?{urlencode(view)}"


class Watch:
    """What a page did that it may not do. A test that provokes an error answer allows its status."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.allowed: set[str] = set()

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.allowed):
            self.errors.append(f"{message.text} {message.location.get('url', '')}")

    def asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data"):
            self.hosts.add(parts.netloc)


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
