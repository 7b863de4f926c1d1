"""Accessibility on every page: axe rules, contrast, small screens, keyboard control, reduced motion."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.page.browser_helpers import (
    EMAIL,
    FAILED_RUN,
    NET,
    OUTSIDE,
    REVENUE,
    REVENUE_JOB,
    Site,
    save_screenshot,
    wait_for_graph,
    wait_for_page,
)

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
    "table": {"mode": "tables", "table": REVENUE},
    "table-lineage": {"mode": "tables", "table": REVENUE, "tab": "lineage"},
    "job": {"mode": "runs", "job": REVENUE_JOB, "run": FAILED_RUN},
}


# contrast depends on the theme, all other rules on the width
@pytest.mark.parametrize(
    ("width", "theme", "rules"),
    [
        (1280, "light", {}),
        (1280, "dark", {"runOnly": ["color-contrast"]}),
        (390, "light", {"rules": {"color-contrast": {"enabled": False}}}),
    ],
    ids=["1280-light", "1280-dark", "390-light"],
)
def test_no_page_has_serious_axe_violations(
    browser: Browser, site: Site, width: int, theme: Literal["light", "dark"], rules: dict[str, Any]
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844 if width < 500 else 800},
        color_scheme=theme,
    )
    page = context.new_page()
    violations = []
    for name, view in VIEWS.items():
        page.goto(site.link(**view))
        if width < 500 and name in ("graph", "personal"):
            page.goto(site.link(**view, graph="1"))
        wait_for_page(page)
        save_screenshot(page, f"{name}-{width}-{theme}")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{name} is {overflow} px too wide"
        bad = Axe().run(page, options=rules).response["violations"]
        violations += [
            (name, v["id"], v["nodes"][0]["html"][:200]) for v in bad if v["impact"] in ("serious", "critical")
        ]
    context.close()
    assert violations == []


def test_small_screen_shows_table_first_and_graph_on_request(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(site.link(column=NET))
    expect(page.get_by_role("grid")).to_be_visible()
    expect(page.get_by_role("combobox", name="Search columns")).to_be_visible()
    assert not page.locator(".canvas").is_visible()
    page.get_by_role("button", name="Show graph").tap()
    expect(page.locator(".card").first).to_be_visible()
    context.close()


def test_everything_fits_a_small_screen(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    outside = {}
    for name, view in {**VIEWS, "missing": {"mode": "tables", "table": "file|/nothing"}}.items():
        for graph in ("0", "1"):
            page.goto(site.link(**view, graph=graph))
            page.locator(".table, .layer-box, [role=alert], .card").first.wait_for(state="attached")
            page.wait_for_load_state("networkidle")
            if found := page.evaluate(OUTSIDE):
                outside[name] = found
    context.close()
    assert outside == {}


def test_small_screen_shows_the_essential_columns_of_a_list(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    for view, titles in (
        ({"column": NET}, ["Hops", "Column", "Table"]),
        ({"column": EMAIL, "ask": "impact"}, ["Effect", "Job", "Column"]),
        ({"mode": "personal", "column": EMAIL}, ["Verdict", "Column", "Table"]),
        ({"mode": "changes"}, ["Change", "From", "To"]),
        ({"mode": "coverage"}, ["Gap", "Job"]),
    ):
        page.goto(site.link(**view))
        page.get_by_role("grid").wait_for()
        assert page.get_by_role("columnheader").all_inner_texts() == titles
    context.close()


def focused_row(page: Page) -> str | None:
    return page.evaluate("document.activeElement?.dataset?.row ?? null")


def test_graph_is_controlled_by_keyboard(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.wait_for_selector("[data-search]")
    page.keyboard.press("Control+k")
    page.keyboard.type("daily_revenue.net")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Enter")
    wait_for_graph(page)
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
    save_screenshot(page, "keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    page.locator('[data-row="file|/lake/silver/orders|total"]').focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("silver%2Forders%7Ctotal"))
    wait_for_graph(page)
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("/personal-data[?]"))


def test_table_is_controlled_by_keyboard(page: Page, site: Site) -> None:
    page.goto(site.link(mode="runs", job='["shop","daily_revenue"]'))
    grid = page.get_by_role("grid")
    grid.get_by_role("row").nth(1).focus()
    page.keyboard.press("End")
    expect(grid.locator('[aria-rowindex="401"]')).to_be_focused()
    page.keyboard.press("Home")
    expect(grid.locator('[aria-rowindex="2"]')).to_be_focused()


def test_reduced_motion_disables_animations(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    page.get_by_role("button", name="silver.orders: show 4 more columns upstream").click()
    card = page.get_by_role("region", name="table bronze.promotions")
    expect(card).to_be_visible()
    assert card.evaluate("e => getComputedStyle(e).animationName") == "none"
    context.close()
