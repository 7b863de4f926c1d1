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
class DemoPlatform:
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
class ScheduledJob:
    """A scheduled job with its owner. `fails` is true if the job is meant to fail."""

    name: str
    owner: str
    run: Callable[[SparkSession, DemoPlatform], None]
    fails: bool = False


LOADING = (
    ScheduledJob("load_reference", "platform", lambda spark, at: bronze.load_reference(spark, at.source)),
    ScheduledJob("load_orders", "platform", lambda spark, at: bronze.load_orders(spark, at.source)),
    ScheduledJob("load_payments", "payments", lambda spark, at: bronze.load_payments(spark, at.source)),
)
CLEANING = (
    ScheduledJob("clean_orders", "orders", lambda spark, _: silver.clean_orders(spark)),
    ScheduledJob("merge_customers", "crm", lambda spark, _: silver.merge_customers(spark)),
    ScheduledJob("conform_reference", "platform", lambda spark, _: silver.conform_reference(spark)),
    ScheduledJob(
        "track_deliveries", "logistics", lambda spark, at: silver.track_deliveries(spark, at.source, at.checkpoint)
    ),
)
SETTLING = ScheduledJob("settle_payments", "payments", lambda spark, _: silver.settle_payments(spark))
SETTLING_CHANGED = ScheduledJob("settle_payments", "payments", lambda spark, _: silver.settle_payments_changed(spark))
REPORTING = (
    ScheduledJob("build_revenue", "finance", lambda spark, _: gold.build_revenue(spark)),
    ScheduledJob("publish_board", "finance", lambda spark, _: platinum.publish_board(spark)),
)
CUSTOMERS = ScheduledJob("build_customers", "crm", lambda spark, _: gold.build_customers(spark))
MENU = ScheduledJob("build_menu_sales", "restaurants", lambda spark, _: gold.build_menu_sales(spark))
DELIVERIES = ScheduledJob("score_deliveries", "logistics", lambda spark, _: gold.score_deliveries(spark))
CAMPAIGN = ScheduledJob("publish_campaign", "marketing", lambda spark, at: platinum.publish_campaign(spark, at.export))
CHURN = ScheduledJob("predict_churn", "marketing", lambda spark, _: platinum.predict_churn(spark))
CHURN_FAILING = ScheduledJob(
    "predict_churn", "marketing", lambda spark, _: platinum.predict_churn_failing(spark), fails=True
)
# runs in a separate application without colline, so that only Spark's event log shows it
REFUNDS = ScheduledJob("report_refunds", "finance", lambda spark, at: gold.report_refunds(spark, at.root))
DASHBOARD = ScheduledJob("dashboard", "analysts", lambda spark, _: read_dashboard(spark))

# Day two: payments are loaded and settled by the changed job, the board is published, and the churn model fails.
DAYS: tuple[tuple[ScheduledJob, ...], ...] = (
    (*LOADING, *CLEANING, SETTLING, *REPORTING, CUSTOMERS, MENU, DELIVERIES, CAMPAIGN, CHURN, DASHBOARD),
    (LOADING[2], SETTLING_CHANGED, *REPORTING, CHURN_FAILING, DASHBOARD),
)


def read_dashboard(spark: SparkSession) -> None:
    """The queries of the analysts' dashboard, which write nothing."""
    spark.sql("select order_date, total_revenue from platinum.executive_summary order by order_date").collect()
    spark.sql("select courier_name, average_minutes from gold.courier_performance where vehicle = 'bike'").collect()
