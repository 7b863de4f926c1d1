"""Silver: cleaned and typed tables, one row per order, item, customer or payment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from colline.demo.bronze import PING, save

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def clean_orders(spark: SparkSession) -> None:
    """Write one row per order, and one per ordered item."""
    raw = spark.table("bronze.orders").dropDuplicates(["order_id"])
    save(
        raw.select(
            "order_id",
            "customer_id",
            "restaurant_id",
            "placed_at",
            F.to_date("placed_at").alias("order_date"),
            "status",
            F.coalesce("promo_code", F.lit("none")).alias("promo_code"),
            F.col("address.city").alias("delivery_city"),
            F.col("address.latitude").alias("drop_latitude"),
            F.col("address.longitude").alias("drop_longitude"),
        ),
        "silver.orders",
    )
    items = raw.select("order_id", F.explode("items").alias("item"))
    save(
        items.select(
            "order_id",
            "item.item_id",
            "item.quantity",
            (F.col("item.quantity") * F.col("item.price")).alias("line_amount"),
        ),
        "silver.order_items",
    )


def merge_customers(spark: SparkSession) -> None:
    """Update the customers by MERGE. Contact details are in a table of their own, with restricted access."""
    spark.sql("""
        create table if not exists silver.customers
        (customer_id string, full_name string, email string, city string, signed_up_on date, age int) using delta
    """)
    spark.sql("""
        merge into silver.customers as t
        using (
            select customer_id, full_name, lower(email) as email, city, to_date(signed_up_on) as signed_up_on,
                   cast(months_between(date '2026-03-01', to_date(birth_date)) / 12 as int) as age
            from bronze.customers
        ) as s
        on t.customer_id = s.customer_id
        when matched and t.city <> s.city then update set t.city = s.city, t.email = s.email
        when not matched then insert *
    """)
    spark.sql("""
        create or replace table silver.customer_contacts using delta as
        select customer_id, email as contact, phone, cast(marketing_consent as boolean) as may_contact
        from bronze.customers
    """)


def conform_reference(spark: SparkSession) -> None:
    """Convert restaurants, couriers and menus to proper types."""
    save(
        spark.table("bronze.restaurants").select(
            "restaurant_id",
            F.col("name").alias("restaurant_name"),
            "cuisine",
            "city",
            F.col("commission_rate").cast("double").alias("commission_rate"),
            "legacy_code",
            F.col("latitude").cast("double").alias("latitude"),
            F.col("longitude").cast("double").alias("longitude"),
        ),
        "silver.restaurants",
    )
    save(spark.table("bronze.couriers").drop("loaded_at", "bank_account"), "silver.couriers")
    save(
        spark.table("bronze.menu_items").select(
            "item_id", "title", F.col("list_price").cast("double").alias("list_price")
        ),
        "silver.menu_items",
    )


def settle_payments(spark: SparkSession) -> None:
    """Compute the net amount of each payment: the gross amount minus refunds."""
    payments = spark.table("bronze.payments")
    save(_net_payments(payments, F.col("gross_amount") - F.col("refund_amount")), "silver.payments")


def settle_payments_changed(spark: SparkSession) -> None:
    """The same job on day two, with a bug: refunds are no longer subtracted."""
    save(_net_payments(spark.table("bronze.payments"), F.col("gross_amount")), "silver.payments")


def _net_payments(payments: DataFrame, net: Column) -> DataFrame:
    return payments.select(
        "payment_id", "order_id", "method", F.sha2("card_number", 256).alias("card"), net.alias("net_amount"), "paid_at"
    )


def track_deliveries(spark: SparkSession, source: str, checkpoint: str) -> None:
    """Stream the couriers' new position pings into a table, then stop."""
    pings = spark.readStream.schema(PING).json(f"{source}/pings")
    query = (
        pings.withColumn("event_date", F.to_date("at"))
        .writeStream.format("delta")
        .outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .toTable("silver.delivery_events")
    )
    query.awaitTermination()
