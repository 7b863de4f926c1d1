"""Wide tables, long names, names in other scripts, and tables without columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page import delivery_lake
from tests.page.browser_helpers import OUTSIDE, Site, save_screenshot, wait_for_graph
from tests.page.delivery_lake import ARABIC, LONG_FIELD, LONG_TABLE, SPACES
from tests.server.serving import serving

pytestmark = pytest.mark.browser

ALL_OF_THEM = "file|/lake/gold/totals|all_of_them"
LONG = f"file|/lake/silver/{LONG_TABLE}|{LONG_FIELD}"

# rows of cards whose name, badges and type overlap or leave the row
OVERLAPS = """() => [...document.querySelectorAll('.card .row')].filter(row => {
    const parts = [...row.children].filter(e => e.getClientRects().length).map(e => e.getBoundingClientRect());
    const overlap = parts.some((box, index) => index > 0 && box.left < parts[index - 1].right - 0.5);
    const clipped = [...row.children].some(e => e.scrollWidth > e.clientWidth + 1);
    return parts.length > 0 && (overlap || clipped || parts.at(-1).right > row.getBoundingClientRect().right);
}).map(row => row.textContent)"""

# texts of an SVG that start before the end of another one on the same line
SVG_OVERLAPS = """() => {
    const texts = [...document.querySelectorAll('svg text')].map(e => [e.textContent, e.getBoundingClientRect()]);
    const meet = (a, b) => a !== b && Math.abs(a.top - b.top) < 4 && a.left < b.right - 1 && b.left < a.right - 1;
    return texts.filter(([, a]) => texts.some(([, b]) => meet(a, b))).map(([text]) => text);
}"""


def test_table_of_a_thousand_columns_is_drawn_in_part(page: Page, extreme_site: Site) -> None:
    page.goto(extreme_site.link(column=ALL_OF_THEM))
    wait_for_graph(page)
    banner, canvas = page.locator(".banner").bounding_box(), page.locator(".canvas").bounding_box()
    assert banner and canvas
    assert banner["y"] + banner["height"] <= canvas["y"] + 0.5  # it covers no card
    expect(page.locator(".banner")).to_contain_text("Showing 3 tables; 500 edges are not drawn")
    expect(page.get_by_role("region", name="table silver.events").locator("[data-row]")).to_have_count(25)
    expect(page.locator(".chip")).to_have_count(0)  # all neighbours are loaded
    grid = page.get_by_role("grid", name="columns of the answer")
    assert int(grid.get_attribute("aria-rowcount") or 0) == 2001
    assert grid.get_by_role("row").count() < 60
    save_screenshot(page, "thousand-columns")
    page.goto(extreme_site.link(mode="tables", table="file|/lake/silver/events"))
    grid = page.get_by_role("grid", name="columns of the table")
    expect(grid).to_have_attribute("aria-rowcount", "1001")
    assert grid.get_by_role("row").count() < 80


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_fit_cards_lists_and_verdicts(page: Page, extreme_site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(extreme_site.link(column=LONG, graph="1"))
    wait_for_graph(page)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    verdict = page.locator(".verdict-line")
    expect(verdict).to_contain_text("1 column in 1 dataset feeds")  # truncated names, not the words between
    expect(verdict).to_contain_text("2 columns in 2 datasets are built on")
    row = page.locator(f'[data-row="{LONG}"]')
    assert row.get_attribute("title") == LONG_FIELD
    assert row.locator(".field").inner_text().startswith("customer_")
    assert row.locator(".field").inner_text().endswith("nds_and_")
    save_screenshot(page, f"long-names-{width}")
    page.goto(extreme_site.link(mode="tables", table=f"file|/lake/silver/{LONG_TABLE}"))
    expect(verdict).to_contain_text("has 1 column; written by")
    assert page.evaluate(OUTSIDE) == []


def test_long_names_do_not_overlap_in_a_picture(page: Page, extreme_site: Site) -> None:
    page.goto(extreme_site.link(column=LONG))
    wait_for_graph(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download graph as SVG").click()
    page.goto("about:blank")
    page.set_content(download.value.path().read_text())
    assert page.locator("svg text").count() > 10
    assert page.evaluate(SVG_OVERLAPS) == []


def test_names_in_other_scripts_are_found_and_shown(page: Page, extreme_site: Site) -> None:
    page.goto(extreme_site.address)
    page.get_by_role("combobox").fill("Kunden Name")
    page.get_by_role("option").first.click()
    wait_for_graph(page)
    titles = page.locator(".card strong").all_inner_texts()
    assert {f"gold.{SPACES[0]}", f"gold.{ARABIC[0]}"} <= set(titles)
    row = page.locator(f'[data-row="file|/lake/gold/{ARABIC[0]}|{ARABIC[1]}"]')
    expect(row).to_have_accessible_name(f"{ARABIC[1]}, string")
    assert page.title() == f"gold.{SPACES[0]}.{SPACES[1]} · colline"
    save_screenshot(page, "other-scripts")


def test_column_that_only_filters_is_not_nothing(page: Page, extreme_site: Site) -> None:
    page.goto(extreme_site.link(column="file|/lake/bronze/long|status"))
    page.wait_for_selector(".card .row")
    expect(page.locator(".verdict-line")).to_contain_text(
        "no column takes the value of bronze.long.status; 1 column and 1 job depend on it through conditions "
        "(“Indirect” lists them)"
    )
    panel = page.get_by_role("complementary", name="details")
    expect(panel).to_contain_text("decides 1")
    expect(panel).to_contain_text("no column takes its value")
    page.get_by_role("checkbox", name="indirect").check()
    expect(page.get_by_role("region", name="table silver.filtered")).to_be_visible()
    page.get_by_role("button", name="May I drop it?").click()
    expect(page.locator(".drop-verdict")).to_contain_text("no")
    expect(page.get_by_role("grid", name="readers of the column")).to_contain_text("filter_long")


def test_table_without_columns_has_a_page(page: Page, extreme_site: Site) -> None:
    page.goto(extreme_site.link(mode="tables", table="file|/lake/silver/no_columns"))
    expect(page.locator("main")).to_contain_text("No known columns.")
    page.get_by_role("link", name="Lineage", exact=True).click()
    expect(page.locator("main")).to_contain_text("No upstream or downstream tables.")


def test_lake_without_columns_leads_to_coverage(page: Page, tmp_path: Path) -> None:
    path = delivery_lake.write(delivery_lake.without_columns(), tmp_path / "lake")
    with serving(path, "--no-access-log") as server:
        page.goto(server.address)
        expect(page.locator(".layer-box")).to_contain_text("1 table · 0 columns")
        page.get_by_role("button", name="View Lineage gaps").click()
        expect(page.get_by_role("grid", name="lineage gaps")).to_contain_text("no column lineage")
        save_screenshot(page, "no-columns")
        page.goto("about:blank")
