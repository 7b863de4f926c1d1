"""Which job runs on which day: the platform's whole week in one table."""

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
    """Where the platform lives: files that arrive, tables, files that leave."""

    root: Path

    @property
    def source(self) -> str:
        """Files from the operational systems."""
        return str(self.root / "source")

    @property
    def checkpoint(self) -> str:
        """The stream's memory of what it has read."""
        return str(self.root / "checkpoints" / "deliveries")

    @property
    def export(self) -> str:
        """The file that leaves the platform."""
        return str(self.root / "export" / "newsletter")


@dataclass(frozen=True)
class Job:
    """A scheduled job; `fails` where it does so on that day."""

    name: str
    owner: str
    work: Callable[[SparkSession, Platform], None]
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
# an application of its own that nobody attached colline to: only Spark's event log tells of it
REFUNDS = Job("report_refunds", "finance", lambda spark, at: gold.report_refunds(spark, at.root))
DASHBOARD = Job("dashboard", "analysts", lambda spark, _: read_dashboard(spark))

# Day two: payments come in and are settled by changed code, the board is published, and a score cannot be made.
DAYS: tuple[tuple[Job, ...], ...] = (
    (*LOADING, *CLEANING, SETTLING, *REPORTING, CUSTOMERS, MENU, DELIVERIES, CAMPAIGN, CHURN, DASHBOARD),
    (LOADING[2], SETTLING_CHANGED, *REPORTING, CHURN_FAILING, DASHBOARD),
)


def read_dashboard(spark: SparkSession) -> None:
    """What the analysts' dashboard asks for: reads that write nothing."""
    spark.sql("select order_date, total_revenue from platinum.executive_summary order by order_date").collect()
    spark.sql("select courier_name, average_minutes from gold.courier_performance where vehicle = 'bike'").collect()
