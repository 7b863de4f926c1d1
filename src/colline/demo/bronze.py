"""Bronze: one table for each kind of source file, unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REFERENCE = {
    "customers": "customer_id full_name email phone birth_date city signed_up_on marketing_consent",
    "restaurants": "restaurant_id name cuisine city commission_rate legacy_code latitude longitude",
    "couriers": "courier_id courier_name vehicle city bank_account",
    "menu_items": "item_id restaurant_id title list_price",
}
ORDER = """order_id string, customer_id string, restaurant_id string, placed_at timestamp, status string,
    promo_code string, address struct<street: string, city: string, latitude: double, longitude: double>,
    items array<struct<item_id: string, quantity: int, price: double>>"""
PAYMENT = """payment_id string, order_id string, method string, card_number string, gross_amount double,
    refund_amount double, paid_at timestamp"""
PING = "order_id string, courier_id string, event string, at timestamp"


def load_reference(spark: SparkSession, source: str) -> None:
    """Load the nightly exports of the operational databases."""
    for name, columns in REFERENCE.items():
        rows = spark.read.schema(", ".join(f"{column} string" for column in columns.split())).csv(
            f"{source}/{name}", header=True
        )
        save(rows.withColumn("loaded_at", F.current_timestamp()), f"bronze.{name}")


def load_orders(spark: SparkSession, source: str) -> None:
    """Load orders as the app sends them: nested, with duplicates."""
    orders = spark.read.schema(ORDER).json(f"{source}/orders")
    save(orders.withColumn("source_file", F.col("_metadata.file_name")), "bronze.orders")


def load_payments(spark: SparkSession, source: str) -> None:
    """Load payments as the payment provider reports them."""
    save(spark.read.schema(PAYMENT).json(f"{source}/payments"), "bronze.payments")


def save(rows: DataFrame, table: str) -> None:
    """Replace all rows of a table, creating it if needed."""
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable(table)
