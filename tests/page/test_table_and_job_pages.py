"""The pages of a table and of a job, the path of each page, and how search leads to them."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from colline.cli import cli
from tests.page.browser_helpers import (
    FAILED_RUN,
    NET,
    REVENUE,
    REVENUE_JOB,
    PageMonitor,
    Site,
    card_positions,
    save_screenshot,
    wait_for_graph,
    wait_for_page,
)
from tests.page.delivery_lake import SQL

pytestmark = pytest.mark.browser

# the link in the navigation, and the path of its page
PAGES = {
    "Explore": "/",
    "Tables": "/tables",
    "Jobs": "/jobs",
    "Personal data": "/personal-data",
    "Changes": "/changes",
    "Coverage": "/coverage",
    "Quarantine": "/quarantine",
}


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def rows_of(page: Page, grid: str) -> list[list[str]]:
    """Texts of the cells of a table, without its header."""
    found = page.get_by_role("grid", name=grid).get_by_role("row").all()[1:]
    return [[cell.inner_text().strip() for cell in row.get_by_role("gridcell").all()] for row in found]


def test_each_page_has_its_own_path_and_can_be_reloaded(page: Page, site: Site) -> None:
    page.goto(site.address)
    for name, path in PAGES.items():
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        assert urlsplit(page.url).path == path
        response = page.reload()
        assert response is not None and response.ok, path
        wait_for_page(page)
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
    for path, view in {
        "/column": {"column": NET},
        "/table": {"mode": "tables", "table": REVENUE},
        "/job": {"mode": "runs", "job": REVENUE_JOB},
    }.items():
        page.goto(site.link(**view))
        wait_for_page(page)
        page.keyboard.press("l")  # any change of the view writes the URL
        page.keyboard.press("l")
        assert urlsplit(page.url).path == path
        response = page.reload()
        assert response is not None and response.ok, path
        wait_for_page(page)
        expect(page.get_by_role("grid").first).to_be_visible()


@pytest.mark.parametrize("path", ["/unknown/path", "/nope", "/tables/x/y?column=a"])
def test_unknown_path_shows_that_the_page_does_not_exist(
    page: Page, site: Site, monitor: PageMonitor, path: str
) -> None:
    monitor.allowed.add("404")
    response = page.goto(f"{site.address}{path}")
    assert response is not None and response.status == 404
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    expect(page.locator("main")).to_contain_text(path.split("?", maxsplit=1)[0])
    save_screenshot(page, "missing-page")
    page.get_by_role("combobox").fill("daily_revenue")  # requests go to the root of the server
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="home page").click()
    expect(page.locator(".layer-box").first).to_be_visible()
    assert page.url == f"{site.address}/"


def test_search_finds_tables_and_jobs_in_groups(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.get_by_role("combobox").fill("daily_revenue")
    groups = page.get_by_role("listbox").get_by_role("group")
    expect(groups).to_have_count(3)
    assert [group.get_attribute("aria-label") for group in groups.all()] == ["Tables", "Jobs", "Columns"]
    save_screenshot(page, "search-groups")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("gold.daily_revenue")
    page.get_by_role("combobox").fill("daily_revenue")
    page.get_by_role("group", name="Jobs").get_by_role("option").click()
    expect(page.get_by_role("grid", name="runs of daily_revenue")).to_be_visible()
    assert urlsplit(page.url).path == "/job"
    page.go_back()
    expect(page.get_by_role("grid", name="columns of the table")).to_be_visible()


def test_table_page_shows_columns_jobs_and_freshness(page: Page, site: Site) -> None:
    page.goto(site.link(mode="tables", table=REVENUE))
    expect(page.get_by_role("grid", name="columns of the table")).to_be_visible()
    assert "gold.daily_revenue" in heading(page)
    facts = page.locator(".page-facts")
    for text in ("finance@shop.example", "by daily_revenue", "Read"):
        expect(facts).to_contain_text(text)
    for text in ("certified", "Revenue per day and city"):
        expect(page.locator(".page-header")).to_contain_text(text)
    rows = {row[0]: row[1:] for row in rows_of(page, "columns of the table")}
    # type, tags, description, upstream, by condition, downstream, by condition
    assert rows["net"] == ["decimal(18,2)", "certified", "Without refunds", "3", "3", "2", "0"]
    expect(page.locator(".verdict-line")).to_contain_text("written by daily_revenue; read by 3 jobs")
    save_screenshot(page, "table-page")
    page.get_by_role("link", name="Writers and readers").click()
    roles = [(row[0], row[1]) for row in rows_of(page, "writers and readers of the table")]
    assert roles[0] == ("writes", "daily_revenue")
    assert ("reads", "finance_dashboard") in roles
    page.get_by_role("link", name="Columns 6").click()
    page.get_by_role("grid").get_by_text("net", exact=True).click()
    expect(page).to_have_url(re.compile("/column[?]"))


def test_table_page_shows_lineage_between_tables(page: Page, site: Site) -> None:
    page.goto(site.link(mode="tables", table=REVENUE))
    page.get_by_role("link", name="Lineage", exact=True).click()
    page.wait_for_selector(".line")
    order = card_positions(page)
    assert len(order) == 10
    assert order["bronze.orders"] < order["silver.orders"] < order["gold.daily_revenue"]
    assert order["gold.daily_revenue"] < order["platinum.finance_report"]
    names = [row[1] for row in rows_of(page, "tables upstream and downstream")]
    assert sorted([*names, "gold.daily_revenue"]) == sorted(order)
    page.locator(".line .hit-area").first.click(force=True)
    details = page.get_by_role("complementary", name="details")
    expect(details).to_contain_text("by value")
    expect(details.locator(".job-link").first).to_be_visible()
    save_screenshot(page, "table-page-lineage")
    page.get_by_role("region", name="table silver.orders").get_by_role("link", name="silver.orders").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("silver.orders")


def test_job_page_shows_tables_and_runs_and_a_run_opens(page: Page, site: Site) -> None:
    page.goto(site.link(mode="runs", job=REVENUE_JOB))
    expect(page.get_by_role("grid", name="runs of daily_revenue")).to_be_visible()
    lists = page.locator(".table-list")
    expect(lists.nth(0)).to_contain_text("silver.orders")
    expect(lists.nth(1)).to_contain_text("gold.daily_revenue")
    expect(page.locator(".page-facts")).to_contain_text("finance@shop.example")
    expect(page.locator(".page-header")).to_contain_text("nightly")
    assert page.locator(".job-code pre").inner_text() == SQL
    expect(page.locator(".bar")).to_have_count(60)
    page.locator(".bar.fail").click()
    run = page.get_by_role("complementary", name="run")
    for text in (FAILED_RUN, "AnalysisException: no such column", "1 min 33 s", "UTC"):
        expect(run).to_contain_text(text)
    assert f"run={FAILED_RUN}" in page.url
    save_screenshot(page, "job-page")
    page.reload()
    expect(run).to_contain_text("AnalysisException")
    run.get_by_role("button", name="Close").click()
    expect(run).to_have_count(0)


def test_table_view_of_a_column_opens_edges_between_tables(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, grain="table"))
    page.wait_for_selector(".line")
    page.wait_for_load_state("networkidle")
    page.locator(".line .hit-area").first.click(force=True)
    expect(page.get_by_role("complementary", name="details")).to_contain_text("direct")


def test_column_shows_description_owner_tags_and_the_code_of_its_writer(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    panel = page.get_by_role("complementary", name="details")
    for text in ("Without refunds", "finance@shop.example", "certified", "written by", "Code of daily_revenue"):
        expect(panel).to_contain_text(text)
    assert panel.locator(".code pre").inner_text() == SQL
    save_screenshot(page, "column-details")


def test_links_lead_from_columns_to_tables_and_jobs(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.get_by_role("complementary", name="details").get_by_role("link", name="gold.daily_revenue").click()
    expect(page.get_by_role("grid", name="columns of the table")).to_be_visible()
    page.locator(".page-facts").get_by_role("link", name="daily_revenue").click()
    expect(page.get_by_role("grid", name="runs of daily_revenue")).to_be_visible()
    page.locator(".table-list").first.get_by_role("link", name="silver.payments").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("silver.payments")


def test_copied_names_are_accepted_by_the_command_line(browser: Browser, site: Site, delivery_path: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    views = (
        ({"column": NET}, "gold.daily_revenue has 6 columns"),
        ({"mode": "tables", "table": REVENUE}, "gold.daily_revenue has 6 columns"),
        ({"mode": "runs", "job": REVENUE_JOB}, "daily_revenue reads 3 tables"),
    )
    for view, verdict in views:
        page.goto(site.link(**view))
        page.get_by_role("button", name="Copy name").click()
        expect(page.get_by_text("Copied", exact=True).first).to_be_visible()
        name = page.evaluate("navigator.clipboard.readText()")
        command = ["show", name.removesuffix(".net"), "--lake", str(delivery_path)]
        if "job" in view:
            command += ["--kind", "job"]
        assert CliRunner().invoke(cli, command).output.startswith(verdict), name
    context.close()
