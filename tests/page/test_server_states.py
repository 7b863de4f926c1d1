"""States of the page: empty lake, unreachable server, newer snapshot, loading, missing token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page import delivery_lake
from tests.page.browser_helpers import NET, PageMonitor, Site, save_screenshot, wait_for_graph, wait_for_page
from tests.server.serving import event, serving

pytestmark = pytest.mark.browser


def test_empty_lake_shows_how_to_ingest(page: Page, tmp_path: Path, monitor: PageMonitor) -> None:
    monitor.allowed.add("503")
    (tmp_path / "lake").mkdir()
    with serving(tmp_path / "lake", "--no-access-log") as server:
        page.goto(server.address)
        expect(page.get_by_role("heading", name="No lineage yet")).to_be_visible()
        for text in ("Send events, then run ingest", "colline.attach", server.address, "colline ingest"):
            expect(page.locator("main")).to_contain_text(text)
        server.client.post("/api/v1/lineage", json=event())
        expect(page.locator("main")).to_contain_text("1 event received")
        save_screenshot(page, "empty-lake")
        page.goto("about:blank")  # stops polling before the server ends


def test_unreachable_server_shows_an_error_and_recovers(page: Page, site: Site, monitor: PageMonitor) -> None:
    monitor.allowed.add("ERR_FAILED")
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("button", name="Impact").click()
    expect(page.get_by_role("alert")).to_contain_text("Cannot reach the server")
    save_screenshot(page, "offline")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    wait_for_graph(page)


def test_newer_snapshot_is_announced_and_loaded_on_request(page: Page, tmp_path: Path) -> None:
    from colline.graph.snapshot.publish import publish

    lake = delivery_lake.delivery()
    path = delivery_lake.write(lake, tmp_path / "lake")
    with serving(path, "--no-access-log") as server:
        page.clock.install()
        page.goto(Site(server.address).link(column=NET))
        wait_for_graph(page)
        assert page.get_by_text("Newer lineage is available").count() == 0
        lake.edge("silver.payments.paid", "gold.daily_revenue.net", "daily_revenue", "AGGREGATION")
        lake.write(path)
        publish(path)
        page.clock.fast_forward(25_000)
        expect(page.get_by_text("Newer lineage is available")).to_be_visible()
        assert page.locator('[data-row="file|/lake/silver/payments|paid"]').count() == 0
        save_screenshot(page, "newer")
        page.get_by_role("button", name="Refresh").click()
        expect(page.locator('[data-row="file|/lake/silver/payments|paid"]')).to_be_visible()
        expect(page.get_by_text("Newer lineage is available")).to_have_count(0)
        page.goto("about:blank")


def test_slow_query_shows_a_loading_message(page: Page, site: Site) -> None:
    page.goto(site.address)
    wait_for_page(page)
    page.route("**/api/v1/coverage*", lambda route: (page.wait_for_timeout(600), route.continue_()))
    page.get_by_role("link", name="Coverage").click()
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()


def test_outdated_answer_is_dimmed_until_the_next_one_is_loaded(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    page.route("**/api/v1/upstream*", lambda route: (page.wait_for_timeout(3000), route.continue_()))
    page.get_by_role("complementary", name="details").get_by_role("button", name="silver.orders.discount").click()
    page.get_by_role("button", name="Focus").click()
    answer = page.locator(".answer")
    expect(answer).to_have_class("answer slow")
    expect(answer).to_have_attribute("aria-busy", "true")
    expect(answer).to_contain_text("gold.daily_revenue.net")
    expect(answer).to_contain_text("silver.orders.discount", timeout=10_000)
    expect(answer).to_have_class("answer")
    expect(answer).to_have_attribute("aria-busy", "false")


def test_details_show_only_the_selected_column(page: Page, site: Site) -> None:
    page.goto(site.link(column=NET))
    wait_for_graph(page)
    details = page.get_by_role("complementary", name="details")
    expect(details).to_contain_text("finance@shop.example")
    page.route("**/api/v1/writers*", lambda route: (page.wait_for_timeout(800), route.continue_()))
    page.locator('[data-row="file|/lake/silver/payments|refunded"]').click()
    expect(details.get_by_role("heading", level=2)).to_have_text("refunded")
    expect(details).not_to_contain_text("finance@shop.example")
    expect(details).to_contain_text("written by clean_payments")


def test_server_with_tokens_shows_the_token_form(page: Page, delivery_path: Path, monitor: PageMonitor) -> None:
    monitor.allowed.add("401")
    command = [sys.executable, "-m", "colline", "token", "create", "--lake", str(delivery_path), "--scope", "read"]
    created = subprocess.run(command, capture_output=True, text=True, check=True)
    token = created.stdout.split()[-1]
    with serving(delivery_path, "--no-access-log", "--require-token") as server:
        page.goto(server.address)
        expect(page.get_by_role("alert")).to_contain_text("requires a token")
        save_screenshot(page, "token")
        page.get_by_label("Token with the").fill(token)
        page.get_by_role("button", name="Use token").click()
        expect(page.locator(".layer-box")).to_have_count(5)
        page.goto("about:blank")
