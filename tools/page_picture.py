"""Takes the picture of the page in README: the demo's lake, served, in a real browser.

make picture        # after `make demo`; writes docs/pictures/page.png
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from colline.environment.browser import installed_browser

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/pictures/page.png"
COLUMN = "silver.payments.net_amount"
HOVERED = ("gold.daily_revenue", "revenue")
SIZE = {"width": 1280, "height": 640}


def take_picture(lake: Path, target: Path) -> None:
    """Save a picture of the lineage of the payments' net amount."""
    sys.path.insert(0, str(ROOT))
    from tests.page.browser_helpers import wait_for_graph
    from tests.server.serving import serving

    with serving(lake, "--no-access-log") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_browser(), args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", device_scale_factor=1.5)
        page.goto(server.address)
        page.wait_for_load_state("networkidle")
        page.keyboard.press("/")
        page.keyboard.type(COLUMN)
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        wait_for_graph(page)
        page.goto(f"{page.url}&list=0")
        wait_for_graph(page)
        row = page.locator(".card", has_text=HOVERED[0]).locator(".row").filter(has_text=re.compile(f"^{HOVERED[1]}"))
        row.hover()
        page.wait_for_timeout(500)
        target.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=target)
        browser.close()
    server.log.unlink()


if __name__ == "__main__":
    lake = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-lake")
    if not (lake / "snapshot").is_dir():
        sys.exit(f"no lake at {lake}\nhint: run `make demo`")
    take_picture(lake.resolve(), TARGET)
