"""A client whose server is another process: its requests are recorded, and their plans analyzed in a child process."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.watch import Watch
from tests.capture.captured_events import Event, query_events, run_states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def last_run(watch: Watch) -> tuple[Event, Event]:
    """START and the final event of the last run."""
    assert watch.flush(400)
    events = query_events(watch.events)
    run = events[-1]["run"]["runId"]
    start, end = (event for event in events if event["run"]["runId"] == run)
    return start, end


def short_names(datasets: list[dict[str, Any]]) -> list[str]:
    return [dataset["name"].rsplit("/", 1)[-1] for dataset in datasets]


def columns(output: dict[str, Any]) -> dict[str, list[str]]:
    fields = output["facets"]["columnLineage"]["fields"]
    return {name: [each["field"] for each in entry["inputFields"]] for name, entry in fields.items()}


def test_start_has_names_and_the_final_event_has_columns(remote: SparkSession, client_watch: Watch) -> None:
    remote.table("orders").where("amount > 1").select("id", "region").write.mode("overwrite").saveAsTable("copied")
    start, end = last_run(client_watch)
    assert [short_names(start["inputs"]), short_names(start["outputs"])] == [["orders"], ["copied"]]
    assert "columnLineage" not in start["outputs"][0]["facets"]
    assert [end["eventType"], end["job"]["name"]] == ["COMPLETE", "colline tests.default.copied"]
    assert [start[side][0]["name"] for side in ("inputs", "outputs")] == [
        end[side][0]["name"] for side in ("inputs", "outputs")
    ]
    assert columns(end["outputs"][0]) == {"id": ["id"], "region": ["region"]}
    assert [each["field"] for each in end["outputs"][0]["facets"]["columnLineage"]["dataset"]] == ["amount"]
    assert [field["name"] for field in end["inputs"][0]["facets"]["schema"]["fields"]] == ["id", "region", "amount"]


def test_sql_text_that_is_a_query_runs_when_its_rows_are_fetched(remote: SparkSession, client_watch: Watch) -> None:
    query = remote.sql("select upper(region) as r from orders where id > 3")
    assert query_events(client_watch.events) == []
    query.collect()
    _, end = last_run(client_watch)
    assert [short_names(end["inputs"]), end["outputs"]] == [["orders"], []]
    assert run_states(client_watch.events) == [("colline tests.query", ["START", "COMPLETE"])]


def test_the_rows_of_a_command_are_not_a_second_run(remote: SparkSession, client_watch: Watch) -> None:
    remote.sql("insert into orders select id, email, 0.5 from customers").collect()
    _, end = last_run(client_watch)
    assert columns(end["outputs"][0]) == {"id": ["id"], "region": ["email"], "amount": []}
    remote.sql("show tables").collect()
    remote.sql("set spark.sql.ansi.enabled").show()
    assert len(run_states(client_watch.events)) == 1


def test_lineage_leads_through_temporary_views_of_the_session(remote: SparkSession, client_watch: Watch) -> None:
    remote.table("orders").where("id > 0").createOrReplaceTempView("recent")
    remote.sql("create or replace temporary view named as select region as name from recent")
    remote.sql("select * from named").write.mode("overwrite").saveAsTable("from_view")
    start, end = last_run(client_watch)
    assert short_names(start["inputs"]) == short_names(end["inputs"]) == ["orders"]
    assert columns(end["outputs"][0]) == {"name": ["region"]}
    assert len(run_states(client_watch.events)) == 1


def test_files_are_read_with_the_schema_of_the_server(
    remote: SparkSession, client_watch: Watch, tmp_path: Path
) -> None:
    remote.table("orders").select("id").write.parquet(str(tmp_path / "files"))
    remote.read.parquet(str(tmp_path / "files")).write.mode("overwrite").saveAsTable("from_files")
    _, end = last_run(client_watch)
    assert [each["name"] for each in end["inputs"]] == [str(tmp_path / "files")]
    assert columns(end["outputs"][0]) == {"id": ["id"]}


def test_the_masking_verdict_of_a_function_is_kept(remote: SparkSession, client_watch: Watch) -> None:
    from pyspark.sql.connect.functions import udf
    from pyspark.sql.types import StringType

    token = udf(lambda email: hashlib.sha256(email.encode()).hexdigest(), StringType())
    trim = udf(lambda email: email.strip(), StringType())
    frame = remote.table("customers").select(token("email").alias("token"), trim("email").alias("trimmed"))
    frame.writeTo("hashed").using("delta").createOrReplace()
    _, end = last_run(client_watch)
    fields = end["outputs"][0]["facets"]["columnLineage"]["fields"]
    masking = {name: entry["inputFields"][0]["transformations"][0]["masking"] for name, entry in fields.items()}
    assert masking == {"token": True, "trimmed": False}


def test_job_names_of_a_session_that_is_not_the_default(remote: SparkSession, client_watch: Watch) -> None:
    with colline.job("nightly"):
        remote.table("orders").count()
    assert run_states(client_watch.events) == [("nightly", ["START", "COMPLETE"])]


def test_a_failed_query_fails_and_a_wrong_one_has_no_run(remote: SparkSession, client_watch: Watch) -> None:
    from pyspark.errors import PySparkException

    remote.sql("insert into orders values (1, 'north', 2.0)")
    with pytest.raises(PySparkException, match="boom"):
        remote.sql("select raise_error('boom') as x from orders").collect()
    for text in ("selec 1", "select * from absent"):
        with pytest.raises(PySparkException):
            remote.sql(text).collect()
    _, end = last_run(client_watch)
    assert "boom" in end["run"]["facets"]["errorMessage"]["message"]
    assert "at org.apache.spark" not in end["run"]["facets"]["errorMessage"]["message"]
    assert run_states(client_watch.events)[1:] == [("colline tests.query", ["START", "FAIL"])]


def test_a_plan_that_cannot_be_analyzed_has_names_and_no_columns(remote: SparkSession, client_watch: Watch) -> None:
    remote.sql("begin declare n int default 3; insert into orders select n, email, 0.5 from customers; end").collect()
    _, end = last_run(client_watch)
    [step] = end["run"]["facets"]["colline_opaque"]["steps"]
    assert step["why"].startswith("plan not resolved: ")


def test_a_pivot_without_values_gets_the_columns_of_its_result(remote: SparkSession, client_watch: Watch) -> None:
    remote.sql("insert into orders values (1, 'north', 2.0), (2, 'south', 3.0)")
    remote.table("orders").groupBy("id").pivot("region").sum("amount").collect()
    _, end = last_run(client_watch)
    assert "colline_opaque" not in end["run"]["facets"]
    assert short_names(end["inputs"]) == ["orders"]


def test_detach_restores_the_client_exactly(remote: SparkSession) -> None:
    before = dict(vars(remote.client))
    watch = colline.attach(remote, transport={"type": "memory"})
    assert isinstance(watch, Watch)
    assert vars(remote.client).keys() - before.keys() == {"_execute", "_execute_and_fetch_as_iterator"}
    assert colline.attach(remote) is watch
    watch.detach()
    assert vars(remote.client) == before
    remote.table("orders").count()
    assert query_events(watch.events) == []


def test_a_second_wrapper_around_the_client_survives_detach(remote: SparkSession) -> None:
    watch = colline.attach(remote, transport={"type": "memory"})
    inner = remote.client._execute_and_fetch_as_iterator
    calls = []

    def outer(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return inner(*arguments, **named)

    remote.client._execute_and_fetch_as_iterator = outer
    try:
        watch.detach()
        assert remote.client._execute_and_fetch_as_iterator is outer
        assert remote.table("orders").count() >= 0
        assert len(calls) == 1
    finally:
        del remote.client._execute_and_fetch_as_iterator


def test_a_stream_is_one_run_with_its_lineage(remote: SparkSession, client_watch: Watch, tmp_path: Path) -> None:
    remote.sql("insert into orders values (1, 'north', 2.0)")
    rows = remote.readStream.table("orders").where("amount > 1").select("id", "region")
    writer = rows.writeStream.format("delta").option("checkpointLocation", str(tmp_path / "progress"))
    stream = writer.queryName("copying").trigger(availableNow=True).start(str(tmp_path / "streamed"))
    stream.awaitTermination()
    assert client_watch.flush(400)
    events = [event for event in query_events(client_watch.events) if event["job"]["name"].endswith(".copying")]
    assert [events[0]["eventType"], events[-1]["eventType"]] == ["START", "COMPLETE"]
    assert len({event["run"]["runId"] for event in events}) == 1
    assert [each["name"] for each in events[-1]["outputs"]] == [str(tmp_path / "streamed")]
    assert columns(events[-1]["outputs"][0]) == {"id": ["id"], "region": ["region"]}


def test_a_stream_that_fails_is_a_failed_run(remote: SparkSession, client_watch: Watch, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    remote.sql("insert into orders values (1, 'north', 2.0)")
    rows = remote.readStream.table("orders").selectExpr("raise_error(region) as x")
    writer = rows.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "progress"))
    stream = writer.trigger(availableNow=True).start(str(tmp_path / "failing"))
    with pytest.raises(PySparkException):
        stream.awaitTermination()
    assert client_watch.flush(400)
    last = query_events(client_watch.events)[-1]
    assert [last["eventType"], last["job"]["name"]] == ["FAIL", "colline tests.failing"]
    assert "north" in last["run"]["facets"]["errorMessage"]["message"]
