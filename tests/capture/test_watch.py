"""Capture in a live session: real queries, real Delta, real threads."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pyspark.errors import AnalysisException

import colline
from colline.capture.watch import Watch
from tests.capture.captured_events import query_events, run_states
from tests.events.oracle import round_trip, without_empty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tables")]


@pytest.mark.delta
def test_delta_write_has_complete_events(spark: SparkSession, watch: Watch) -> None:
    statement = (
        "create or replace table watched.totals using delta as "
        "select region, sum(amount) as total from watched.orders where id > 1 group by region"
    )
    spark.sql(statement)
    began, ended = query_events(watch.events)
    assert [began["eventType"], ended["eventType"]] == ["START", "COMPLETE"]
    for event in (began, ended):
        assert event["job"] | {"facets": None} == {
            "namespace": "tests",
            "name": "colline tests.watched.totals",
            "facets": None,
        }
        assert event["job"]["facets"]["sql"]["query"] == statement
        assert event["run"]["facets"]["parent"]["run"]["runId"] == watch.application_run
        (output,) = event["outputs"]
        lineage = output["facets"]["columnLineage"]
        assert sorted(lineage["fields"]) == ["region", "total"]
        (total,) = lineage["fields"]["total"]["inputFields"]
        assert total["name"].endswith("/watched.db/orders")
        assert total["transformations"][0]["subtype"] == "AGGREGATION"
        subtypes = {each["transformations"][0]["subtype"] for each in lineage["dataset"]}
        assert subtypes == {"FILTER", "GROUP_BY"}
        assert output["facets"]["symlinks"]["identifiers"][0]["name"] == "watched.totals"
        assert output["facets"]["storage"]["storageLayer"] == "delta"
        assert [each["name"] for each in event["inputs"]] == [total["name"]]
    assert ended["outputs"][0]["facets"]["version"]["datasetVersion"] == "0"
    assert ended["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert began["eventTime"] <= ended["eventTime"]


@pytest.mark.delta
def test_outputs_have_a_schema_with_names_and_types(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    spark.sql("create table watched.created (a int, b struct<x:int,y:string>) using delta")
    spark.sql("create table watched.counted using delta as select region, count(*) as n from watched.orders group by 1")
    spark.table("watched.orders").selectExpr("cast(id as double) as d").write.parquet(str(tmp_path / "out"))
    spark.sql("create view watched.a_view as select id, region from watched.orders")
    schemas = [
        [(field["name"], field["type"]) for field in event["outputs"][0]["facets"]["schema"]["fields"]]
        for event in query_events(watch.events)
        if event["eventType"] == "COMPLETE"
    ]
    assert schemas == [
        [("a", "int"), ("b", "struct<x:int,y:string>")],
        [("region", "string"), ("n", "bigint")],
        [("d", "double")],
        [("id", "bigint"), ("region", "string")],
    ]


@pytest.mark.delta
def test_iceberg_write_has_its_snapshot_id(spark: SparkSession, watch: Watch) -> None:
    if spark.conf.get("spark.sql.catalog.ice", None) is None:
        pytest.skip("no Iceberg is published for this Spark")
    spark.sql("create table ice.watched.`the copy` using iceberg as select id, region from watched.orders")
    spark.sql("insert into ice.watched.`the copy` select id + 100, region from watched.orders where id < 5")
    versions = [
        (output["facets"]["version"]["datasetVersion"], output["outputFacets"]["outputStatistics"]["rowCount"])
        for event in query_events(watch.events)
        if event["eventType"] == "COMPLETE"
        for output in event["outputs"]
    ]
    snapshots = spark.sql("select snapshot_id from ice.watched.`the copy`.snapshots order by committed_at").collect()
    assert versions[:2] == [(str(snapshots[0][0]), 30), (str(snapshots[1][0]), 5)]
    spark.sql("drop table ice.watched.`the copy`")


def test_write_to_a_path_has_the_counts_of_sparks_metrics(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    spark.table("watched.orders").write.parquet(f"{tmp_path}/a copy")
    ended = query_events(watch.events)[-1]
    (output,) = ended["outputs"]
    assert (output["namespace"], output["name"]) == ("file", f"{tmp_path}/a copy")
    statistics = output["outputFacets"]["outputStatistics"]
    assert statistics["rowCount"] == 30
    assert statistics["size"] > 0
    assert statistics["fileCount"] >= 1


def test_failing_query_has_one_fail_event_with_its_message(spark: SparkSession, watch: Watch) -> None:
    with pytest.raises(Exception, match="the reason"):
        spark.sql("select raise_error('the reason') from watched.orders").collect()
    assert run_states(watch.events) == [("colline tests.query", ["START", "FAIL"])]
    assert "the reason" in watch.events[-1]["run"]["facets"]["errorMessage"]["message"]


@pytest.mark.delta
@pytest.mark.skipif(pyspark.__version__.startswith("3."), reason="PySpark 3 does not log errors of queries")
def test_query_errors_are_the_same_after_an_analysis(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        monkeypatch.delitem(logging.root.manager.loggerDict, name, raising=False)  # as in a new process
    colline.lineage("select 1 as a", spark)
    with pytest.raises(AnalysisException):
        spark.sql("select absent from values (1) as t(a)")


def test_action_with_several_executions_is_one_run(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    spark.table("watched.orders").write.format("delta").save(f"{tmp_path}/d")
    spark.sql(f"update delta.`{tmp_path}/d` set amount = id + 1 where region = '1'")
    spark.sql(
        f"merge into delta.`{tmp_path}/d` t using watched.orders s on s.id = t.id "
        "when matched then update set amount = s.amount when not matched then insert *"
    )
    spark.sql(f"delete from delta.`{tmp_path}/d` where id < 3")
    spark.sql("show tables in watched").collect()
    assert [states for _, states in run_states(watch.events)] == [["START", "COMPLETE"]] * 4


def test_every_event_is_accepted_by_the_openlineage_client(spark: SparkSession, watch: Watch) -> None:
    spark.sql("create table watched.copy using parquet as select * from watched.orders")
    spark.sql("alter table watched.copy add columns (note string)")
    spark.sql("drop table watched.copy")
    spark.sql("select count(*) from watched.orders").collect()
    events = watch.events
    assert len(events) > 4
    for event in events:
        assert round_trip(event) == without_empty(event)


def test_job_labels_of_two_threads_do_not_mix(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    def write_three(name: str) -> None:
        with colline.job(name, tags={"thread": name}):
            for number in range(3):
                spark.table("watched.orders").write.parquet(f"{tmp_path}/{name}-{number}")

    names = ["left, é", "right job"]
    threads = [threading.Thread(target=write_three, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.table("watched.orders").count()
    found = query_events(watch.events)
    for event in found:
        for output in event["outputs"]:
            written = output["name"].rpartition("/")[2].rpartition("-")[0]
            assert event["job"]["name"] == written
            assert event["job"]["facets"]["tags"]["tags"][0]["value"] == written
    assert sorted(name for name, _ in run_states(found)) == sorted(["colline tests.query", *names * 3])


def test_job_labels_nest_and_end(spark: SparkSession, watch: Watch) -> None:
    with colline.job("outer"):
        spark.table("watched.orders").count()
        with colline.job("inner", tags=["urgent"]):
            spark.table("watched.orders").count()
        spark.table("watched.orders").count()
    spark.table("watched.orders").count()

    @colline.job("by decorator")
    def count() -> None:
        spark.table("watched.orders").count()

    count()
    names = [name for name, _ in run_states(watch.events)]
    assert names == ["outer", "inner", "outer", "colline tests.query", "by decorator"]


def test_job_labels_of_asyncio_tasks_do_not_mix(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    def write(name: str) -> None:
        spark.table("watched.orders").write.parquet(f"{tmp_path}/{name}")

    async def write_three(name: str, waits: float) -> None:
        with colline.job(name):
            await asyncio.sleep(waits)
            write(f"{name}-1")
            await asyncio.sleep(0.2 - waits)
            write(f"{name}-2")
            await asyncio.to_thread(write, f"{name}-3")

    async def write_all() -> None:
        await asyncio.gather(write_three("early", 0.0), write_three("late", 0.1))
        await asyncio.to_thread(write, "unnamed-1")

    asyncio.run(write_all())
    found = {(output["name"].rpartition("/")[2], e["job"]["name"]) for e in watch.events for output in e["outputs"]}
    named = {(f"{name}-{number}", name) for name in ("early", "late") for number in (1, 2, 3)}
    assert found == {*named, ("unnamed-1", "colline tests.unnamed-1")}


def test_job_label_survives_clear_job_tags_and_is_passed_to_pools(spark: SparkSession, watch: Watch) -> None:
    with colline.job("outer"), ThreadPoolExecutor(1) as pool:
        spark.sparkContext.addJobTag("mine")
        spark.sparkContext.clearJobTags()
        spark.table("watched.orders").count()
        pool.submit(contextvars.copy_context().run, spark.table("watched.orders").count).result()
        pool.submit(spark.table("watched.orders").count).result()
    spark.table("watched.orders").count()
    assert not set(spark.sparkContext.getJobTags())
    names = [name for name, _ in run_states(watch.events)]
    assert names == ["outer", "outer", "colline tests.query", "colline tests.query"]


def test_job_label_replaces_the_one_of_the_parent_thread(spark: SparkSession, watch: Watch) -> None:
    from pyspark import InheritableThread

    def count_twice() -> None:
        with colline.job("inner"):
            spark.table("watched.orders").count()
        spark.table("watched.orders").count()

    with colline.job("outer"):
        thread = InheritableThread(target=count_twice)
        thread.start()
        thread.join()
    assert [name for name, _ in run_states(watch.events)] == ["inner", "outer"]


def test_second_attach_returns_the_same_watch(spark: SparkSession, watch: Watch) -> None:
    assert colline.attach(spark) is watch
    assert colline.attach(spark.newSession(), transport={"type": "console"}) is watch


def test_every_session_of_the_application_is_captured(spark: SparkSession, watch: Watch) -> None:
    spark.newSession().table("watched.orders").count()
    assert len(run_states(watch.events)) == 1


def test_detached_watch_captures_nothing_and_leaves_no_thread(spark: SparkSession) -> None:
    before = {thread.ident for thread in threading.enumerate()}
    first = colline.attach(spark, transport={"type": "memory"})
    spark.table("watched.orders").count()
    first.detach()
    first.detach()
    spark.table("watched.orders").count()
    assert len(run_states(first.events)) == 1
    assert [event["eventType"] for event in first.events] == ["START", "START", "COMPLETE", "COMPLETE"]
    assert {thread.ident for thread in threading.enumerate()} <= before
    names = [thread.getName() for thread in spark._jvm.java.lang.Thread.getAllStackTraces().keySet()]
    assert [name for name in names if name.startswith("colline")] == []
    again = colline.attach(spark, transport={"type": "memory"})
    assert again is not first
    spark.table("watched.orders").count()
    assert len(run_states(again.events)) == 1
    again.detach()


def test_detach_in_a_finally_block_fails_the_application(spark: SparkSession) -> None:
    watch = colline.attach(spark, transport={"type": "memory"})
    with pytest.raises(ValueError, match="in the script"):
        try:
            raise ValueError("in the script")
        finally:
            watch.detach()
    last = watch.events[-1]
    assert (last["eventType"], last["run"]["facets"]["errorMessage"]["message"]) == (
        "FAIL",
        "ValueError: in the script",
    )


def test_detach_after_a_handled_error_completes_the_application(spark: SparkSession) -> None:
    watch = colline.attach(spark, transport={"type": "memory"})
    try:
        raise ValueError("handled")
    except ValueError:
        watch.detach()
    assert watch.events[-1]["eventType"] == "COMPLETE"


def test_broken_transport_does_not_affect_the_job(spark: SparkSession) -> None:
    class Broken:
        def emit(self, event: object) -> None:
            raise RuntimeError("no")

    watch = colline.attach(spark, transport=Broken())
    assert spark.table("watched.orders").count() == 30
    watch.flush(5)
    watch.detach(1)


def test_error_in_tracing_is_counted_and_the_event_is_sent(spark: SparkSession, watch: Watch) -> None:
    def fail(_plan: Any) -> Any:
        raise ZeroDivisionError("a bug in colline")

    watch._tracker.analyze = fail
    assert spark.table("watched.orders").count() == 30
    began, ended = query_events(watch.events)
    assert ended["eventType"] == "COMPLETE"
    assert began["run"]["facets"]["colline_opaque"]["steps"][0]["why"] == "tracing failed: ZeroDivisionError"
    assert watch.stats.failures == 1


@pytest.mark.parametrize(
    "settings", [{"transport": {"type": "unknown"}}, {"no_such_setting": 1}, {"disabled": True}], ids=str
)
def test_failed_attach_returns_an_inactive_watch(spark: SparkSession, settings: dict[str, Any]) -> None:
    watch = colline.attach(spark, **settings)
    assert not watch.is_attached
    assert watch.flush() and watch.events == []
    watch.detach()


def test_settings_are_read_from_the_environment(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = "0190a0b0-0000-7000-8000-000000000001"
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"airflow/dag.task/{outer}")
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "from outside")
    watch = colline.attach(spark, transport={"type": "memory"})
    spark.table("watched.orders").count()
    application, query = watch.events[:2]
    watch.detach()
    assert application["run"]["facets"]["parent"]["run"]["runId"] == outer
    assert application["job"]["namespace"] == "from outside"
    assert query["run"]["facets"]["parent"]["root"]["run"]["runId"] == outer


@pytest.mark.parametrize(
    ("settings", "where"),
    [({"lineage_facet": "new"}, "lineage"), ({"cartesian": True}, "columnLineage"), ({}, "columnLineage")],
    ids=str,
)
def test_lineage_form_follows_the_setting(
    spark: SparkSession, tmp_path: Path, settings: dict[str, Any], where: str
) -> None:
    watch = colline.attach(spark, transport={"type": "memory"}, **settings)
    spark.sql("select region from watched.orders where id > 1").write.parquet(f"{tmp_path}/copy")
    ended = query_events(watch.events)[-1]
    watch.detach()
    holder = ended["job"]["facets"] if where == "lineage" else ended["outputs"][0]["facets"]
    assert where in holder
    assert ("dataset" in holder[where]) == (settings == {})
    assert round_trip(ended) == without_empty(ended)


def test_literals_are_redacted_when_configured(spark: SparkSession) -> None:
    watch = colline.attach(spark, transport={"type": "memory"}, redact_literals=True)
    spark.sql(
        "create table watched.copied using parquet as "
        "select concat(region, 'Ann Example') as who from watched.orders where region <> 'Bob Example'"
    )
    text = str(watch.events)
    watch.detach()
    assert "Example" not in text
    assert "concat" in text


def test_memory_does_not_grow_with_queries(spark: SparkSession) -> None:
    class Discard:
        def emit(self, event: object) -> None:
            pass

    watch = colline.attach(spark, transport=Discard())
    frame = spark.range(3).selectExpr("id", "id + 1 as next")
    sizes = []
    for _ in range(3):
        for _ in range(40):
            frame.collect()
        watch.flush(30)
        gc.collect()
        sizes.append(len(gc.get_objects()))
    runs = watch.stats
    watch.detach()
    assert (runs.open, runs.runs.completed) == (0, 120)
    assert sizes[2] - sizes[1] < 2_000
