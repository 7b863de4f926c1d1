"""Each kind of request that reads or writes data, from a client of a remote server: one run with its lineage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.capture.watch import Watch
from tests.capture.captured_events import Event, query_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.delta]

Columns = dict[str, list[str]]
Action = Callable[[Any, Path], object]
# more than the server accepts at once: the client sends it beforehand, or compressed
MANY_ROWS, MANY_CHARS = 5_000, 12_000_000
COPIED: Columns = {"id": ["orders.id"], "region": ["orders.region"]}


def copy(frame: Any, name: str = "copied") -> None:
    frame.write.mode("overwrite").option("overwriteSchema", "true").saveAsTable(name)


def merge(spark: Any, _: Path) -> None:
    from pyspark.sql.connect import functions as F  # noqa: N812 - the PySpark convention

    source = spark.table("customers").alias("s")
    into = source.mergeInto("orders", F.expr("orders.id = s.id"))
    into.whenMatched().update({"region": F.col("s.email")}).merge()


def checkpoint(spark: Any, _: Path) -> None:
    copy(spark.table("orders").select("id", "region").localCheckpoint())


def use_database(spark: Any, _: Path) -> None:
    spark.sql("use elsewhere")
    spark.sql("create or replace temporary view here as select id, region from default.orders")
    spark.sql("create or replace table made using delta as select * from here")
    spark.catalog.setCurrentDatabase("default")


def use_catalog(spark: Any, _: Path) -> None:
    spark.catalog.setCurrentCatalog("ice")
    spark.sql("create or replace table db.made using iceberg as select id, region from spark_catalog.default.orders")
    spark.catalog.setCurrentCatalog("spark_catalog")


def files_in_sql(spark: Any, folder: Path) -> None:
    copy(spark.sql(f"select id, region from parquet.`{folder}/files`"))


def cached_local_data(spark: Any, _: Path) -> None:
    name = "spark.sql.session.localRelationCacheThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, "1000")
    local = spark.createDataFrame([(number, "x" * 50) for number in range(MANY_ROWS)], "id int, pad string")
    copy(local.join(spark.table("orders"), "id").select("pad", "region"))
    spark.conf.set(name, before)


def pandas_groups(spark: Any, _: Path) -> None:
    frame = spark.table("orders").select("id", "region")
    copy(frame.groupBy("region").applyInPandas(lambda rows: rows, "id int, region string"))


def large_plan(spark: Any, _: Path) -> None:
    from pyspark.sql.connect import functions as F  # noqa: N812 - the PySpark convention

    copy(spark.table("orders").withColumn("pad", F.lit("a" * MANY_CHARS)).select("id", "region"))


def deep_plan(spark: Any, _: Path) -> None:
    frame = spark.table("orders")
    for number in range(150):
        frame = frame.withColumn(f"c{number}", frame.region)
    copy(frame.select("id", "c149"))


def stream(spark: Any, folder: Path) -> None:
    rows = spark.readStream.table("orders").select("id", "region")
    writer = rows.writeStream.option("checkpointLocation", str(folder / "progress")).trigger(availableNow=True)
    writer.toTable("streamed").awaitTermination()


def model(spark: Any, _: Path) -> None:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.pipeline import Pipeline

    rows = spark.table("orders").selectExpr("id", "amount", "id % 2 as label")
    stages = [VectorAssembler(inputCols=["amount"], outputCol="features"), LogisticRegression(maxIter=1)]
    copy(Pipeline(stages=stages).fit(rows).transform(rows).select("prediction"))


STATEMENTS: dict[str, tuple[Action, Columns]] = {
    "saveAsTable": (lambda spark, _: copy(spark.table("orders").select("id", "region")), COPIED),
    "a path": (
        lambda spark, folder: spark.table("orders").select("id").write.orc(f"{folder}/o"),
        {"id": ["orders.id"]},
    ),
    "insertInto": (
        lambda spark, _: spark.table("customers").selectExpr("id", "email", "0.5d").write.insertInto("orders"),
        {"id": ["customers.id"], "region": ["customers.email"], "amount": []},
    ),
    "writeTo": (
        lambda spark, _: spark.table("orders").select("id", "region").writeTo("made").using("delta").createOrReplace(),
        COPIED,
    ),
    "a SQL command": (
        lambda spark, _: spark.sql("insert into orders (id, region) select id, lower(email) from customers"),
        {"id": ["customers.id"], "region": ["customers.email"], "amount": []},
    ),
    "the merge API": (merge, {"region": ["customers.email"]}),
    "a checkpoint": (checkpoint, COPIED),
    "a DataFrame in a query": (
        lambda spark, _: copy(spark.sql("select id, region from {df}", df=spark.table("orders"))),
        COPIED,
    ),
    "a DataFrame in a command": (
        lambda spark, _: spark.sql("insert into orders (id) select id from {df}", df=spark.table("customers")),
        {"id": ["customers.id"], "region": [], "amount": []},
    ),
    "USE of a database": (use_database, COPIED),
    "USE of a catalog": (use_catalog, COPIED),
    "files in SQL": (files_in_sql, {"id": ["files.id"], "region": ["files.region"]}),
    "cached local data": (cached_local_data, {"pad": [], "region": ["orders.region"]}),
    "pandas functions over groups": (
        pandas_groups,
        {"id": ["orders.id", "orders.region"], "region": ["orders.id", "orders.region"]},
    ),
    "a compressed plan": (large_plan, COPIED),
    "a plan of 150 levels": (deep_plan, {"id": ["orders.id"], "c149": ["orders.region"]}),
    "a stream": (stream, COPIED),
    "an ML pipeline": (model, {"prediction": ["orders.amount", "orders.id"]}),
}


@pytest.fixture(scope="module")
def files(remote: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Parquet files of the orders."""
    folder = tmp_path_factory.mktemp("files")
    remote.sql("create database if not exists elsewhere")
    remote.sql("insert into orders values (1, 'north', 2.0), (2, 'south', 3.0)")
    remote.table("orders").write.parquet(f"{folder}/files")
    return folder


def last_event(watch: Watch) -> Event:
    assert watch.flush(400)
    return query_events(watch.events)[-1]


def source_columns(event: Event) -> Columns:
    [output] = event["outputs"]
    fields = output["facets"]["columnLineage"]["fields"]
    return {
        name: sorted(f"{each['name'].rsplit('/', 1)[-1]}.{each['field']}" for each in entry["inputFields"])
        for name, entry in fields.items()
    }


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_has_its_lineage(
    remote: SparkSession, files: Path, client_watch: Watch, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # pyspark.ml selects the implementation by it
    # those of another test may be closed
    monkeypatch.setattr(type(remote), "_default_session", remote)
    monkeypatch.setattr(type(remote)._active_session, "session", remote, raising=False)
    action, expected = STATEMENTS[name]
    action(remote, files)
    event = last_event(client_watch)
    assert event["eventType"] == "COMPLETE"
    assert source_columns(event) == expected
    steps = event["run"]["facets"].get("colline_opaque", {}).get("steps", ())
    assert not [step for step in steps if "not resolved" in step["why"]]


def test_a_write_that_is_not_done_has_no_run(remote: SparkSession, files: Path, client_watch: Watch) -> None:
    assert files.exists()
    remote.table("orders").count()  # the client now knows that the table exists
    last_event(client_watch)
    before = len(query_events(client_watch.events))
    remote.table("customers").write.mode("ignore").saveAsTable("orders")
    remote.sql("create table if not exists orders using delta as select id from customers")
    assert client_watch.flush(400)
    assert len(query_events(client_watch.events)) == before


def test_statements_about_the_session_have_no_run(remote: SparkSession, client_watch: Watch) -> None:
    for text in (
        "cache table orders", "uncache table orders", "cache lazy table few as select id from orders",
        "describe query select 1", "drop table if exists absent", "set spark.sql.ansi.enabled",
        "refresh table orders", "show tables", "explain select * from orders",
    ):  # fmt: skip
        remote.sql(text).collect()
    assert client_watch.flush(400)
    assert query_events(client_watch.events) == []
    copy(remote.table("few"))
    assert source_columns(last_event(client_watch)) == {"id": ["orders.id"]}
