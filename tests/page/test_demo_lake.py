"""The page on a lake of events that the demo captured, the receiver accepted and the pipeline ingested.

The verdicts are those of the command line in tests/demo/answers.txt.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from colline.cli import cli
from tests.page.browser_helpers import OUTSIDE, Site, card_positions, save_screenshot, wait_for_graph
from tests.server.demo_events import BETWEEN, FOLDER
from tests.server.serving import HOSTILE_NAMES, Server

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.delta, pytest.mark.timeout(1600)]

NET = f"file|{FOLDER}/silver/payments|net_amount"
EMAIL = f"file|{FOLDER}/bronze/customers|email"
ANSWERS = (Path(__file__).parents[1] / "demo" / "answers.txt").read_text(encoding="utf-8")


def expect_verdict(page: Page, text: str) -> None:
    """The page shows the same verdict as the command line."""
    assert text in ANSWERS
    expect(page.locator(".verdict-line")).to_contain_text(text)


def test_column_is_found_and_traced_to_its_source(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.address)
    expect(page.locator(".layer-box h3")).to_have_text(["bronze", "silver", "gold", "platinum", "no layer"])
    save_screenshot(page, "demo-overview")
    page.keyboard.press("/")
    page.keyboard.type("total_revenue")
    expect(page.get_by_role("option").first).to_contain_text("platinum.executive_summary")
    page.keyboard.press("Enter")
    wait_for_graph(page)
    page.get_by_label("depth").select_option("10")
    expect_verdict(page, "4 columns in 4 datasets feed platinum.executive_summary.total_revenue")
    wait_for_graph(page)
    order = sorted(card_positions(page).items(), key=lambda card: card[1])
    layers = ["source.payments", "bronze.payments", "silver.payments", "gold.daily_revenue"]
    assert [name for name, _ in order] == [*layers, "platinum.executive_summary"]
    page.get_by_role("button", name="show all").click()
    page.wait_for_timeout(300)
    page.locator(f'[data-row="{NET}"]').click()
    expect(page.locator(".line.highlighted")).to_have_count(4)
    expect(page.get_by_role("complementary")).to_contain_text("settle_payments")
    save_screenshot(page, "demo-graph")


def test_email_is_in_clear_in_an_exported_file(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="personal", column=EMAIL))
    wait_for_graph(page)
    expect(page.locator(f'[data-row="file|{FOLDER}/export/newsletter|contact"]')).to_have_class(
        re.compile("mark-clear")
    )
    expect(page.locator(f'[data-row="file|{FOLDER}/gold/customer_360|email_digest"]')).to_have_class(
        re.compile("mark-masked")
    )
    expect(page.get_by_role("button", name=re.compile("^clear 4"))).to_be_visible()
    expect(page.get_by_role("grid")).to_contain_text("FILE")
    save_screenshot(page, "demo-personal")


def test_personal_data_is_traced_by_tag(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="personal"))
    wait_for_graph(page)
    expect(page.get_by_role("textbox", name="tag")).to_have_value("PII")
    for landing in ("export/newsletter|contact", "silver/customers|email"):
        expect(page.locator(f'[data-row="file|{FOLDER}/{landing}"]')).to_have_class(re.compile("mark-clear"))
    expect(page.locator(f'[data-row="file|{FOLDER}/gold/customer_360|email_digest"]')).to_have_class(
        re.compile("mark-masked")
    )
    save_screenshot(page, "demo-personal-by-tag")


def test_impact_and_droppable_match_the_command_line(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(column=f"file|{FOLDER}/silver/orders|promo_code", ask="impact"))
    expect_verdict(page, "dropping silver.orders.promo_code breaks 1 job and affects 2 columns in 2 datasets")
    expect(page.get_by_role("grid")).to_contain_text("promoted_share")
    save_screenshot(page, "demo-impact")
    page.goto(demo_site.link(column=f"file|{FOLDER}/silver/restaurants|legacy_code", ask="droppable"))
    expect(page.locator(".drop-verdict")).to_contain_text("yes")


def query_command(lake: Path, *command: str) -> dict[str, Any]:
    """The answer of the command line as JSON."""
    return json.loads(CliRunner().invoke(cli, [*command, "--json", "--lake", str(lake)]).output)


@pytest.mark.parametrize(
    "column",
    [
        "silver/orders|status",  # only decides: a filter
        "silver/orders|promo_code",
        "silver/payments|net_amount",
        "silver/restaurants|legacy_code",  # nobody reads it
        "gold/daily_revenue|orders",  # count(*)
    ],
)
def test_drop_verdict_panel_and_graph_agree_with_the_command_line(
    page: Page, demo_site: Site, ingested_server: Server, column: str
) -> None:
    table, field = column.replace("/", ".").split("|")
    lake, name = ingested_server.lake, f"{table}.{field}"
    droppable = query_command(lake, "droppable", name)
    downstream = query_command(lake, "downstream", name, "--indirect", "--grain", "table")
    [row] = droppable["rows"]
    [listed] = [
        each for each in query_command(lake, "show", table, "--kind", "table")["columns"] if each["field"] == field
    ]
    page.goto(demo_site.link(column=f"file|{FOLDER}/{column}", ask="droppable"))
    wait_for_graph(page)
    expect(page.locator(".drop-verdict")).to_contain_text(row["verdict"])
    expect(page.locator(".verdict-line")).to_contain_text(droppable["verdict"])
    found = page.get_by_role("grid").get_by_role("row").get_by_role("link").all_inner_texts()
    assert set(found) == {reader["job"]["name"] for reader in row["readers"] + row["retired"]}
    panel = page.get_by_role("complementary", name="details")
    expect(panel).to_contain_text(f"{listed['up']} upstream, {listed['down']} downstream")
    expect(panel).to_contain_text(f"decided by {listed['up_conditions']}, decides {listed['down_conditions']}")
    assert set(card_positions(page)) == {table, *(each["label"] for each in downstream["datasets"])}
    save_screenshot(page, f"demo-drop-{field}")
    page.goto(demo_site.link(column=f"file|{FOLDER}/{column}"))
    for direction in ("upstream", "downstream"):
        verdict = query_command(lake, direction, name)["verdict"].replace("`--indirect`", "“Indirect”")
        expect(page.locator(".verdict-line")).to_contain_text(verdict)


def test_changes_and_as_of_show_both_days(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="changes", **{"from": BETWEEN}))
    wait_for_graph(page)
    expect_verdict(page, "1 removed, 1 changed: 2 edges")
    expect(page.locator(".line.mark-removed")).to_have_count(1)
    save_screenshot(page, "demo-changes")
    page.goto(demo_site.link(column=NET, depth="10", direction="up", asOf=BETWEEN))
    expect_verdict(page, "4 columns in 2 datasets feed silver.payments.net_amount")
    expect(page.get_by_role("grid")).to_contain_text("refund_amount")
    save_screenshot(page, "demo-as-of")


def test_job_page_shows_the_code_of_the_events(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="runs", job='["food-delivery","build_revenue"]'))
    code = page.locator(".job-code pre")
    expect(code).to_contain_text("create or replace table gold.daily_revenue")
    expect(page.locator(".bar")).not_to_have_count(0)
    save_screenshot(page, "demo-job")


def test_opened_run_shows_what_it_wrote(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="runs", job='["food-delivery","build_revenue"]'))
    page.get_by_role("grid", name="runs of build_revenue").get_by_role("row").nth(1).click()
    run = page.get_by_role("complementary", name="run")
    expect(run.get_by_role("heading", name="Written")).to_be_visible()
    expect(run).to_contain_text(re.compile(r"\d+ rows?, [\d.]+ kB in \d+ files? to gold\."))


def test_failed_run_opaque_step_and_invalid_event_are_reported(page: Page, demo_site: Site) -> None:
    page.goto(demo_site.link(mode="runs"))
    row = page.get_by_role("grid", name="jobs").get_by_role("row").filter(has_text="predict_churn")
    expect(row).to_contain_text("fail")
    expect(row).to_contain_text("CAST_INVALID_INPUT")
    row.click()
    expect(page.get_by_role("grid", name="runs of predict_churn").get_by_role("row")).to_have_count(3)
    page.goto(demo_site.link(mode="coverage"))
    expect(page.get_by_role("grid", name="lineage gaps")).to_contain_text("mapInPandas")
    page.goto(demo_site.link(mode="quarantine"))
    grid = page.get_by_role("grid", name="quarantined events")
    expect(grid.get_by_role("row")).to_have_count(3)
    grid.get_by_role("row").filter(has_text="runId").first.click()
    expect(page.get_by_role("complementary")).to_contain_text("<b>wrong</b>")


@pytest.mark.parametrize("number", range(len(HOSTILE_NAMES)))
def test_hostile_name_is_shown_as_text(page: Page, demo_site: Site, number: int) -> None:
    page.add_init_script("window.alert = () => { document.title = 'harmed' }")
    name = HOSTILE_NAMES[number]
    page.goto(demo_site.link(column=f"hostile|table{number}/{name}|{name}"))
    wait_for_graph(page)
    expect(page.locator(".card")).to_have_count(2)
    for box in (page.locator(".card").nth(place).bounding_box() for place in range(2)):
        assert box is not None
        assert box["width"] < 260
    page.locator(".line .hit-area").first.click(force=True)
    expect(page.get_by_role("complementary")).to_contain_text("f(")
    assert page.title().endswith("colline")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    save_screenshot(page, f"hostile-{number}")


@pytest.mark.parametrize("number", range(len(HOSTILE_NAMES)))
def test_hostile_name_is_text_on_the_pages_of_a_table_and_a_job(page: Page, demo_site: Site, number: int) -> None:
    page.add_init_script("window.alert = () => { document.title = 'harmed' }")
    name = HOSTILE_NAMES[number]
    table = f"hostile|table{number}/{name}"
    for tab in ("columns", "lineage", "jobs", "schema"):
        page.goto(demo_site.link(mode="tables", table=table, tab=tab))
        expect(page.get_by_role("heading", level=1)).to_contain_text("Tables")
        page.wait_for_load_state("networkidle")
        assert page.evaluate(OUTSIDE) == []
    page.goto(demo_site.link(mode="runs", job=json.dumps(["shop", f"job {name}"])))
    page.locator(".bars, .table").first.wait_for()
    assert page.evaluate(OUTSIDE) == []
    assert page.locator("main [href^='javascript']").count() == 0
    page.get_by_role("grid").get_by_role("row").nth(1).click()
    expect(page.get_by_role("complementary", name="run")).to_contain_text("complete")
    assert page.title().endswith("colline")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    save_screenshot(page, f"hostile-job-{number}")


def test_hostile_names_are_shown_as_text_in_search_and_tables(page: Page, demo_site: Site) -> None:
    page.add_init_script("window.alert = () => { document.title = 'harmed' }")
    page.goto(demo_site.address)
    page.get_by_role("combobox").fill(HOSTILE_NAMES[0])
    expect(page.get_by_role("option").first).to_contain_text("<script>alert(1)</script>")
    page.keyboard.press("Escape")
    page.goto(demo_site.link(mode="runs", sort="job"))
    expect(page.get_by_role("grid")).to_contain_text("job <script>alert(1)</script>")
    assert page.title().endswith("colline")
    save_screenshot(page, "hostile-jobs")
