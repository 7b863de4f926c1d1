"""Plans that are too large, too deep or invalid: a partial lineage or Spark's own message, never a failed job."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture import listener
from colline.capture.analyze import QueryError, analyzed_plan, application_context
from colline.errors import CollineError
from colline.plan.decode import decode
from colline.trace.statement import statement

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> str:
    path = str(tmp_path / "orders")
    spark.range(3).selectExpr("id", "id * 2 as amount", "cast(id as string) as name").write.parquet(path)
    return f"parquet.`{path}`"


def test_plan_beyond_the_limit_depends_on_every_column_of_its_scans(
    spark: SparkSession, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MAX_PLAN_CHARS", 300)
    found = colline.lineage(f"select id + 1 as x from {table} where amount > 1", spark)
    assert [entry.column.field for entry in found.fields["x"]] == ["id", "amount", "name"]
    assert [(step.node, step.why) for step in found.opaque] == [("Unread", "the plan is larger than the limit")]


def test_write_beyond_the_limit_has_its_target(
    spark: SparkSession, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MAX_PLAN_CHARS", 300)
    watch = colline.attach(spark, transport={"type": "memory"})
    spark.sql(f"select id + 1 as x from {table} where amount > 1").write.parquet(str(tmp_path / "out"))
    assert watch.flush(30)
    events = [json.loads(event) if isinstance(event, bytes | str) else event for event in watch.events]
    watch.detach()
    [done] = [e for e in events if e["eventType"] == "COMPLETE" and e["outputs"]]
    assert done["outputs"][0]["name"] == str(tmp_path / "out")
    fields = done["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [entry["field"] for entry in fields["x"]["inputFields"]] == ["id", "amount", "name"]
    assert [step["node"] for step in done["run"]["facets"]["colline_opaque"]["steps"]] == ["Unread"]


def test_plan_of_1500_nested_filters_is_complete(spark: SparkSession, table: str) -> None:
    # the nodes are nested in the JVM, because the DataFrame API would analyze the chain again for each of them
    df = spark.sql(f"select id, amount from {table}").where("amount > 0")
    plan = df._jdf.queryExecution().analyzed()
    logical = spark._jvm.org.apache.spark.sql.catalyst.plans.logical
    condition = plan.condition()
    for _ in range(1500):
        plan = logical.Filter(condition, plan)
    data = listener.plan_json(spark, plan)
    assert sum(1 for node in data["nodes"] if data["classes"][node[0]][0] == "Filter") == 1501
    assert "partial" not in data


@pytest.mark.parametrize(
    ("sql", "error_class"),
    [
        ("selec 1", "PARSE_SYNTAX_ERROR"),
        ("select nope from range(3)", "UNRESOLVED_COLUMN"),
        ("select 1 from no_such_table", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_invalid_sql_is_reported_with_the_message_of_spark(sql: str, error_class: str, spark: SparkSession) -> None:
    with pytest.raises(QueryError) as caught:
        colline.lineage(sql, spark)
    assert error_class in caught.value.message
    assert caught.value.hint
    assert "Project [" not in caught.value.message


def test_session_without_a_jvm_is_rejected_with_a_hint() -> None:
    class Remote:
        """A Spark Connect session has none of the attributes of a classic one."""

    with pytest.raises(CollineError, match="no JVM") as caught:
        colline.lineage("select 1", Remote())
    assert "Spark Connect" in str(caught.value)


def test_rdd_of_unknown_origin_is_opaque_in_every_analysis(spark: SparkSession, table: str) -> None:
    text = spark.sparkContext.textFile(table.split("`")[1]).map(lambda line: (line,))
    df = spark.createDataFrame(text, "line string")
    for _ in range(2):
        assert [step.node for step in colline.lineage(df).opaque] == ["LogicalRDD"]


def test_statement_without_a_rule_has_the_inputs_of_its_query(spark: SparkSession, table: str, tmp_path: Path) -> None:
    text = f"insert overwrite directory '{tmp_path / 'out'}' using parquet select amount from {table} where id > 1"
    plan = listener.plan_json(spark, analyzed_plan(text, spark))
    for kind in plan["classes"]:
        kind[0] = kind[0].replace("InsertIntoDataSourceDirCommand", "StrangeCommand")
    found = statement(decode(plan), application_context(spark))
    assert found.writes == ()
    assert [(read.field, read.uses[0].value) for read in found.inputs[0].reads] == [
        ("amount", "value"),
        ("id", "filter"),
    ]
    assert [step.node for step in found.opaque] == ["StrangeCommand"]


def test_spark_raises_its_own_error_after_a_query_that_cannot_be_analyzed(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.Logger.manager.loggerDict.pop(name, None)  # as in a process in which no query has failed yet
    with pytest.raises(CollineError):
        colline.lineage("select absent from range(1)", spark)
    with pytest.raises(AnalysisException):
        spark.range(1).select("absent")
