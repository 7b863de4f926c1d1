"""A dbt project, from the files that dbt 1.10 wrote for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from colline.importers.definitions import Definitions
from colline.importers.formats import ImportOptions, read_definitions
from colline.importers.known_tables import FixedTableList, KnownTable, NoTables
from colline.naming.dataset import DatasetKind
from colline.trace import DatasetName
from tests.importers.definition_lines import job_lines, job_named

PROJECT = Path(__file__).parents[2] / "cases" / "dbt" / "shop"


def read(path: Path) -> Definitions:
    return read_definitions(path, NoTables(), ImportOptions()).definitions


@pytest.fixture(scope="module")
def shop() -> Definitions:
    return read(PROJECT)


def test_every_node_with_data_is_a_job(shop: Definitions) -> None:
    assert sorted((job.name, job.job_type) for job in shop.jobs) == [
        ("shop.countries", "SEED"),
        ("shop.customers", "MODEL"),
        ("shop.exposures.weekly_report", "DASHBOARD"),
        ("shop.forecast", "MODEL"),
        ("shop.orders", "MODEL"),
        ("shop.orders_history", "SNAPSHOT"),
        ("shop.raw_orders", "SEED"),
        ("shop.semantic_layer.metrics", "METRICS"),
        ("shop.semantic_models.orders", "SEMANTIC_MODEL"),
        ("shop.stg_orders", "MODEL"),
        ("shop.time_spine", "MODEL"),
    ]


def test_an_incremental_model_leads_through_an_ephemeral_one(shop: Definitions) -> None:
    assert job_lines(job_named(shop, "shop.orders")) == [
        "shop.analytics.orders.order_id <- shop.analytics.stg_orders.order_id direct/identity",
        "shop.analytics.orders.customer_id <- shop.analytics.stg_orders.customer_id direct/identity",
        "shop.analytics.orders.label <- shop.analytics.raw_orders.status direct/transformation",
        "shop.analytics.orders.gross <- shop.analytics.stg_orders.amount direct/transformation",
        "shop.analytics.orders.net <- shop.analytics.stg_orders.status indirect/conditional",
        "shop.analytics.orders.net <- shop.analytics.stg_orders.amount direct/transformation",
        "shop.analytics.orders.ordered_at <- shop.analytics.stg_orders.ordered_at direct/identity",
        "shop.analytics.orders.* <- shop.analytics.raw_orders.user_id indirect/join",
        "shop.analytics.orders.* <- shop.analytics.stg_orders.customer_id indirect/join",
        "shop.analytics.orders.* <- shop.analytics.stg_orders.ordered_at indirect/filter",
        "shop.analytics.orders.* <- shop.analytics.orders.ordered_at indirect/filter",
    ]


def test_descriptions_owners_tags_and_types_are_carried(shop: Definitions) -> None:
    [output] = job_named(shop, "shop.orders").outputs
    assert (output.dataset.description, output.dataset.owners, output.dataset.tags) == (
        "One row per order.",
        ("finance@example.com",),
        ("mart",),
    )
    gross = next(column for column in output.dataset.columns if column.name == "gross")
    assert (gross.type, gross.description, gross.tags) == ("decimal(12,1)", "With tax.", ("money",))
    [customers] = job_named(shop, "shop.customers").outputs
    assert customers.dataset.owners == ("@jane",)
    assert job_named(shop, "shop.stg_orders").outputs[0].dataset.kind is DatasetKind.VIEW


def test_sources_are_described(shop: Definitions) -> None:
    [source] = shop.datasets
    status = next(column for column in source.columns if column.name == "status")
    assert (source.owners, status.tags) == (("crm@example.com",), ("contains_pii",))


def test_a_python_model_is_opaque(shop: Definitions) -> None:
    forecast = job_named(shop, "shop.forecast")
    assert [step.why for step in forecast.opaque] == ["a model in python"]
    assert "shop.analytics.forecast.net <- shop.analytics.orders.gross direct/transformation" in job_lines(forecast)
    assert [problem.file for problem in shop.problems] == ["models/marts/forecast.py"]


def test_an_exposure_reads_every_column_of_its_models(shop: Definitions) -> None:
    report = job_named(shop, "shop.exposures.weekly_report")
    assert {each.dataset.name.name: [read.field for read in each.reads] for each in report.inputs} == {
        "shop.analytics.customers": ["customer_id", "orders", "lifetime_value", "label_hash"],
        "shop.analytics.orders": ["order_id", "customer_id", "label", "gross", "net", "ordered_at"],
    }
    assert report.owners == ("ann@example.com",)


def test_metrics_lead_to_columns(shop: Definitions) -> None:
    lines = [*job_lines(job_named(shop, "shop.semantic_models.orders"))]
    assert "shop/orders.revenue <- shop.analytics.orders.net direct/aggregation" in lines
    assert "shop/orders.buyers <- shop.analytics.orders.customer_id direct/aggregation masked" in lines
    assert job_lines(job_named(shop, "shop.semantic_layer.metrics")) == [
        "shop/metrics.revenue <- shop/orders.revenue direct/identity",
        "shop/metrics.big_revenue <- shop/orders.revenue direct/identity",
        "shop/metrics.big_revenue <- shop/orders.is_big indirect/filter",
        "shop/metrics.orders <- shop/orders.order_count direct/identity",
        "shop/metrics.average_order <- shop/metrics.revenue direct/transformation",
        "shop/metrics.average_order <- shop/metrics.orders direct/transformation",
        "shop/metrics.revenue_per_buyer <- shop/metrics.revenue direct/transformation",
        "shop/metrics.revenue_per_buyer <- shop/metrics.big_revenue direct/transformation",
        "shop/metrics.cumulative_revenue <- shop/orders.revenue direct/transformation",
    ]


def test_tables_of_the_lake_keep_their_names() -> None:
    known = KnownTable(DatasetName("file", "/lake/analytics/stg_orders"), ("order_id",), is_written=True)
    result = read_definitions(PROJECT, FixedTableList([known]), ImportOptions())
    [output] = job_named(result.definitions, "shop.stg_orders").outputs
    assert output.dataset.name == known.name
    assert result.resolutions.matched == {"shop.analytics.stg_orders": known.name}


def test_templates_of_the_project_are_not_read_as_sql(shop: Definitions) -> None:
    assert not [job for job in shop.jobs if job.integration == "SQL"]


def read_changed(tmp_path: Path, change: Any) -> Definitions:
    """The project with a manifest that was changed."""
    manifest = json.loads((PROJECT / "target" / "manifest.json").read_text("utf-8"))
    change(manifest)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return read(tmp_path)


def test_a_model_that_was_not_compiled_is_reported(tmp_path: Path) -> None:
    def change(manifest: Any) -> None:
        for node in manifest["nodes"].values():
            node.pop("compiled_code", None)

    found = read_changed(tmp_path, change)
    assert "stg_orders: the manifest has no compiled SQL: run `dbt compile`" in [
        each.message for each in found.problems
    ]
    assert job_lines(job_named(found, "shop.stg_orders")) == ["shop.analytics.stg_orders without lineage"]


def test_broken_sql_is_reported_and_the_other_models_are_read(tmp_path: Path) -> None:
    found = read_changed(
        tmp_path, lambda m: m["nodes"]["model.shop.stg_orders"].update(compiled_code="select from where ((")
    )
    assert [each.file for each in found.problems if "stg_orders" in each.message] == ["models/stg_orders.sql"]
    assert job_lines(job_named(found, "shop.customers"))


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], {"a": None}])
def test_values_of_a_wrong_type_are_missing(tmp_path: Path, value: Any) -> None:
    def change(manifest: Any) -> None:
        for node in manifest["nodes"].values():
            node.update(dict.fromkeys(("columns", "config", "tags", "meta", "depends_on", "description"), value))
        for section in ("exposures", "metrics", "semantic_models", "groups", "sources"):
            manifest[section] = value

    assert job_named(read_changed(tmp_path, change), "shop.customers")


def test_models_that_depend_on_each_other_end(tmp_path: Path) -> None:
    def change(manifest: Any) -> None:
        manifest["nodes"]["model.shop.stg_orders"]["depends_on"]["nodes"] = ["model.shop.customers"]

    assert job_named(read_changed(tmp_path, change), "shop.customers")
