"""Which queries are runs, and which columns a run reads: real queries in a live session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.watch import Watch
from tests.capture.captured_events import query_events, run_states

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tables")]


def test_read_has_the_columns_it_used(spark: SparkSession, watch: Watch) -> None:
    spark.sql("select region from watched.orders where amount > 3 order by id").collect()
    ended = query_events(watch.events)[-1]
    assert ended["outputs"] == []
    fields = ended["inputs"][0]["facets"]["colline_columnsRead"]["fields"]
    assert {each["name"]: each["uses"] for each in fields} == {
        "region": ["value"],
        "amount": ["filter"],
        "id": ["sort"],
    }


READERS: list[Callable[[DataFrame], Any]] = [
    lambda df: df.foreach(lambda row: None),
    lambda df: df.foreachPartition(lambda rows: None),
    lambda df: df.rdd.map(lambda row: row[0]).filter(bool).collect(),
    lambda df: df.rdd.groupBy(lambda row: row[1]).count(),
    lambda df: list(df.toLocalIterator()),
    lambda df: df.toPandas(),
    lambda df: df.tail(1),
    lambda df: df.isEmpty(),
]


@pytest.mark.parametrize("reader", READERS)
def test_every_read_of_a_dataframe_is_captured(
    spark: SparkSession, watch: Watch, reader: Callable[[DataFrame], Any]
) -> None:
    with colline.job("reading"):
        reader(spark.sql("select amount, region from watched.orders where id > 1"))
    runs = run_states(watch.events)
    assert runs
    assert all(run == ("reading", ["START", "COMPLETE"]) for run in runs)
    [read] = [event for event in query_events(watch.events) if event["eventType"] == "START"][:1]
    [source] = read["inputs"]
    fields = source["facets"]["colline_columnsRead"]["fields"]
    assert {each["name"]: each["uses"] for each in fields}["id"] == ["filter"]


def test_read_fails_when_its_function_raises(spark: SparkSession, watch: Watch) -> None:
    def refuse(row: Any) -> None:
        raise ValueError("not this row")

    with pytest.raises(Exception, match="not this row"):
        spark.table("watched.orders").foreach(refuse)
    [(_, states)] = run_states(watch.events)
    assert states == ["START", "FAIL"]
    assert "not this row" in query_events(watch.events)[-1]["run"]["facets"]["errorMessage"]["message"]


def test_schema_inference_is_not_captured(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age\nAnn,7\n", encoding="utf-8")
    spark.read.csv(f"{tmp_path}/people.csv", header=True, inferSchema=True).select("age").collect()
    read = [
        [field["name"] for field in found["facets"]["colline_columnsRead"]["fields"]]
        for event in query_events(watch.events)
        if event["eventType"] == "COMPLETE"
        for found in event["inputs"]
    ]
    assert read == [["age"]]


def test_saving_a_model_is_not_captured(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.ml.regression import LinearRegression

    stages = [
        StringIndexer(inputCol="region", outputCol="region_index"),
        VectorAssembler(inputCols=["region_index", "id"], outputCol="features"),
        LinearRegression(featuresCol="features", labelCol="amount"),
    ]
    model = Pipeline(stages=stages).fit(spark.table("watched.orders"))
    watch.flush(30)
    captured = len(query_events(watch.events))
    model.write().overwrite().save(str(tmp_path / "model"))
    watch.flush(30)
    assert query_events(watch.events)[captured:] == []
    model.transform(spark.table("watched.orders")).select("prediction").collect()
    watch.flush(30)
    assert [event["eventType"] for event in query_events(watch.events)[captured:]] == ["START", "COMPLETE"]


def test_showing_the_result_of_a_command_is_not_a_run(spark: SparkSession, watch: Watch) -> None:
    spark.sql("create table watched.shown using parquet as select id from watched.orders").collect()
    spark.sql("insert into watched.shown select amount from watched.orders").show()
    spark.sql("from watched.orders insert into watched.shown select id insert into watched.shown select amount").count()
    spark.sql("show tables in watched").filter("tableName = 'shown'").count()
    writes = [event for event in query_events(watch.events) if event["eventType"] == "COMPLETE" and event["outputs"]]
    # before Spark 4 each part of a multi-insert is an execution of its own
    multi = [1, 1] if spark.version.startswith("3.") else [2]
    assert [len(event["outputs"]) for event in writes] == [1, 1, *multi]
    assert all("watched.shown" in event["job"]["facets"]["sql"]["query"] for event in writes)


def test_only_sql_statements_have_sql_text(spark: SparkSession, watch: Watch) -> None:
    spark.sql("create table watched.by_sql using parquet as select id from watched.orders")
    spark.sql("select id from watched.orders").write.saveAsTable("watched.by_frame")
    spark.sql("/* replace no table */ select id from watched.orders").write.format("parquet").saveAsTable("watched.too")
    facets = [
        event["job"]["facets"].get("sql") for event in query_events(watch.events) if event["eventType"] == "START"
    ]
    assert [facet and facet["query"][:12] for facet in facets] == ["create table", None, None]
