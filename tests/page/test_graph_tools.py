"""What helps to read a graph: folding, highlight, find, minimap, table view, collapsed parts, files to share."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browser_helpers import (
    EMAIL,
    FAILED_RUN,
    NET,
    REVENUE,
    REVENUE_JOB,
    Site,
    card_positions,
    save_screenshot,
    wait_for_graph,
)

pytestmark = pytest.mark.browser

CHAIN_END = "file|/lake/silver/step9|x"

# elements whose text does not fit, except names: those are truncated in the middle and have a tooltip
CLIPPED = """() => [...document.querySelectorAll('.td, .thead button, .panel, .panel *, .card *, .verdict-line *')]
    .filter(e => e.offsetParent && !e.matches('.visually-hidden, pre') && e.scrollWidth > e.clientWidth + 1
        && e.clientWidth > 0 && getComputedStyle(e).overflowX !== 'visible')
    .map(e => e.textContent)"""


def test_middle_of_a_long_path_is_folded_until_it_is_opened(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column=CHAIN_END))
    wait_for_graph(page)
    order = sorted(card_positions(page).items(), key=lambda card: card[1])
    assert [name for name, _ in order] == ["silver.step0", "7 tables between", "silver.step8", "silver.step9"]
    rows = page.get_by_role("grid", name="columns of the answer").get_by_role("row")
    expect(rows).to_have_count(10)
    save_screenshot(page, "folded")
    page.get_by_role("button", name="7 tables between").click()
    expect(page.locator(".card")).to_have_count(10)
    assert "unfold=" in page.url
    page.go_back()
    expect(page.locator(".card")).to_have_count(4)


def test_row_of_a_folded_table_opens_the_fold(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column=CHAIN_END))
    wait_for_graph(page)
    page.get_by_role("grid").get_by_role("row").filter(has_text="step5").locator(".hops").click()
    expect(page.get_by_role("region", name="table silver.step5")).to_be_visible()
    expect(page.locator(".lines.pinned")).to_have_count(1)


def test_wide_hop_shows_the_first_tables(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column="file|/lake/bronze/root|seed", direction="down"))
    wait_for_graph(page)
    more = page.get_by_role("button", name="32 more tables")
    expect(more.first).to_be_visible()
    expect(page.locator('[data-id*="/silver/t008"]')).to_have_count(1)
    cards = page.locator(".card").count()
    save_screenshot(page, "wide")
    more.first.dispatch_event("click")  # the card may be outside the window
    expect(page.locator(".card")).to_have_count(cards + 31)
    expect(page.locator(".react-flow__minimap")).to_be_visible()
    save_screenshot(page, "minimap")


def test_pointer_over_a_row_highlights_its_path(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.locator('[data-row="file|/lake/silver/orders|discount"]').hover()
    expect(page.locator(".line.highlighted")).to_have_count(4)
    expect(page.locator(".lines.pinned")).to_have_count(0)
    save_screenshot(page, "hover")
    page.locator(".verdict-line").hover()
    expect(page.locator(".line.highlighted")).to_have_count(0)


def test_find_marks_matches_and_enter_moves_to_the_next(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.keyboard.press("f")
    field = page.get_by_role("searchbox", name="Find in the graph")
    expect(field).to_be_focused()
    page.keyboard.type("refund")
    expect(page.locator(".find-field")).to_contain_text("1 of 2")
    expect(page.locator(".row.found-match")).to_have_count(1)
    first = page.locator(".row.found-current").get_attribute("data-row")
    page.keyboard.press("Enter")
    expect(page.locator(".find-field")).to_contain_text("2 of 2")
    assert page.locator(".row.found-current").get_attribute("data-row") != first
    save_screenshot(page, "find")
    field.fill("zzz")
    expect(page.locator(".find-field")).to_contain_text("No matches")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)


def test_find_opens_the_fold_with_the_match(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column=CHAIN_END))
    wait_for_graph(page)
    page.keyboard.press("f")
    page.keyboard.type("step5")
    expect(page.locator(".find-field")).to_contain_text("In 1 folded table; Enter shows it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="table silver.step5")).to_have_class(re.compile("found-current"))


def test_table_view_draws_one_edge_between_two_tables(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    tables = card_positions(page).keys()
    page.get_by_role("button", name="Tables only").click()
    expect(page.locator(".card .row")).to_have_count(0)
    assert card_positions(page).keys() == tables
    assert "grain=table" in page.url
    expect(page.locator(".line")).to_have_count(7)
    page.get_by_role("region", name="table bronze.promotions").hover()
    expect(page.locator(".line.highlighted")).to_have_count(4)
    save_screenshot(page, "table-view")


def test_table_and_details_can_be_collapsed(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    details = page.get_by_role("complementary", name="details")
    page.get_by_role("button", name="Details").click()
    expect(details).to_have_count(0)
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("grid")).to_have_count(0)
    assert {"panel=0", "list=0"} <= set(page.url.split("?")[1].split("&"))
    save_screenshot(page, "collapsed")
    page.keyboard.press("d")
    expect(details).to_be_visible()


def test_graph_is_refitted_when_its_content_changes(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    page.get_by_label("depth").select_option("")
    expect(page.get_by_role("region", name="table bronze.orders", exact=True)).to_be_visible()
    page.get_by_role("region", name="table silver.orders").get_by_role("button", name="7 more").click()
    expect(page.locator('[data-row="file|/lake/silver/orders|status"]')).to_be_visible()
    outside = """() => {
        const box = document.querySelector('.react-flow').getBoundingClientRect();
        return [...document.querySelectorAll('.card')].map(card => card.getBoundingClientRect())
            .filter(c => c.top < box.top || c.bottom > box.bottom || c.left < box.left || c.right > box.right).length;
    }"""
    page.wait_for_function(f"() => ({outside})() === 0")


def test_legend_is_outside_the_canvas(page: Page, site: Site) -> None:
    page.goto(site.link(mode="personal", column=EMAIL))
    wait_for_graph(page)
    canvas, legend = page.locator(".canvas").bounding_box(), page.locator(".legend").bounding_box()
    assert canvas and legend
    assert legend["y"] >= canvas["y"] + canvas["height"]


@pytest.mark.parametrize("width", [1280, 1920])
def test_no_text_is_clipped(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for view in (
        {"column": NET},
        {"mode": "personal", "column": EMAIL},
        {"column": EMAIL, "ask": "impact"},
        {"mode": "changes"},
        {"mode": "coverage"},
        {"mode": "runs"},
        {"mode": "tables"},
        {"mode": "tables", "table": REVENUE},
        {"mode": "tables", "table": REVENUE, "tab": "jobs"},
        {"mode": "runs", "job": REVENUE_JOB, "run": FAILED_RUN},
    ):
        page.goto(site.link(**view))
        page.wait_for_selector(".table")
        page.wait_for_load_state("networkidle")
        assert page.evaluate(CLIPPED) == [], view
    toolbar = page.goto(site.link(column=NET)) and page.locator(".toolbar").bounding_box()
    assert toolbar and toolbar["height"] < 60


def test_times_are_short_and_exact_in_the_tooltip(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    time = page.get_by_role("grid").locator("time").first
    assert re.fullmatch(r"\d+[mh]", time.inner_text())
    assert re.search(r"\d\d:\d\d · .* UTC$", time.get_attribute("title") or "")
    title = page.get_by_role("region", name="table silver.orders").locator("strong .name")
    assert title.get_attribute("title") == "file /lake/silver/orders"


def test_html_file_shows_the_same_picture_without_a_server(browser: Browser, page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    cards = sorted(card_positions(page))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as HTML").click()
    html = download.value.path().read_text()
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800})
    other, requests = context.new_page(), []
    other.on("request", lambda request: requests.append(request.url))
    other.set_content(html)
    assert requests == []
    assert sorted(other.locator("svg text[font-weight='600']").all_text_contents()) == cards
    assert other.locator("svg path:not([transform])").count() == page.locator(".line").count()  # icons are moved
    assert other.locator("tbody tr").count() == page.get_by_role("grid").get_by_role("row").count() - 1
    expect(other.locator("body")).to_contain_text("8 columns in 5 datasets feed gold.daily_revenue.net")
    save_screenshot(other, "html-file")
    context.close()


def test_html_can_be_copied(browser: Browser, site: Site) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.get_by_role("button", name="Copy as HTML").click()
    expect(page.get_by_text("Copied", exact=True).first).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("<!doctype html>") and "<svg" in text and "gold.daily_revenue.net" in text
    context.close()


def test_name_is_copied_on_a_page_without_tls(browser: Browser, site: Site) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.add_init_script("""
        window.readClipboard = navigator.clipboard.readText.bind(navigator.clipboard);
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
    """)
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.get_by_role("complementary", name="details").get_by_role("button", name="Copy name").click()
    expect(page.get_by_role("complementary", name="details")).to_contain_text("Copied")
    assert page.evaluate("window.readClipboard()") == "file/lake/gold/daily_revenue.net"
    context.close()


def test_chips_count_only_what_is_not_loaded(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column="file|/lake/bronze/root|seed", direction="down", depth="1"))
    wait_for_graph(page)
    expect(page.locator(".card")).to_have_count(9)  # the table and eight neighbours
    page.get_by_role("button", name="bronze.root: show 544 more columns downstream").click()
    expect(page.locator(".card")).to_have_count(17)
    page.goto(wide_site.link(column="file|/lake/bronze/root|seed", direction="down"))
    wait_for_graph(page)
    root = page.get_by_role("region", name="table bronze.root")
    expect(root).to_be_visible()
    expect(root.locator(".chip")).to_have_count(0)  # the other neighbours are folded


def test_cards_and_edges_have_their_sizes_and_the_color_of_the_layer(page: Page, site: Site) -> None:
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    card = '[data-id="file|/lake/gold/daily_revenue"] .card'
    assert page.evaluate(style, [card, "width"]) == "240px"
    assert page.evaluate(style, [card, "borderLeftWidth"]) == "3px"
    assert page.evaluate(style, [card, "borderLeftColor"]) == "rgb(185, 138, 29)"
    assert page.evaluate(style, [f"{card} .row", "height"]) == "24px"
    assert page.evaluate(style, [f"{card} .field", "fontSize"]) == "12.5px"
    assert page.evaluate(style, [".line.direct path", "strokeWidth"]) == "1.5px"
    assert page.evaluate(style, [".line.direct path", "strokeDasharray"]) == "none"
    page.locator('[data-row="file|/lake/silver/orders|discount"]').click()
    expect(page.locator(".lines.pinned")).to_have_count(1)
    page.mouse.move(2, 2)
    assert page.evaluate(style, [".line.highlighted path", "strokeWidth"]) == "2.5px"
    assert page.evaluate(style, [".line:not(.highlighted)", "opacity"]) == "0.2"
    assert page.evaluate(style, [".header", "height"]) == "56px"
    page.goto(site.link(mode="tables"))
    number = page.locator(".tbody .td.number").first
    assert number.evaluate("e => getComputedStyle(e).textAlign") == "right"
    assert number.evaluate("e => getComputedStyle(e).fontVariantNumeric") == "tabular-nums"


def test_picture_shows_masking_and_what_is_unknown(page: Page, site: Site) -> None:
    page.goto(site.link(mode="personal", column=EMAIL))
    wait_for_graph(page)
    shields = page.locator(".canvas .edge-symbol, .canvas .shield-icon").count()
    unknown = page.locator(".canvas .unknown-reason").count()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as HTML").click()
    html = download.value.path().read_text()
    assert html.count('d="M8 1.5 13') == shields > 2
    assert html.count('d="M5.5 6') == unknown > 0
    assert ">!</text>" in html  # clear is not only a color
