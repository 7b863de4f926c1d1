"""The page's speed in a real browser: script before the first paint, search to drawn graph, frames while panning.

`python bench/page.py [--lake PATH] [--rounds N]`; a lake of one's own is searched for `--column`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402  as above
from tests.page import delivery_lake  # noqa: E402  found by the path above
from tests.server.serving import serving  # noqa: E402  as above

from colline.environment.browser import installed_browser  # noqa: E402  as above

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LIMITS = {"script KB gzip": 200.0, "search to drawn s": 1.0, "frames a second": 30.0}

SCRIPT = """() => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
    return performance.getEntriesByType('resource')
        .filter(e => /\\.js$/.test(new URL(e.name).pathname) && e.startTime < paint)
        .reduce((sum, e) => sum + e.encodedBodySize, 0);
}"""
WATCH = """() => {
    window.typed = performance.now();
    window.drawn = new Promise(done => {
        const look = () => document.querySelector('.card .row') && document.querySelector('.line')
            ? requestAnimationFrame(() => done(performance.now() - window.typed)) : requestAnimationFrame(look);
        look();
    });
}"""
FRAMES = """() => {
    window.ticks = [];
    const tick = at => { window.ticks.push(at); window.ticking = requestAnimationFrame(tick); };
    window.ticking = requestAnimationFrame(tick);
}"""


def script_size(page: Page, address: str) -> float:
    """Kilobytes of script, as sent, that were asked for before the first paint."""
    page.goto(address)
    page.wait_for_selector("[data-search]")
    while not page.evaluate("performance.getEntriesByName('first-contentful-paint').length"):
        page.wait_for_timeout(20)
    return float(page.evaluate(SCRIPT)) / 1024


def search_to_drawn(page: Page, address: str, column: str) -> float:
    """Seconds from the last key of a search, Enter, to the graph on screen."""
    page.goto(address)
    page.wait_for_selector("[data-search]")
    page.wait_for_load_state("networkidle")
    page.get_by_role("combobox").fill(column)
    page.evaluate(WATCH)
    page.keyboard.press("Enter")
    return float(page.evaluate("window.drawn")) / 1000


def open_wide(page: Page, address: str) -> tuple[int, int]:
    """The widest graph that is drawn; its cards and the columns on them."""
    page.goto(f"{address}/?column=file%7C%2Flake%2Fbronze%2Froot%7Cseed&direction=down&depth=10&list=0")
    more = page.get_by_role("button", name="Load more")
    more.click(timeout=120_000)
    more.wait_for(state="detached", timeout=120_000)
    page.wait_for_timeout(1500)
    shown = page.evaluate("[document.querySelectorAll('.card').length, document.querySelectorAll('[data-row]').length]")
    return int(shown[0]), int(shown[1])


def pan_canvas(page: Page, seconds: float = 3.0) -> list[float]:
    """Milliseconds of each frame while the canvas is dragged."""
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] - 60, box["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    started = page.evaluate("performance.now()")
    step = 0
    while page.evaluate("performance.now()") - started < seconds * 1000:
        step += 1
        page.mouse.move(x - (step * 7) % 300, y + (step * 5) % 200)
    page.mouse.up()
    frames = page.evaluate("(cancelAnimationFrame(window.ticking), window.ticks)")
    return [b - a for a, b in pairwise(frames)]


def report(name: str, value: float, *, less: bool) -> bool:
    limit = LIMITS[name]
    good = value <= limit if less else value >= limit
    ratio = limit / value if less else value / limit
    print(f"{name}: {value:.2f} (limit {limit:g}, {ratio:.2f} times as good) {'ok' if good else 'NOT MET'}")
    return good


def idle_frame_rate(page: Page) -> float:
    """Frames per second of an empty page under the same load: the most that this computer can show."""
    page.goto("about:blank")
    page.evaluate(FRAMES)
    page.wait_for_timeout(3000)
    ticks = page.evaluate("window.ticks")
    return 1000 / statistics.mean(b - a for a, b in pairwise(ticks))


def frames_a_second(page: Page, what: str) -> bool:
    frames = pan_canvas(page)
    print(f"  {what}: slowest frame {max(frames):.0f} ms, median {statistics.median(frames):.0f} ms")
    return report("frames a second", 1000 / statistics.mean(frames), less=False)


def measure(page: Page, arguments: argparse.Namespace, home: Path) -> list[bool]:
    lake = arguments.lake or delivery_lake.write(delivery_lake.delivery(), home / "delivery")
    good = []
    with serving(Path(lake), "--no-access-log") as server:
        good.append(report("script KB gzip", script_size(page, server.address), less=True))
        times = [search_to_drawn(page, server.address, arguments.column) for _ in range(arguments.rounds)]
        good.append(report("search to drawn s", statistics.median(times), less=True))
        print(f"  rounds: {', '.join(f'{each:.2f}' for each in times)}")
    wide = delivery_lake.write(delivery_lake.wide_lake(), home / "wide")
    with serving(wide, "--no-access-log") as server:
        print(f"  an empty page has {idle_frame_rate(page):.0f} frames a second now")
        cards, columns = open_wide(page, server.address)
        print(f"  {cards} cards with {columns} columns")
        good.append(frames_a_second(page, "as it opens"))
        for _ in range(3):
            page.get_by_role("button", name="zoom out").click()
        page.wait_for_timeout(1000)
        good.append(frames_a_second(page, "names visible"))
        page.get_by_role("button", name="show all").click()
        page.wait_for_timeout(1000)
        good.append(frames_a_second(page, "all visible"))
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--column", default="daily_revenue.net")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    program: Any = installed_browser()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(program), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        good = measure(page, arguments, Path(home))
        browser.close()
    raise SystemExit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
