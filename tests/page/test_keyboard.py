"""Everything is reachable and works with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.browser_helpers import FAILED_RUN, NET, REVENUE, REVENUE_JOB, Site, wait_for_graph

pytestmark = pytest.mark.browser


def focused_text(page: Page) -> str:
    return str(page.evaluate("document.activeElement.ariaLabel || document.activeElement.innerText"))


def tab_until(page: Page, text: str, limit: int = 60) -> None:
    """Press Tab until an element with this name has the focus."""
    for _ in range(limit):
        if focused_text(page) == text:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {text!r}")


def test_tab_reaches_the_controls_of_the_current_card(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    row = page.locator('[data-row="file|/lake/silver/orders|total"]')
    row.focus()
    page.keyboard.press("Shift+Tab")
    assert focused_text(page) == "silver.orders"
    row.focus()
    tab_until(page, "7 more", 3)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="table silver.orders").locator("[data-row]")).to_have_count(9)
    row.focus()
    tab_until(page, "silver.orders: show 4 more columns upstream", 4)
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="table bronze.orders", exact=True)).to_be_visible()


def test_tab_reaches_the_tables_of_the_table_view(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, grain="table"))
    page.wait_for_selector(".line")
    page.get_by_role("button", name="Tables only").focus()
    tab_until(page, "silver.orders")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("silver.orders")


def test_enter_sorts_by_the_header_in_focus(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.get_by_role("columnheader", name="Column").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sort=column"))
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("sort=-column"))


def test_links_of_the_current_row_are_reached_by_tab(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    grid = page.get_by_role("grid")
    grid.get_by_role("row").nth(1).focus()
    page.keyboard.press("ArrowDown")
    second_table = grid.get_by_role("row").nth(2).get_by_role("link").first.inner_text()
    page.keyboard.press("Tab")
    assert focused_text(page) == second_table
    page.keyboard.press("Tab")
    assert focused_text(page) == "daily_revenue"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/job[?]"))


def test_arrows_scroll_the_highlighted_match_into_view(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.get_by_role("combobox").fill("ders")
    options = page.get_by_role("option")
    expect(options.nth(20)).to_be_attached()
    for _ in range(20):
        page.keyboard.press("ArrowDown")
    active = page.locator('[role="option"][aria-selected="true"]')
    box, popup = active.bounding_box(), page.locator(".options:not(.closed)").bounding_box()
    assert box and popup
    assert popup["y"] <= box["y"] and box["y"] + box["height"] <= popup["y"] + popup["height"] + 1


def test_escape_closes_the_open_run_and_the_choice_of_a_time(page: Page, site: Site) -> None:
    page.goto(site.link(mode="runs", job=REVENUE_JOB, run=FAILED_RUN))
    run = page.get_by_role("complementary", name="run")
    expect(run).to_be_visible()
    page.keyboard.press("Escape")
    expect(run).to_have_count(0)
    button = page.get_by_role("button", name=re.compile("as of"))
    button.click()
    expect(page.get_by_label("Show lineage as of")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Show lineage as of")).to_be_hidden()
    button.click()
    page.get_by_label("Show lineage as of").focus()
    page.get_by_role("combobox").focus()
    expect(page.get_by_label("Show lineage as of")).to_be_hidden()


def test_title_names_what_the_page_shows(page: Page, site: Site) -> None:
    page.goto(site.address)
    expect(page).to_have_title("colline")
    page.goto(site.link(column=NET))
    expect(page).to_have_title("gold.daily_revenue.net · colline")
    page.goto(site.link(mode="tables", table=REVENUE))
    expect(page).to_have_title("gold.daily_revenue · colline")
    page.get_by_role("link", name="Coverage").click()
    expect(page).to_have_title("Coverage · colline")
    page.go_back()
    expect(page).to_have_title("gold.daily_revenue · colline")
