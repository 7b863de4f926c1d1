"""The semantic model and the report of the demo, and folders in other shapes."""

from __future__ import annotations

import shutil
from datetime import datetime, timezone
from pathlib import Path

import msgspec
import pytest

from colline import demo
from colline.events.json_codec import encode
from colline.events.redact import NO_REDACTION
from colline.importers.definition_events import MAX_EDGES_PER_EVENT, definition_events
from colline.importers.definitions import DefinedColumn, DefinedDataset, DefinedJob, DefinedOutput, Definitions
from colline.importers.formats import ImportOptions, ImportResult, read_definitions
from colline.importers.known_tables import FixedTableList, KnownTable, NoTables
from colline.importers.removed_tables import with_removed_tables
from colline.trace import ColumnLineage, ColumnRef, DatasetName, Dependency, Effect, Transformation
from tests.events.oracle import round_trip, without_empty
from tests.importers.definition_lines import job_lines, job_named

PROJECT = Path(demo.__file__).parent / "power_bi"
SHOP = Path(__file__).parents[1] / "cases" / "semantic_models"
AT = datetime(2026, 3, 1, tzinfo=timezone.utc)
GOLD = FixedTableList(
    KnownTable(DatasetName("file", f"/lake/gold/{name}"), columns, is_written=True)
    for name, columns in {
        "daily_revenue": ("order_date", "city", "revenue", "orders", "promoted_revenue"),
        "restaurant_performance": ("restaurant_id", "restaurant_name", "cuisine", "city", "revenue", "customers",
                                   "commission", "rank_in_city"),
        "customer_360": ("customer_id", "email_digest", "city", "age", "orders", "last_order_at", "lifetime_value"),
        "dish_sales": ("title", "sold", "sales"),
        "courier_performance": ("courier_id", "courier_name", "vehicle", "average_minutes", "kilometres"),
        "delivery_quality": ("order_id", "courier_id", "km", "minutes"),
    }.items()
)  # fmt: skip


@pytest.fixture(scope="module")
def demo_model() -> ImportResult:
    return read_definitions(PROJECT, GOLD, ImportOptions())


def test_every_table_and_page_is_a_job(demo_model: ImportResult) -> None:
    assert sorted((job.name, job.job_type) for job in demo_model.definitions.jobs) == [
        ("Food Delivery Report.Customers and couriers", "REPORT"),
        ("Food Delivery Report.Overview", "REPORT"),
        ("Food Delivery Report.Restaurants", "REPORT"),
        ("Food Delivery.Calendar", "SEMANTIC_MODEL"),
        ("Food Delivery.Couriers", "SEMANTIC_MODEL"),
        ("Food Delivery.Customers", "SEMANTIC_MODEL"),
        ("Food Delivery.Deliveries", "SEMANTIC_MODEL"),
        ("Food Delivery.Dishes", "SEMANTIC_MODEL"),
        ("Food Delivery.Metrics", "SEMANTIC_MODEL"),
        ("Food Delivery.Restaurants", "SEMANTIC_MODEL"),
        ("Food Delivery.Revenue", "SEMANTIC_MODEL"),
        ("Food Delivery.Time Intelligence", "SEMANTIC_MODEL"),
    ]


def test_the_demo_has_at_least_twenty_measures_with_lineage(demo_model: ImportResult) -> None:
    measures = [
        (column.name, output.lineage.fields[column.name])
        for job in demo_model.definitions.jobs
        for output in job.outputs
        for column in output.dataset.columns
        if column.type == "measure" and output.lineage is not None
    ]
    assert len(measures) >= 20
    assert [name for name, entries in measures if not entries] == []


def test_every_source_is_a_table_of_the_lake(demo_model: ImportResult) -> None:
    assert (demo_model.resolutions.unknown, demo_model.resolutions.ambiguous) == ({}, {})
    assert set(demo_model.resolutions.matched.values()) == {table.name for table in GOLD._tables}


def test_only_the_calculation_group_is_opaque(demo_model: ImportResult) -> None:
    gaps = {job.name: len(job.opaque) for job in demo_model.definitions.jobs if job.opaque}
    assert gaps == {"Food Delivery.Time Intelligence": 2}
    file = "Food Delivery.SemanticModel/definition/tables/Time Intelligence.tmdl"
    assert [(each.file, each.line) for each in demo_model.definitions.problems] == [(file, 6), (file, 8)]


def test_measures_and_columns_lead_to_gold(demo_model: ImportResult) -> None:
    revenue = job_lines(job_named(demo_model.definitions, "Food Delivery.Revenue"))
    assert "Food Delivery/Revenue.Revenue <- /lake/gold/daily_revenue.revenue direct/identity" in revenue
    assert "Food Delivery/Revenue.Total Revenue <- Food Delivery/Revenue.Revenue direct/aggregation" in revenue
    dishes = job_lines(job_named(demo_model.definitions, "Food Delivery.Dishes"))
    assert "Food Delivery/Dishes.* <- /lake/gold/dish_sales.sold indirect/filter" in dishes


def test_a_visual_is_a_column_of_its_page(demo_model: ImportResult) -> None:
    assert job_lines(job_named(demo_model.definitions, "Food Delivery Report.Overview")) == [
        "Food Delivery Report/Overview.Average basket by city <- Food Delivery/Revenue.City direct/identity",
        "Food Delivery Report/Overview.Average basket by city <- Food Delivery/Metrics.Average Basket direct/identity",
        "Food Delivery Report/Overview.Average basket by city <- Food Delivery/Metrics.Average Basket indirect/sort",
        "Food Delivery Report/Overview.Revenue <- Food Delivery/Revenue.Total Revenue direct/identity",
        "Food Delivery Report/Overview.Revenue by month <- Food Delivery/Calendar.Calendar Hierarchy direct/identity",
        "Food Delivery Report/Overview.Revenue by month <- Food Delivery/Revenue.Total Revenue direct/identity",
        "Food Delivery Report/Overview.Revenue by month <- Food Delivery/Metrics.Revenue Last Year direct/identity",
        "Food Delivery Report/Overview.slicer 40d7fc15 <- Food Delivery/Calendar.Year direct/identity",
        "Food Delivery Report/Overview.* <- Food Delivery/Revenue.City indirect/filter",
    ]


def test_events_survive_a_round_trip_through_openlineage_python(demo_model: ImportResult) -> None:
    for event in definition_events(demo_model.definitions, AT, NO_REDACTION):
        plain = msgspec.json.decode(encode(event))
        assert round_trip(plain) == without_empty(plain)


def test_a_measure_is_described(demo_model: ImportResult) -> None:
    [output] = job_named(demo_model.definitions, "Food Delivery.Revenue").outputs
    total = next(column for column in output.dataset.columns if column.name == "Total Revenue")
    assert total == DefinedColumn("Total Revenue", "measure", "Net revenue: what customers paid for delivered orders.")
    assert output.dataset.description == "Delivered orders by day and city."


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (PROJECT / "Food Delivery.pbip", "Food Delivery"),
        (PROJECT / "Food Delivery.SemanticModel", "Food Delivery"),
        (PROJECT / "Food Delivery.SemanticModel" / "definition", "Food Delivery"),
        (SHOP / "shop", "shop"),
        (SHOP / "shop.bim", "shop"),
    ],
)
def test_the_model_is_found_from_each_of_its_paths(path: Path, name: str) -> None:
    found = read_definitions(path, NoTables(), ImportOptions()).definitions
    assert {job.name.split(".")[0] for job in found.jobs if job.job_type == "SEMANTIC_MODEL"} == {name}


def test_a_field_that_the_model_does_not_have_is_a_gap_of_its_page(tmp_path: Path) -> None:
    shutil.copytree(PROJECT, tmp_path / "p")
    metrics = tmp_path / "p" / "Food Delivery.SemanticModel" / "definition" / "tables" / "Metrics.tmdl"
    metrics.write_text(metrics.read_text("utf-8").replace("'Best Dishes'", "'Best Plates'"), "utf-8")
    found = read_definitions(tmp_path / "p", GOLD, ImportOptions()).definitions
    assert [step.why for step in job_named(found, "Food Delivery Report.Restaurants").opaque] == [
        "the model has no 'Metrics'[Best Dishes]"
    ]


def test_a_table_that_is_gone_is_dropped(demo_model: ImportResult) -> None:
    names = [DatasetName("powerbi", f"Food Delivery/{name}") for name in ("Revenue", "Old")]
    before = FixedTableList([*map(KnownTable, names), KnownTable(DatasetName("powerbi", "Other/Sales"))])
    [job] = [
        job
        for job in with_removed_tables(demo_model.definitions, before).jobs
        if any(output.is_dropped for output in job.outputs)
    ]
    assert (job.name, [output.dataset.name.name for output in job.outputs]) == (
        "Food Delivery.Old",
        ["Food Delivery/Old"],
    )
    [event] = definition_events(Definitions((job,)), AT, NO_REDACTION)
    plain = msgspec.json.decode(encode(event))
    assert plain["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"
    assert plain["outputs"][0]["facets"]["columnLineage"]["fields"] == {}


def test_a_job_with_very_many_columns_is_split_into_events_of_one_run() -> None:
    source = Dependency(ColumnRef(DatasetName("db", "t"), "a"), (Transformation(Effect.IDENTITY),))
    outputs = tuple(
        DefinedOutput(
            DefinedDataset(DatasetName("powerbi", f"M/{number}")),
            ColumnLineage({f"c{at}": (source,) for at in range(MAX_EDGES_PER_EVENT // 2)}),
        )
        for number in range(5)
    )
    job = DefinedJob("powerbi", "M", "POWER_BI", "SEMANTIC_MODEL", outputs=outputs)
    events = [msgspec.json.decode(encode(event)) for event in definition_events(Definitions((job,)), AT, NO_REDACTION)]
    assert [event["eventType"] for event in events] == ["RUNNING", "RUNNING", "COMPLETE"]
    assert len({event["run"]["runId"] for event in events}) == 1
    assert sum(len(event["outputs"]) for event in events) == 5


def test_a_report_without_its_model_keeps_the_names_of_the_fields(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "Food Delivery.Report", tmp_path / "Food Delivery.Report")
    pbir = '{"datasetReference": {"byConnection": {"connectionString": "Data Source=x;Initial Catalog=Sales Model"}}}'
    (tmp_path / "Food Delivery.Report" / "definition.pbir").write_text(pbir, "utf-8")
    found = read_definitions(tmp_path, NoTables(), ImportOptions()).definitions
    lines = job_lines(job_named(found, "Food Delivery Report.Overview"))
    assert "Food Delivery Report/Overview.Revenue <- Sales Model/Revenue.Total Revenue direct/identity" in lines


def test_a_report_in_the_older_form_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "Old.Report"
    folder.mkdir()
    (folder / "definition.pbir").write_text('{"datasetReference": {"byPath": {"path": "../M.SemanticModel"}}}', "utf-8")
    visual = {
        "name": "v1",
        "singleVisual": {
            "visualType": "card",
            "prototypeQuery": {
                "From": [{"Name": "s", "Entity": "Sales", "Type": 0}],
                "Select": [
                    {
                        "Aggregation": {
                            "Expression": {"Column": {"Expression": {"SourceRef": {"Source": "s"}}, "Property": "Id"}},
                            "Function": 5,
                        }
                    }
                ],
            },
        },
    }
    config = msgspec.json.encode(visual).decode()
    report = {"sections": [{"displayName": "Page 1", "visualContainers": [{"config": config, "filters": "[]"}]}]}
    (folder / "report.json").write_bytes(msgspec.json.encode(report))
    found = read_definitions(tmp_path, NoTables(), ImportOptions()).definitions
    assert job_lines(job_named(found, "Old Report.Page 1")) == [
        "Old Report/Page 1.card v1 <- Old/Sales.Id direct/aggregation masked"
    ]


def test_broken_json_of_a_visual_is_reported_with_its_line(tmp_path: Path) -> None:
    shutil.copytree(PROJECT, tmp_path / "p")
    visual = next((tmp_path / "p").rglob("visual.json"))
    visual.write_text('{\n  "visual": oops\n}', "utf-8")
    found = read_definitions(tmp_path / "p", GOLD, ImportOptions()).definitions
    assert [(each.line, each.message[:14]) for each in found.problems if each.file.endswith("visual.json")] == [
        (2, "expected JSON:")
    ]
