"""Platinum: data products for the board, for campaigns and for models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from colline.demo.bronze import save

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pyspark.sql import SparkSession


def publish_board(spark: SparkSession) -> None:
    """Write the daily summary for the board, and the top restaurants of each city."""
    spark.sql("""
        create or replace table platinum.executive_summary using delta as
        select order_date, sum(revenue) as total_revenue, sum(orders) as total_orders,
               sum(revenue) / sum(orders) as average_basket, sum(promoted_revenue) / sum(revenue) as promoted_share
        from gold.daily_revenue group by order_date
    """)
    spark.sql("""
        create or replace table platinum.restaurant_league using delta as
        select city, restaurant_name, revenue, commission from gold.restaurant_performance where rank_in_city <= 3
    """)


def publish_campaign(spark: SparkSession, export: str) -> None:
    """Write the audience of the spring campaign. The join with contacts exports e-mail addresses unmasked."""
    audience = (
        spark.table("gold.customer_360")
        .where("orders >= 3")
        .join(spark.table("silver.customer_contacts").where("may_contact"), "customer_id")
        .select("customer_id", "contact", "city", F.col("lifetime_value").alias("value"))
    )
    save(audience, "platinum.campaign_audience")
    spark.table("platinum.campaign_audience").select("contact", "city").write.mode("overwrite").csv(export, header=True)


def churn(batches: Iterator[Frame]) -> Iterator[Frame]:
    """A model's score per customer, for `mapInPandas`."""
    for batch in batches:
        batch["churn_risk"] = 1.0 / (1.0 + batch["orders"])
        yield batch[["customer_id", "churn_risk"]]


def predict_churn(spark: SparkSession) -> None:
    """Write the churn risk from `mapInPandas`: the plan does not show which columns the function uses."""
    features = spark.table("gold.customer_360").select("customer_id", "orders", "lifetime_value")
    save(features.mapInPandas(churn, "customer_id string, churn_risk double"), "platinum.churn_risk")


def predict_churn_failing(spark: SparkSession) -> None:
    """The same job on day two: a cast fails, and so does the write."""
    features = spark.table("gold.customer_360").selectExpr(
        "customer_id", "cast(customer_id as int) / orders as churn_risk"
    )
    save(features, "platinum.churn_risk")
