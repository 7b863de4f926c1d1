"""What holds everywhere: keys alone, contrast, small screens, errors, newer snapshots, tokens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.page import delivery_lake
from tests.page.browser_helpers import EMAIL, NET, Site, Watch, drawn, shoot
from tests.server.serving import serving

pytestmark = pytest.mark.browser

VIEWS = {
    "home": {},
    "graph": {"column": NET, "depth": "3", "indirect": "1"},
    "personal": {"mode": "personal", "column": EMAIL},
    "changes": {"mode": "changes"},
    "coverage": {"mode": "coverage"},
    "runs": {"mode": "runs"},
    "quarantine": {"mode": "quarantine"},
    "droppable": {"column": NET, "ask": "droppable"},
}


def ready(page: Page) -> None:
    page.wait_for_selector(".card .row, .table, .layer-box", state="attached")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)


# contrast differs by colours, everything else by width
@pytest.mark.parametrize(
    ("width", "colours", "rules"),
    [
        (1280, "light", {}),
        (1280, "dark", {"runOnly": ["color-contrast"]}),
        (390, "light", {"rules": {"color-contrast": {"enabled": False}}}),
    ],
    ids=["1280-light", "1280-dark", "390-light"],
)
def test_no_serious_violation_in_any_mode(
    browser: Browser, site: Site, width: int, colours: Literal["light", "dark"], rules: dict[str, Any]
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844 if width < 500 else 800},
        color_scheme=colours,
    )
    page = context.new_page()
    found = []
    for name, view in VIEWS.items():
        page.goto(site.link(**view))
        if width < 500 and name in ("graph", "personal"):
            page.goto(site.link(**view, graph="1"))
        ready(page)
        shoot(page, f"{name}-{width}-{colours}")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{name} is {overflow} px too wide"
        bad = Axe().run(page, options=rules).response["violations"]
        found += [(name, v["id"], v["nodes"][0]["html"][:200]) for v in bad if v["impact"] in ("serious", "critical")]
    context.close()
    assert found == []


def test_a_small_screen_shows_search_and_list_first_and_the_graph_one_tap_away(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(site.link(column=NET))
    expect(page.get_by_role("grid")).to_be_visible()
    expect(page.get_by_role("combobox", name="Search columns")).to_be_visible()
    assert not page.locator(".canvas").is_visible()
    page.get_by_role("button", name="Show graph").tap()
    expect(page.locator(".card").first).to_be_visible()
    context.close()


def focused_row(page: Page) -> str | None:
    return page.evaluate("document.activeElement?.dataset?.row ?? null")


def test_the_whole_way_by_keys_alone(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.wait_for_selector("[data-search]")
    page.keyboard.press("Control+k")
    page.keyboard.type("daily_revenue.net")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Enter")
    drawn(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        if focused_row(page):
            break
    assert focused_row(page) == NET
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("ArrowLeft")
    assert focused_row(page) == "file|/lake/silver/orders|discount"
    page.keyboard.press("ArrowDown")
    assert focused_row(page) == "file|/lake/silver/orders|total"
    page.keyboard.press("[")
    expect(page.get_by_role("region", name="table bronze.orders", exact=True)).to_be_visible()
    page.keyboard.press("Space")
    expect(page.locator(".lines.pinned")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".lines.pinned")).to_have_count(0)
    page.keyboard.press("i")
    expect(page.get_by_role("checkbox", name="indirect")).to_be_checked()
    page.keyboard.press("l")
    expect(page.get_by_role("grid")).to_have_count(0)
    page.keyboard.press("l")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    shoot(page, "keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    page.locator('[data-row="file|/lake/silver/orders|total"]').focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("silver%2Forders%7Ctotal"))
    drawn(page)
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("mode=personal"))


def test_the_list_is_walked_by_keys(page: Page, site: Site) -> None:
    page.goto(site.link(mode="runs", job='["shop","daily_revenue"]'))
    grid = page.get_by_role("grid")
    grid.get_by_role("row").nth(1).focus()
    page.keyboard.press("End")
    expect(grid.locator('[aria-rowindex="401"]')).to_be_focused()
    page.keyboard.press("Home")
    expect(grid.locator('[aria-rowindex="2"]')).to_be_focused()


def test_an_empty_lake_says_how_to_fill_it(page: Page, tmp_path: Path, watch: Watch) -> None:
    watch.allowed.add("503")
    (tmp_path / "lake").mkdir()
    with serving(tmp_path / "lake", "--no-access-log") as server:
        page.goto(server.address)
        expect(page.get_by_role("alert")).to_contain_text("colline ingest")
        shoot(page, "empty-lake")
        page.goto("about:blank")  # it would ask a server that is gone


def test_a_server_that_is_gone_is_told_and_comes_back(page: Page, site: Site, watch: Watch) -> None:
    watch.allowed.add("ERR_FAILED")
    page.goto(site.link(column=NET))
    drawn(page)
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("button", name="Impact").click()
    expect(page.get_by_role("alert")).to_contain_text("Cannot reach the server")
    shoot(page, "offline")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    drawn(page)


def test_newer_lineage_is_announced_and_taken_on_request(page: Page, tmp_path: Path) -> None:
    from colline.graph.snapshot.publish import publish

    lake = delivery_lake.delivery()
    path = delivery_lake.write(lake, tmp_path / "lake")
    with serving(path, "--no-access-log") as server:
        page.clock.install()
        page.goto(Site(server.address).link(column=NET))
        drawn(page)
        assert page.get_by_text("Newer lineage is available").count() == 0
        lake.edge("silver.payments.paid", "gold.daily_revenue.net", "daily_revenue", "AGGREGATION")
        lake.write(path)
        publish(path)
        page.clock.fast_forward(25_000)
        expect(page.get_by_text("Newer lineage is available")).to_be_visible()
        assert page.locator('[data-row="file|/lake/silver/payments|paid"]').count() == 0
        shoot(page, "newer")
        page.get_by_role("button", name="Refresh").click()
        expect(page.locator('[data-row="file|/lake/silver/payments|paid"]')).to_be_visible()
        expect(page.get_by_text("Newer lineage is available")).to_have_count(0)
        page.goto("about:blank")


def test_a_slow_answer_shows_that_it_is_awaited(page: Page, site: Site) -> None:
    page.goto(site.address)
    ready(page)
    page.route("**/api/v1/coverage*", lambda route: (page.wait_for_timeout(600), route.continue_()))
    page.get_by_role("link", name="Coverage").click()
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()


def test_motion_is_left_out_where_it_is_not_wanted(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(site.link(column=NET))
    drawn(page)
    page.get_by_role("button", name="silver.orders: show 4 more columns upstream").click()
    card = page.get_by_role("region", name="table bronze.promotions")
    expect(card).to_be_visible()
    assert card.evaluate("e => getComputedStyle(e).animationName") == "none"
    context.close()


def test_a_server_with_tokens_asks_for_one(page: Page, delivery_path: Path, watch: Watch) -> None:
    import subprocess
    import sys

    watch.allowed.add("401")
    command = [sys.executable, "-m", "colline", "token", "create", "--lake", str(delivery_path), "--scope", "read"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    token = made.stdout.split()[-1]
    with serving(delivery_path, "--no-access-log", "--require-token") as server:
        page.goto(server.address)
        expect(page.get_by_role("alert")).to_contain_text("requires a token")
        shoot(page, "token")
        page.get_by_label("Token with the").fill(token)
        page.get_by_role("button", name="Use token").click()
        expect(page.locator(".layer-box")).to_have_count(5)
        page.goto("about:blank")
