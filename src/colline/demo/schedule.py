"""The schedule of the demo: which jobs run on each of the two days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from colline.demo import bronze, gold, platinum, silver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAYERS = ("bronze", "silver", "gold", "platinum")


@dataclass(frozen=True)
class Platform:
    """The folders of the platform: source files, tables, exported files."""

    root: Path

    @property
    def source(self) -> str:
        """The folder of files from the operational systems."""
        return str(self.root / "source")

    @property
    def checkpoint(self) -> str:
        """The checkpoint location of the stream."""
        return str(self.root / "checkpoints" / "deliveries")

    @property
    def export(self) -> str:
        """The folder of the exported newsletter file."""
        return str(self.root / "export" / "newsletter")


@dataclass(frozen=True)
class Job:
    """A scheduled job with its owner. `fails` is true if the job is meant to fail."""

    name: str
    owner: str
    run: Callable[[SparkSession, Platform], None]
    fails: bool = False


LOADING = (
    Job("load_reference", "platform", lambda spark, at: bronze.load_reference(spark, at.source)),
    Job("load_orders", "platform", lambda spark, at: bronze.load_orders(spark, at.source)),
    Job("load_payments", "payments", lambda spark, at: bronze.load_payments(spark, at.source)),
)
CLEANING = (
    Job("clean_orders", "orders", lambda spark, _: silver.clean_orders(spark)),
    Job("merge_customers", "crm", lambda spark, _: silver.merge_customers(spark)),
    Job("conform_reference", "platform", lambda spark, _: silver.conform_reference(spark)),
    Job("track_deliveries", "logistics", lambda spark, at: silver.track_deliveries(spark, at.source, at.checkpoint)),
)
SETTLING = Job("settle_payments", "payments", lambda spark, _: silver.settle_payments(spark))
SETTLING_CHANGED = Job("settle_payments", "payments", lambda spark, _: silver.settle_payments_changed(spark))
REPORTING = (
    Job("build_revenue", "finance", lambda spark, _: gold.build_revenue(spark)),
    Job("publish_board", "finance", lambda spark, _: platinum.publish_board(spark)),
)
CUSTOMERS = Job("build_customers", "crm", lambda spark, _: gold.build_customers(spark))
MENU = Job("build_menu_sales", "restaurants", lambda spark, _: gold.build_menu_sales(spark))
DELIVERIES = Job("score_deliveries", "logistics", lambda spark, _: gold.score_deliveries(spark))
CAMPAIGN = Job("publish_campaign", "marketing", lambda spark, at: platinum.publish_campaign(spark, at.export))
CHURN = Job("predict_churn", "marketing", lambda spark, _: platinum.predict_churn(spark))
CHURN_FAILING = Job("predict_churn", "marketing", lambda spark, _: platinum.predict_churn_failing(spark), fails=True)
# runs in a separate application without colline, so that only Spark's event log shows it
REFUNDS = Job("report_refunds", "finance", lambda spark, at: gold.report_refunds(spark, at.root))
DASHBOARD = Job("dashboard", "analysts", lambda spark, _: read_dashboard(spark))

# Day two: payments are loaded and settled by the changed job, the board is published, and the churn model fails.
DAYS: tuple[tuple[Job, ...], ...] = (
    (*LOADING, *CLEANING, SETTLING, *REPORTING, CUSTOMERS, MENU, DELIVERIES, CAMPAIGN, CHURN, DASHBOARD),
    (LOADING[2], SETTLING_CHANGED, *REPORTING, CHURN_FAILING, DASHBOARD),
)


def read_dashboard(spark: SparkSession) -> None:
    """The queries of the analysts' dashboard, which write nothing."""
    spark.sql("select order_date, total_revenue from platinum.executive_summary order by order_date").collect()
    spark.sql("select courier_name, average_minutes from gold.courier_performance where vehicle = 'bike'").collect()
