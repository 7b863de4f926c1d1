"""Gold: business metrics about revenue, customers and deliveries."""

from __future__ import annotations

from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from colline.demo.bronze import save

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def build_revenue(spark: SparkSession) -> None:
    """Write revenue by day and city, and by restaurant with its rank."""
    spark.sql("""
        create or replace table gold.daily_revenue using delta as
        select o.order_date, o.delivery_city as city, sum(p.net_amount) as revenue, count(*) as orders,
               sum(case when o.promo_code <> 'none' then p.net_amount else 0 end) as promoted_revenue
        from silver.orders o join silver.payments p on o.order_id = p.order_id
        where o.status = 'delivered'
        group by o.order_date, o.delivery_city
    """)
    orders = spark.table("silver.orders").where("status = 'delivered'")
    per_restaurant = (
        orders.join(spark.table("silver.payments"), "order_id")
        .groupBy("restaurant_id")
        .agg(F.sum("net_amount").alias("revenue"), F.countDistinct("customer_id").alias("customers"))
        .join(spark.table("silver.restaurants"), "restaurant_id")
        .withColumn("commission", F.round(F.col("revenue") * F.col("commission_rate"), 2))
    )
    ranked = Window.partitionBy("city").orderBy(F.desc("revenue"))
    save(
        per_restaurant.withColumn("rank_in_city", F.rank().over(ranked)).select(
            "restaurant_id", "restaurant_name", "cuisine", "city", "revenue", "customers", "commission", "rank_in_city"
        ),
        "gold.restaurant_performance",
    )


def build_menu_sales(spark: SparkSession) -> None:
    """Write the sales of each dish."""
    spark.sql("""
        create or replace table gold.dish_sales using delta as
        select m.title, sum(i.quantity) as sold, sum(i.line_amount) as sales
        from silver.order_items i join silver.menu_items m using (item_id) group by m.title
    """)


def build_customers(spark: SparkSession) -> None:
    """Write customers as analysts may see them: the e-mail address only as a hash."""
    spark.sql("""
        create or replace table gold.customer_360 using delta as
        select c.customer_id, sha2(c.email, 256) as email_digest, c.city, c.age,
               count(o.order_id) as orders, max(o.placed_at) as last_order_at, sum(p.net_amount) as lifetime_value
        from silver.customers c
        left join silver.orders o on o.customer_id = c.customer_id
        left join silver.payments p on p.order_id = o.order_id
        group by c.customer_id, c.email, c.city, c.age
    """)
    orders = spark.table("silver.orders")
    gap = Window.partitionBy("customer_id").orderBy("placed_at")
    save(
        orders.select(
            "customer_id",
            "order_id",
            "placed_at",
            F.datediff("placed_at", F.lag("placed_at").over(gap)).alias("days_since_previous"),
        ),
        "gold.customer_orders",
    )


def kilometres(from_latitude: float, from_longitude: float, to_latitude: float, to_longitude: float) -> float:
    """The great-circle distance between two points."""
    half_up = radians(to_latitude - from_latitude) / 2
    half_along = radians(to_longitude - from_longitude) / 2
    chord = sin(half_up) ** 2 + cos(radians(from_latitude)) * cos(radians(to_latitude)) * sin(half_along) ** 2
    return 2 * 6371 * asin(sqrt(chord))


def score_deliveries(spark: SparkSession) -> None:
    """Write the distance (a Python UDF) and duration of each delivery, and averages per courier."""
    distance = F.udf(kilometres, "double", useArrow=False)
    legs = (
        spark.table("silver.delivery_events")
        .groupBy("order_id", "courier_id")
        .pivot("event", ["picked_up", "dropped_off"])
        .agg(F.max("at"))
    )
    trips = legs.join(spark.table("silver.orders"), "order_id").join(
        spark.table("silver.restaurants").select("restaurant_id", "latitude", "longitude"), "restaurant_id"
    )
    save(
        trips.select(
            "order_id",
            "courier_id",
            distance("latitude", "longitude", "drop_latitude", "drop_longitude").alias("km"),
            ((F.unix_timestamp("dropped_off") - F.unix_timestamp("picked_up")) / 60).alias("minutes"),
        ),
        "gold.delivery_quality",
    )
    spark.sql("""
        create or replace table gold.courier_performance using delta as
        select k.courier_id, k.courier_name, k.vehicle, avg(q.minutes) as average_minutes, sum(q.km) as kilometres
        from gold.delivery_quality q join silver.couriers k on k.courier_id = q.courier_id
        group by k.courier_id, k.courier_name, k.vehicle
    """)


def report_refunds(spark: SparkSession, root: Path) -> None:
    """Write refunds by payment method, reading and writing paths. Finance runs this job without colline."""
    refunds = spark.read.format("delta").load(str(root / "bronze" / "payments")).where("refund_amount > 0")
    by_method = refunds.groupBy("method").agg(F.sum("refund_amount").alias("refunded"))
    by_method.write.format("delta").mode("overwrite").save(str(root / "gold" / "refunds"))
