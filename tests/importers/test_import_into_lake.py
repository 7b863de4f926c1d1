"""Imported models in a real lake: from a measure to bronze, a second import, and the history of both."""

from __future__ import annotations

import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline import demo
from colline.cli.operate.ingest import pipeline_options
from colline.events.redact import NO_REDACTION
from colline.graph import Lineage, open_lake
from colline.graph.difference_rows import EdgeChange
from colline.graph.results import TableCard
from colline.importers.definition_events import definition_events
from colline.importers.formats import ImportOptions, read_definitions
from colline.importers.known_tables import FixedTableList, KnownTable, KnownTables, LakeTableList
from colline.importers.landing_writer import land_events
from colline.importers.removed_tables import with_removed_tables
from colline.trace import DatasetName
from colline.transport.filesystem import LocalFileSystem
from tests.lakes import dataset, event, land, lineage, source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.delta]
PROJECT = Path(demo.__file__).parent / "power_bi"
DAILY = "file//lake/gold/daily_revenue"
PAYMENTS = "file//lake/bronze/payments"
GOLD = KnownTable(
    DatasetName("file", "/lake/gold/daily_revenue"),
    ("order_date", "city", "revenue", "orders", "promoted_revenue"),
    is_written=True,
)
LOADED = event(
    "COMPLETE",
    "2026-03-01T10:00:00Z",
    run="load",
    job="jobs/build_revenue",
    inputs=[dataset(PAYMENTS, "gross_amount double", "order_id string")],
    outputs=[
        dataset(
            DAILY,
            "order_date date", "city string", "revenue double", "orders long", "promoted_revenue double",
            columnLineage=lineage(
                [source(PAYMENTS, "order_id", "INDIRECT/FILTER")],
                revenue=[source(PAYMENTS, "gross_amount", "DIRECT/AGGREGATION")],
            ),
            documentation={"description": "Revenue per day and city"},
        )
    ],
)  # fmt: skip
LOADED["outputs"][0]["facets"]["columnLineage"]["fields"]["orders"] = {
    "inputFields": [],
    "transformationDescription": "count(*)",
}
LOADED["outputs"][0]["facets"]["schema"]["fields"][2]["description"] = "Gross, in euros"
LOADED["job"]["facets"] = {
    "sql": {"query": "insert into gold.daily_revenue select …"},
    "sourceCodeLocation": {"type": "git", "url": "https://git.example/revenue.sql"},
    "documentation": {"description": "Builds revenue"},
    "ownership": {"owners": [{"name": "finance"}]},
    "tags": {"tags": [{"key": "daily", "value": "true"}, {"key": "domain", "value": "sales"}]},
}


def land_project(project: Path, lake: Path, tables: KnownTables, at: str) -> None:
    """What the command lands."""
    found = with_removed_tables(read_definitions(project, tables, ImportOptions()).definitions, tables)
    moment = datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(timezone.utc)
    land_events(definition_events(found, moment, NO_REDACTION), str(lake), LocalFileSystem())


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake after two imports: in the second one a measure is defined in another way, and a table is gone."""
    from colline.pipeline.ingest import ingest

    root = tmp_path_factory.mktemp("imported")
    folder = root / "lake"
    land(folder, [LOADED])
    land_project(PROJECT, folder, FixedTableList([GOLD]), "2026-03-02T10:00:00Z")
    ingest(str(folder), spark=spark, options=pipeline_options())
    changed = Path(shutil.copytree(PROJECT, root / "changed"))
    tables = changed / "Food Delivery.SemanticModel" / "definition" / "tables"
    metrics = (tables / "Metrics.tmdl").read_text("utf-8")
    old, new = "DIVIDE([Total Revenue], [Total Orders])", "DIVIDE([Promoted Revenue], [Total Orders])"
    assert old in metrics
    (tables / "Metrics.tmdl").write_text(metrics.replace(old, new), "utf-8")
    (tables / "Couriers.tmdl").unlink()
    with open_lake(folder) as opened:
        land_project(changed, folder, LakeTableList(opened), "2026-03-03T10:00:00Z")
    ingest(str(folder), spark=spark, options=pipeline_options())
    return folder


@pytest.fixture
def lake_lineage(lake: Path) -> Lineage:
    return open_lake(lake)


def labels(answer: object) -> list[str]:
    return [row["label"] for row in answer.columns]  # type: ignore[attr-defined]


def test_cards_contain_what_events_and_files_describe(lake_lineage: Lineage) -> None:
    job = lake_lineage.show("build_revenue", kind="job").job  # type: ignore[union-attr]
    assert (job.sql, job.location, job.description, job.owner, job.tags) == (
        "insert into gold.daily_revenue select …",
        "https://git.example/revenue.sql",
        "Builds revenue",
        "finance",
        ["daily", "domain=sales"],
    )
    card = lake_lineage.show("gold.daily_revenue", kind="table")
    assert card.table.description == "Revenue per day and city"  # type: ignore[union-attr]
    assert {row.field: row.description for row in card.columns}["revenue"] == "Gross, in euros"  # type: ignore[union-attr]
    imported = lake_lineage.show("Food Delivery.Metrics", kind="table")
    assert imported.table.description == "Measures over several tables."  # type: ignore[union-attr]
    described = {row.field: row.description for row in imported.columns}  # type: ignore[union-attr]
    assert described["Average Basket"] == "Revenue per order."


def test_count_of_rows_is_named(lake_lineage: Lineage) -> None:
    verdict = lake_lineage.upstream("gold.daily_revenue.orders").verdict
    assert "count of rows of bronze.payments, written by build_revenue" in verdict
    assert [row.definition for row in lake_lineage.writers("gold.daily_revenue.orders").rows] == [
        "count of rows of bronze.payments"
    ]


def test_upstream_of_a_measure_leads_to_bronze(lake_lineage: Lineage) -> None:
    assert labels(lake_lineage.upstream("Revenue.Total Revenue")) == [
        "Food Delivery.Revenue.Revenue",
        "gold.daily_revenue.revenue",
        "bronze.payments.gross_amount",
    ]


def test_downstream_of_bronze_leads_to_a_visual(lake_lineage: Lineage) -> None:
    found = labels(lake_lineage.downstream("bronze.payments.gross_amount"))
    assert "Food Delivery Report.Overview.Revenue by month" in found


def test_a_measure_has_the_layer_and_the_type(lake_lineage: Lineage) -> None:
    [row] = lake_lineage.find("Metrics.Average Basket").rows
    assert (row["type"], row["layer"]) == ("measure", "platinum")


@pytest.mark.parametrize(
    "name", ["Commission / Revenue", "Metrics.Commission / Revenue", 'Metrics."Commission / Revenue"']
)
def test_a_name_with_a_slash_is_found(lake_lineage: Lineage, name: str) -> None:
    assert lake_lineage.upstream(name).of[0]["label"] == "Food Delivery.Metrics.Commission / Revenue"


def test_diff_shows_the_changed_measure(lake_lineage: Lineage) -> None:
    found = lake_lineage.diff("2026-03-02T12:00:00Z", "2026-03-04")
    removed = {(row.source.label, row.target.label) for row in found.removed if isinstance(row, EdgeChange)}
    assert ("Food Delivery.Revenue.Total Revenue", "Food Delivery.Metrics.Average Basket") in removed


def test_as_of_the_first_import_the_measure_is_the_old_one(lake_lineage: Lineage) -> None:
    before = labels(lake_lineage.upstream("Metrics.Average Basket", depth=1, as_of="2026-03-02T12:00:00Z"))
    after = labels(lake_lineage.upstream("Metrics.Average Basket", depth=1))
    assert "Food Delivery.Revenue.Total Revenue" in before and "Food Delivery.Revenue.Total Revenue" not in after


def test_a_table_that_is_gone_has_no_live_readers(lake_lineage: Lineage) -> None:
    card = lake_lineage.show("Food Delivery/Couriers", kind="table", namespace="powerbi")
    assert isinstance(card, TableCard)
    assert card.table.dropped_at is not None
    assert not any(reader.live for reader in card.readers)


def test_references_without_a_target_are_in_coverage(lake_lineage: Lineage) -> None:
    details = [row["detail"] for row in lake_lineage.coverage(job="Food Delivery.Metrics").rows]
    assert [each for each in details if each is not None and "the model has no 'Couriers'[Vehicle]" in each]


def test_a_gap_of_one_table_is_not_reported_for_another(lake_lineage: Lineage) -> None:
    assert lake_lineage.upstream("Revenue.Total Revenue").unknown == ()
