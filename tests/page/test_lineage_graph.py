"""Search and the lineage graph in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.browser_helpers import EMAIL, NET, PageMonitor, Site, card_positions, save_screenshot, wait_for_graph

pytestmark = pytest.mark.browser


def search_for(page: Page, text: str) -> None:
    page.wait_for_selector("[data-search]")
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(text)


def test_search_lists_matches_and_enter_opens_the_first(page: Page, site: Site) -> None:
    page.goto(site.address)
    search_for(page, "email")
    first = page.get_by_role("option").first
    expect(first).to_contain_text("email")
    expect(first).to_contain_text("bronze.customers")
    expect(first).to_contain_text("PII")
    expect(first).to_contain_text("bronze")
    expect(page.get_by_role("option")).to_have_count(5)
    save_screenshot(page, "search")
    page.keyboard.press("Enter")
    wait_for_graph(page)
    positions = card_positions(page)
    assert {"bronze.customers", "silver.customers", "gold.customer_360"} < set(positions)
    assert positions["bronze.customers"] == min(positions.values())
    assert "column=file%7C%2Flake%2Fbronze%2Fcustomers%7Cemail" in page.url


def test_enter_before_the_answer_opens_the_first_match(page: Page, site: Site) -> None:
    page.goto(site.address)
    page.get_by_role("combobox").focus()
    page.keyboard.insert_text("daily_revenue.net")
    page.keyboard.press("Enter")
    wait_for_graph(page)
    assert "gold.daily_revenue" in card_positions(page)


def test_search_without_a_match_shows_a_message(page: Page, site: Site) -> None:
    page.goto(site.address)
    search_for(page, "zzqqxx")
    expect(page.get_by_text("Nothing matches")).to_be_visible()


def test_graph_opens_on_the_whole_path(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    expect(page.get_by_label("depth")).to_have_value("")
    positions = card_positions(page)
    assert positions["bronze.orders"] < positions["silver.orders"] < positions["gold.daily_revenue"]
    assert positions["gold.daily_revenue"] < positions["platinum.finance_report"]
    assert page.evaluate(CARDS_OUTSIDE) == 0


def test_graph_shows_one_hop_and_counts_hidden_columns(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    positions = card_positions(page)
    assert positions["silver.orders"] < positions["gold.daily_revenue"] < positions["platinum.finance_report"]
    assert "bronze.orders" not in positions
    expect(page.get_by_role("button", name="silver.orders: show 4 more columns upstream")).to_be_visible()
    save_screenshot(page, "graph")


def test_click_on_a_chip_expands_the_card(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    page.get_by_role("button", name="silver.orders: show 4 more columns upstream").click()
    expect(page.get_by_role("region", name="table bronze.orders", exact=True)).to_be_visible()
    wait_for_graph(page)
    card = page.get_by_role("region", name="table bronze.orders", exact=True)
    assert card.locator("[data-row]").count() == 3
    assert "bronze.promotions" in card_positions(page)
    assert page.evaluate(CARDS_OUTSIDE) == 0  # the new cards are visible
    assert {"← 1", "← 2"} <= set(page.locator(".hops").all_text_contents()) <= {"← 1", "← 2", "→ 1"}
    expect(page.get_by_role("button", name=re.compile("silver.orders: show .* upstream"))).to_have_count(0)
    verdict = page.locator(".verdict-line")
    expect(verdict).to_contain_text("4 more columns in 2 datasets on expanded cards")
    page.go_back()
    expect(card).to_have_count(0)
    expect(verdict).not_to_contain_text("expanded")


def test_drag_and_wheel_move_the_canvas(page: Page, site: Site) -> None:
    scale = "() => new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a"
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    card = page.get_by_role("region", name="table silver.orders", exact=True)
    before, box = card.bounding_box(), page.locator(".canvas").bounding_box()
    assert before and box
    page.mouse.move(box["x"] + 30, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=3)
    element_class = "([x, y]) => document.elementFromPoint(x, y).className"
    assert page.evaluate(element_class, [before["x"] + 60, before["y"] + 40]) == "react-flow__renderer"  # not a row
    page.mouse.move(box["x"] + 90, box["y"] + 50, steps=3)
    page.mouse.up()
    after = card.bounding_box()
    assert after and (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (60, 20)
    scales = [page.evaluate(scale)]
    for _ in range(4):  # each turn starts while the previous one is animated
        page.mouse.wheel(0, -40)
        page.wait_for_function(f"before => ({scale})() > before", arg=scales[-1])
        scales.append(page.evaluate(scale))
    page.locator(".canvas:not(.moving)").wait_for()
    card.locator("[data-row]").first.click()
    expect(card.locator("[data-row].highlighted").first).to_be_visible()


def test_card_shows_other_columns_on_request(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    card = page.get_by_role("region", name="table silver.orders")
    assert card.locator("[data-row] .field").all_text_contents() == ["discount", "total"]
    card.get_by_role("button", name="7 more").click()
    expect(card.locator("[data-row]")).to_have_count(9)
    card.get_by_role("button", name="Show path only").click()
    expect(card.locator("[data-row]")).to_have_count(2)


def test_large_card_has_a_filter(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column="file|/lake/silver/t000|c00", direction="up"))
    wait_for_graph(page)
    card = page.get_by_role("region", name="table silver.t000")
    card.get_by_role("button", name="16 more").click()
    expect(card.locator("[data-row]")).to_have_count(17)
    card.get_by_role("searchbox").fill("c1")
    expect(card.locator("[data-row]")).to_have_count(7)


def test_click_pins_a_path_and_escape_clears_it(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="10"))
    wait_for_graph(page)
    page.get_by_role("region", name="table silver.orders").get_by_role("button", name="discount").click()
    expect(page.locator(".lines.pinned")).to_have_count(1)
    assert page.locator(".line.highlighted").count() == 4
    dimmed = page.get_by_role("region", name="table silver.payments")
    expect(dimmed).to_have_class(re.compile("dimmed"))
    assert float(dimmed.evaluate("e => getComputedStyle(e).opacity")) == pytest.approx(0.2)
    expect(page.get_by_role("complementary", name="details")).to_contain_text("coalesce(discount, 0)")
    save_screenshot(page, "pinned")
    page.keyboard.press("Escape")
    expect(page.locator(".lines.pinned")).to_have_count(0)


def test_edges_end_at_their_rows(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="10"))
    wait_for_graph(page)
    gaps = page.evaluate(
        """() => [...document.querySelectorAll('.line.direct')].map(line => {
            const path = line.querySelector('path');
            const box = path.getScreenCTM();
            const at = p => new DOMPoint(p.x, p.y).matrixTransform(box);
            const ends = [at(path.getPointAtLength(0)), at(path.getPointAtLength(path.getTotalLength()))];
            return ends.map((p, i) => Math.min(...[...document.querySelectorAll('[data-row]')].map(row => {
                const r = row.getBoundingClientRect();
                return Math.hypot(p.x - (i ? r.left : r.right), p.y - (r.top + r.bottom) / 2);
            })));
        }).flat()"""
    )
    assert len(gaps) == 20
    assert max(gaps) < 4


def test_indirect_edges_are_dotted_and_hidden_by_default(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    assert page.locator(".line.indirect").count() == 0
    page.get_by_role("checkbox", name="indirect").check()
    expect(page.locator(".line.indirect").first).to_be_attached()
    dash = page.locator(".line.indirect path").first.evaluate("e => getComputedStyle(e).strokeDasharray")
    assert dash != "none"
    assert "indirect=1" in page.url
    save_screenshot(page, "indirect")


def test_badges_show_aggregation_and_masking(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    expect(page.locator(f'[data-row="{NET}"]')).to_have_accessible_name("net, decimal(18,2), aggregated")
    page.goto(site.link(column=EMAIL, depth="1"))
    wait_for_graph(page)
    expect(page.get_by_role("button", name="email_hash, string, masked")).to_be_visible()
    assert page.locator(".line .edge-symbol").count() == 1


def test_panel_shows_expression_effect_job_and_times(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, pick="file|/lake/silver/orders|discount"))
    wait_for_graph(page)
    panel = page.get_by_role("complementary", name="details")
    for text in ("sum(total * (1 - discount))", "AGGREGATION", "daily_revenue", "first seen", "last seen", "last run"):
        expect(panel).to_contain_text(text)
    moment = panel.locator("time").first
    assert re.search(r"UTC$", moment.get_attribute("title") or "")
    panel.get_by_role("link", name="daily_revenue", exact=True).first.click()
    expect(page).to_have_url(re.compile("/job[?]"))


def test_edge_can_be_selected(page: Page, site: Site) -> None:
    page.goto(site.link(column=EMAIL))
    wait_for_graph(page)
    page.locator(".line .hit-area").first.click(force=True)
    expect(page.get_by_role("complementary", name="details")).to_contain_text("direct")
    assert "pick=" in page.url


def test_link_restores_the_same_graph(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET, depth="1"))
    wait_for_graph(page)
    page.get_by_role("button", name="silver.orders: show 4 more columns upstream").click()
    expect(page.get_by_role("region", name="table bronze.promotions")).to_be_visible()
    page.get_by_role("checkbox", name="indirect").check()
    page.get_by_role("region", name="table silver.payments").locator("[data-row]").first.click()
    expect(page.locator(".lines.pinned")).to_have_count(1)
    wait_for_graph(page)

    def graph_content() -> tuple[list[str], int, int]:
        rows = page.eval_on_selector_all("[data-row]", "all => all.map(e => e.dataset.row).sort()")
        return rows, page.locator(".line").count(), page.locator(".line.highlighted").count()

    before = graph_content()
    other = page.context.new_page()
    other.goto(page.url)
    page = other
    wait_for_graph(page)
    expect(page.locator(".lines.pinned")).to_have_count(1)
    assert graph_content() == before


def test_banner_reports_what_exceeds_the_budget(page: Page, wide_site: Site) -> None:
    page.goto(wide_site.link(column="file|/lake/bronze/root|seed", direction="down", depth="10"))
    page.get_by_role("button", name="Load more").click(timeout=30_000)
    banner = page.locator(".banner")
    expect(banner).to_contain_text("the 300 nearest tables; 31 more tables are grouped", timeout=30_000)
    expect(page.get_by_role("button", name="Load more")).to_have_count(0)
    rows = page.get_by_role("grid", name="columns of the answer")
    assert int(rows.get_attribute("aria-rowcount") or 0) == 330 * 17 + 1
    assert rows.get_by_role("row").count() < 60
    save_screenshot(page, "budget")


def test_as_of_shows_lineage_of_a_past_date(page: Page, site: Site) -> None:
    page.goto(site.link(column="file|/lake/gold/daily_revenue|gross"))
    wait_for_graph(page)
    assert "silver.payments" not in card_positions(page)
    page.get_by_role("button", name=re.compile("as of")).click()
    before = page.evaluate(
        "() => { const d = new Date(Date.now() - 5 * 864e5); d.setMinutes(d.getMinutes() - d.getTimezoneOffset());"
        " return d.toISOString().slice(0, 16); }"
    )
    page.get_by_label("Show lineage as of").fill(before)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("region", name="table silver.payments")).to_be_visible()
    assert "asOf=" in page.url
    save_screenshot(page, "as-of")
    page.go_back()
    expect(page.get_by_role("region", name="table silver.payments")).to_have_count(0)


def test_link_to_an_unknown_column_suggests_similar_names(page: Page, site: Site, monitor: PageMonitor) -> None:
    monitor.allowed.add("404")
    page.goto(site.link(column="file|/lake/silver/orders|totl"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no column is called")
    save_screenshot(page, "missing")
    alert.get_by_role("button", name="silver.orders.total").first.click()
    wait_for_graph(page)
    assert "silver.orders" in card_positions(page)


CARDS_OUTSIDE = """() => {
    const box = document.querySelector('.react-flow').getBoundingClientRect();
    const out = c => c.top < box.top || c.bottom > box.bottom || c.left < box.left || c.right > box.right;
    return [...document.querySelectorAll('.card')].map(card => card.getBoundingClientRect()).filter(out).length;
}"""


def test_graph_is_refitted_to_the_window_unless_moved(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1600, "height": 1200})
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.set_viewport_size({"width": 1600, "height": 700})
    page.wait_for_timeout(500)
    assert page.evaluate(CARDS_OUTSIDE) == 0
    save_screenshot(page, "smaller-window")
    page.mouse.move(700, 140)
    page.mouse.down()
    page.mouse.move(700, 200, steps=4)
    page.mouse.up()
    moved = page.locator(".react-flow__viewport").get_attribute("style")
    page.set_viewport_size({"width": 1600, "height": 1200})
    page.wait_for_timeout(500)
    assert page.locator(".react-flow__viewport").get_attribute("style") == moved


def test_answer_is_called_complete_only_when_it_is(page: Page, site: Site) -> None:
    verdict = page.locator(".verdict-line p")
    page.goto(site.link(column=NET))
    expect(verdict).to_contain_text("; complete, by value only")
    page.goto(site.link(column=NET, indirect="1"))
    expect(verdict).to_have_text(re.compile("; complete$"))
    page.goto(site.link(column=NET, depth="1"))
    expect(verdict).to_contain_text("1 of 2 hops shown")
    expect(verdict).not_to_contain_text("complete")
