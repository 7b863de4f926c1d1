"""Pages, tables, downloads and the home page in a browser."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from colline.cli import cli
from tests.page.browser_helpers import EMAIL, NET, PageMonitor, Site, save_screenshot, wait_for_graph

pytestmark = pytest.mark.browser


def column_of(page: Page, grid: str, number: int) -> list[str]:
    """Texts of one table column."""
    rows = page.get_by_role("grid", name=grid).get_by_role("row")
    cells = [row.get_by_role("gridcell").nth(number).inner_text().strip() for row in rows.all()[1:]]
    return [" ".join(text.split()) for text in cells]


def test_personal_data_legend_counts_and_filters_verdicts(page: Page, site: Site) -> None:
    page.goto(site.link(mode="personal", column=EMAIL))
    wait_for_graph(page)
    expect(page.locator(".verdict-line")).to_contain_text("4 in clear, 2 masked")
    row = page.locator('[data-row="file|/lake/silver/customers|email"]')
    expect(row).to_have_class(re.compile("mark-clear"))
    expect(row).to_have_accessible_name("email, string, clear")
    expect(page.locator('[data-row="file|/lake/gold/customer_360|email_hash"]')).to_have_class(
        re.compile("mark-masked")
    )
    legend = page.get_by_role("button", name=re.compile("^clear 4"))
    assert page.locator(".line.mark-clear").count() > 0
    save_screenshot(page, "personal")
    legend.click()
    expect(page.locator(".line.mark-clear")).to_have_count(0)
    expect(page.get_by_role("grid").get_by_text("clear")).to_have_count(0)
    assert "hide=clear" in page.url


def test_personal_data_is_traced_by_any_tag(page: Page, site: Site, monitor: PageMonitor) -> None:
    monitor.allowed.add("404")
    page.goto(site.address)
    page.get_by_role("link", name="Personal data").click()
    wait_for_graph(page)
    expect(page.locator(".verdict-line")).to_contain_text("6 in clear")
    expect(page.get_by_role("grid")).to_contain_text("FILE")
    save_screenshot(page, "personal-tag")
    page.get_by_role("textbox", name="tag").fill("nothing-has-this")
    page.get_by_role("button", name="Trace").click()
    expect(page.get_by_text(re.compile("nothing-has-this|No downstream columns")).first).to_be_visible()


def test_impact_lists_affected_columns_and_their_use(page: Page, site: Site) -> None:
    page.goto(site.link(column=EMAIL))
    wait_for_graph(page)
    page.get_by_role("button", name="Impact").click()
    expect(page.locator(".verdict-line")).to_contain_text("dropping bronze.customers.email breaks")
    wait_for_graph(page)
    effects = column_of(page, "what the change affects", 0)
    assert effects == sorted(effects, key=["! breaks", "! live reader", "~ affected"].index)
    assert {"! breaks", "~ affected"} <= set(effects)
    save_screenshot(page, "impact")
    page.get_by_role("columnheader", name="Column").get_by_role("button").click()
    assert "exports.mailing_list.address" in column_of(page, "what the change affects", 2)
    assert "value" in column_of(page, "what the change affects", 3)
    page.get_by_role("button", name="Rename").click()
    expect(page.locator(".verdict-line")).to_contain_text("renaming bronze.customers.email breaks")
    assert "change=rename" in page.url
    page.get_by_role("button", name="Change type").click()
    expect(page.locator(".verdict-line")).to_contain_text("changing the type of bronze.customers.email breaks")


def test_impact_lists_live_readers_and_owners_first(page: Page, site: Site) -> None:
    page.goto(site.link(column="file|/lake/silver/orders|total", ask="impact"))
    wait_for_graph(page)
    grid = "what the change affects"
    effects, columns = column_of(page, grid, 0), column_of(page, grid, 3)
    assert effects[:4] == ["! breaks", "! breaks", "! live reader", "~ affected"]
    assert columns[:3] == ["", "", "gold.daily_revenue.net"]
    grid_rows = page.get_by_role("grid", name=grid).get_by_role("row")
    breaking = grid_rows.filter(has_text="breaks").filter(has_text="daily_revenue")
    expect(breaking.get_by_title("finance@shop.example")).to_be_visible()
    grid_rows.filter(has_text="live reader").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("finance_dashboard")


def test_droppable_lists_readers(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, ask="droppable"))
    wait_for_graph(page)
    expect(page.locator(".drop-verdict")).to_contain_text("no")
    expect(page.locator(".evidence")).to_contain_text("jobs that are not watched")
    assert "finance_dashboard" in column_of(page, "readers of the column", 0)
    save_screenshot(page, "droppable")
    page.goto(site.link(column="file|/lake/bronze/promotions|ends_at", ask="droppable"))
    expect(page.locator(".drop-verdict")).to_contain_text("yes")


def test_writers_lists_the_writing_job(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, ask="writers"))
    wait_for_graph(page)
    assert column_of(page, "jobs that write the column", 0) == ["daily_revenue"]


def test_changes_compares_two_dates(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.get_by_role("link", name="Changes").click()
    wait_for_graph(page)
    expect(page.locator(".verdict-line")).to_contain_text("last change at")
    expect(page.locator(".line.mark-added")).to_have_count(1)
    page.get_by_role("button", name="Last 7 days").click()
    expect(page.locator(".verdict-line")).to_contain_text("removed")
    wait_for_graph(page)
    assert page.locator(".line.mark-added").count() == 1
    assert page.locator(".line.mark-removed, .line.mark-changed").count() >= 1
    kinds = column_of(page, "changes in this period", 0)
    assert any("added" in kind for kind in kinds) and any("removed" in kind for kind in kinds)
    save_screenshot(page, "changes")
    page.get_by_label("from").fill("2026-01-01T00:00")
    page.get_by_label("To", exact=True).fill("2026-01-02T00:00")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile("from=2025-12-31"))  # local time is an hour ahead of UTC


def test_coverage_lists_gaps_and_marks_unknown_cards(page: Page, site: Site) -> None:
    page.goto(site.link(mode="coverage"))
    expect(page.get_by_role("grid", name="lineage gaps")).to_be_visible()
    assert "? opaque step" in column_of(page, "lineage gaps", 0)
    page.get_by_role("button", name=re.compile("opaque step")).click()
    expect(page.get_by_role("grid")).not_to_contain_text("opaque step")
    save_screenshot(page, "coverage")
    page.goto(site.link(column="file|/lake/gold/customer_360|churn_score"))
    wait_for_graph(page)
    card = page.get_by_role("region", name="table gold.customer_360")
    assert card.evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"
    expect(card.get_by_role("img", name=re.compile("unknown: an opaque step"))).to_be_visible()


def test_runs_lists_jobs_and_their_runs(page: Page, site: Site) -> None:
    page.goto(site.link(mode="runs"))
    grid = page.get_by_role("grid", name="jobs")
    expect(grid.get_by_text("fail", exact=True)).to_be_visible()
    expect(grid.get_by_text("unfinished")).to_be_visible()
    save_screenshot(page, "jobs")
    grid.get_by_text("daily_revenue").click()
    runs = page.get_by_role("grid", name="runs of daily_revenue")
    expect(runs).to_have_attribute("aria-rowcount", "401")
    assert runs.get_by_role("row").count() < 60
    assert "1 min 30 s" in column_of(page, "runs of daily_revenue", 2)
    save_screenshot(page, "runs")
    page.go_back()
    expect(grid).to_be_visible()


def test_quarantine_shows_the_event_as_text(page: Page, site: Site) -> None:
    page.goto(site.link(mode="quarantine"))
    grid = page.get_by_role("grid", name="quarantined events")
    grid.get_by_text("alert(1)").click()
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text("<script>alert(1)</script>")
    expect(panel).to_contain_text("$.run.runId")
    save_screenshot(page, "quarantine")
    page.reload()
    expect(panel).to_contain_text("<script>alert(1)</script>")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_table_lists_the_columns_of_the_graph_and_sorts(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="10"))
    wait_for_graph(page)
    names = column_of(page, "columns of the answer", 1)
    assert len(names) == 10
    drawn_rows = page.eval_on_selector_all("[data-row] .field", "all => all.map(e => e.textContent)")
    assert sorted([*names, "net"]) == sorted(drawn_rows)
    page.get_by_role("columnheader", name="Column").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="Column")).to_have_attribute("aria-sort", "ascending")
    assert column_of(page, "columns of the answer", 1) == sorted(names)
    page.get_by_role("columnheader", name="Column").get_by_role("button").click()
    assert column_of(page, "columns of the answer", 1) == sorted(names, reverse=True)
    assert "sort=-column" in page.url


def download_file(page: Page, name: str) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return download.value.path()


def test_table_is_downloaded_as_csv_and_graph_as_svg_and_png(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="10"))
    wait_for_graph(page)
    text = download_file(page, "Download table as CSV").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 10
    assert {"distance": "-1", "column": "discount", "job": "daily_revenue"}.items() <= rows[0].items()
    svg = ElementTree.fromstring(download_file(page, "Download graph as SVG").read_text())
    namespace = "{http://www.w3.org/2000/svg}"
    paths = svg.findall(f".//{namespace}path")
    assert len([path for path in paths if "transform" not in path.attrib]) == 10  # icons are moved
    assert "gold.daily_revenue" in {element.text for element in svg.findall(f".//{namespace}text")}
    png = download_file(page, "Download graph as PNG").read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 10_000


def test_home_shows_layers_changes_and_ingest_status(page: Page, site: Site) -> None:
    page.goto(site.address)
    layers = page.locator(".layer-box h3").all_text_contents()
    expect(page.locator(".layer-box")).to_have_count(5)
    layers = page.locator(".layer-box h3").all_text_contents()
    assert layers == ["bronze", "silver", "gold", "platinum", "no layer"]
    assert "47" in page.locator(".flow").first.inner_text()
    expect(page.locator(".first-ingest")).to_have_text(
        re.compile(r"First ingest: \d+ edges in 26 tables, from \d+ jobs\.")
    )
    expect(page.locator(".recent li")).to_have_count(2)  # what was removed since; not each of the first edges
    health = page.locator(".health-list")
    for text in ("Last event", "Event rate", "Quarantined", "Unfinished runs", "Failed jobs", "Lineage gaps"):
        expect(health).to_contain_text(text)
    expect(health).to_contain_text("events/s", timeout=15_000)
    assert page.locator(".example").count() == 3
    save_screenshot(page, "overview")
    page.locator(".layer-box").first.get_by_role("link", name="customers").click()
    expect(page.get_by_role("grid", name="columns of the table").get_by_role("row")).to_have_count(9)


def test_table_has_one_name_on_all_pages(page: Page, site: Site) -> None:
    for view, grid in (({"mode": "coverage"}, "lineage gaps"), ({"mode": "personal"}, "columns with personal data")):
        page.goto(site.link(**view))
        link = page.get_by_role("grid", name=grid).get_by_role("link", name="exports.mailing_list").first
        expect(link).to_be_visible()
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("exports.mailing_list")


def test_evidence_is_that_of_the_command_line(page: Page, site: Site, delivery_path: Path) -> None:
    command = ["droppable", "gold.daily_revenue.net", "--lake", str(delivery_path)]
    output = " ".join(CliRunner().invoke(cli, command).output.split())
    evidence = re.sub(r" \([^)]* to [^)]*\)", "", output[output.index("reads are recorded") :])
    page.goto(site.link(column=NET, ask="droppable"))
    wait_for_graph(page)
    shown = page.locator(".evidence").inner_text().strip().rstrip(".").replace(". Not visible", "; not visible")
    assert shown[0].lower() + shown[1:] == evidence


def test_changes_link_to_their_jobs(page: Page, site: Site) -> None:
    page.goto(site.link(mode="changes"))
    wait_for_graph(page)
    page.get_by_role("grid").get_by_role("link", name="restaurant_kpis").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("restaurant_kpis")


def test_home_links_to_the_other_tables_of_a_layer(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.address)
    page.locator(".layer-box").get_by_role("link", name="328 more").click()
    expect(page.get_by_role("grid")).to_contain_text("silver.t000")
