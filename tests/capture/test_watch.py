"""A watch over a live session: real queries, real Delta, real threads."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.watch import Watch
from tests.capture.captured_events import of_queries, pairs
from tests.events.oracle import judged, without_empty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tables")]


@pytest.mark.delta
def test_a_delta_write_is_told_whole(spark: SparkSession, watch: Watch) -> None:
    statement = (
        "create or replace table watched.totals using delta as "
        "select region, sum(amount) as total from watched.orders where id > 1 group by region"
    )
    spark.sql(statement)
    began, ended = of_queries(watch.events)
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
def test_what_is_written_has_names_and_types(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    spark.sql("create table watched.kept (a int, b struct<x:int,y:string>) using delta")
    spark.sql("create table watched.counted using delta as select region, count(*) as n from watched.orders group by 1")
    spark.table("watched.orders").selectExpr("cast(id as double) as d").write.parquet(str(tmp_path / "out"))
    spark.sql("create view watched.seen as select id, region from watched.orders")
    schemas = [
        [(field["name"], field["type"]) for field in event["outputs"][0]["facets"]["schema"]["fields"]]
        for event in of_queries(watch.events)
        if event["eventType"] == "COMPLETE"
    ]
    assert schemas == [
        [("a", "int"), ("b", "struct<x:int,y:string>")],
        [("region", "string"), ("n", "bigint")],
        [("d", "double")],
        [("id", "bigint"), ("region", "string")],
    ]


@pytest.mark.delta
def test_an_iceberg_write_says_which_snapshot_it_made(spark: SparkSession, watch: Watch) -> None:
    if spark.conf.get("spark.sql.catalog.ice", None) is None:
        pytest.skip("no Iceberg is published for this Spark")
    spark.sql("create table ice.watched.`the copy` using iceberg as select id, region from watched.orders")
    spark.sql("insert into ice.watched.`the copy` select id + 100, region from watched.orders where id < 5")
    told = [
        (output["facets"]["version"]["datasetVersion"], output["outputFacets"]["outputStatistics"]["rowCount"])
        for event in of_queries(watch.events)
        if event["eventType"] == "COMPLETE"
        for output in event["outputs"]
    ]
    kept = spark.sql("select snapshot_id from ice.watched.`the copy`.snapshots order by committed_at").collect()
    assert told[:2] == [(str(kept[0][0]), 30), (str(kept[1][0]), 5)]
    spark.sql("drop table ice.watched.`the copy`")


def test_a_path_write_has_sparks_own_counts(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    spark.table("watched.orders").write.parquet(f"{tmp_path}/a copy")
    ended = of_queries(watch.events)[-1]
    (output,) = ended["outputs"]
    assert (output["namespace"], output["name"]) == ("file", f"{tmp_path}/a copy")
    statistics = output["outputFacets"]["outputStatistics"]
    assert statistics["rowCount"] == 30
    assert statistics["size"] > 0
    assert statistics["fileCount"] >= 1


def test_a_failing_query_fails_once_with_its_message(spark: SparkSession, watch: Watch) -> None:
    with pytest.raises(Exception, match="a told reason"):
        spark.sql("select raise_error('a told reason') from watched.orders").collect()
    assert pairs(watch.events) == [("colline tests.query", ["START", "FAIL"])]
    assert "a told reason" in watch.events[-1]["run"]["facets"]["errorMessage"]["message"]


@pytest.mark.delta
def test_one_action_is_one_run_however_many_executions_it_takes(
    spark: SparkSession, watch: Watch, tmp_path: Path
) -> None:
    spark.table("watched.orders").write.format("delta").save(f"{tmp_path}/d")
    spark.sql(f"update delta.`{tmp_path}/d` set amount = id + 1 where region = '1'")
    spark.sql(
        f"merge into delta.`{tmp_path}/d` t using watched.orders s on s.id = t.id "
        "when matched then update set amount = s.amount when not matched then insert *"
    )
    spark.sql(f"delete from delta.`{tmp_path}/d` where id < 3")
    spark.sql("show tables in watched").collect()
    assert [states for _, states in pairs(watch.events)] == [["START", "COMPLETE"]] * 4


def test_every_event_passes_the_clients_own_model(spark: SparkSession, watch: Watch) -> None:
    spark.sql("create table watched.copy using parquet as select * from watched.orders")
    spark.sql("alter table watched.copy add columns (note string)")
    spark.sql("drop table watched.copy")
    spark.sql("select count(*) from watched.orders").collect()
    events = watch.events
    assert len(events) > 4
    for event in events:
        assert judged(event) == without_empty(event)


def test_two_threads_with_two_jobs_never_mix(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    def work(name: str) -> None:
        with colline.job(name, tags={"thread": name}):
            for number in range(3):
                spark.table("watched.orders").write.parquet(f"{tmp_path}/{name}-{number}")

    names = ["left, é", "right job"]
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.table("watched.orders").count()
    found = of_queries(watch.events)
    for event in found:
        for output in event["outputs"]:
            written = output["name"].rpartition("/")[2].rpartition("-")[0]
            assert event["job"]["name"] == written
            assert event["job"]["facets"]["tags"]["tags"][0]["value"] == written
    assert sorted(name for name, _ in pairs(found)) == sorted(["colline tests.query", *names * 3])


def test_labels_nest_and_end(spark: SparkSession, watch: Watch) -> None:
    with colline.job("outer"):
        spark.table("watched.orders").count()
        with colline.job("inner", tags=["urgent"]):
            spark.table("watched.orders").count()
        spark.table("watched.orders").count()
    spark.table("watched.orders").count()

    @colline.job("by decorator")
    def work() -> None:
        spark.table("watched.orders").count()

    work()
    names = [name for name, _ in pairs(watch.events)]
    assert names == ["outer", "inner", "outer", "colline tests.query", "by decorator"]


def test_attached_twice_it_is_the_same_watch(spark: SparkSession, watch: Watch) -> None:
    assert colline.attach(spark) is watch
    assert colline.attach(spark.newSession(), transport={"type": "console"}) is watch


def test_every_session_of_the_application_is_watched(spark: SparkSession, watch: Watch) -> None:
    spark.newSession().table("watched.orders").count()
    assert len(pairs(watch.events)) == 1


def test_detached_it_hears_nothing_and_leaves_no_thread(spark: SparkSession) -> None:
    before = {thread.ident for thread in threading.enumerate()}
    first = colline.attach(spark, transport={"type": "memory"})
    spark.table("watched.orders").count()
    first.detach()
    first.detach()
    spark.table("watched.orders").count()
    assert len(pairs(first.events)) == 1
    assert [event["eventType"] for event in first.events] == ["START", "START", "COMPLETE", "COMPLETE"]
    assert {thread.ident for thread in threading.enumerate()} <= before
    names = [thread.getName() for thread in spark._jvm.java.lang.Thread.getAllStackTraces().keySet()]
    assert [name for name in names if name.startswith("colline")] == []
    again = colline.attach(spark, transport={"type": "memory"})
    assert again is not first
    spark.table("watched.orders").count()
    assert len(pairs(again.events)) == 1
    again.detach()


def test_detached_in_a_finally_the_application_failed(spark: SparkSession) -> None:
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


def test_a_broken_transport_harms_nobody(spark: SparkSession) -> None:
    class Broken:
        def emit(self, event: object) -> None:
            raise RuntimeError("no")

    watch = colline.attach(spark, transport=Broken())
    assert spark.table("watched.orders").count() == 30
    watch.flush(5)
    watch.detach(1)


def test_a_fault_in_tracing_is_counted_and_the_event_goes_out(spark: SparkSession, watch: Watch) -> None:
    def breaks(_plan: Any) -> Any:
        raise ZeroDivisionError("a defect of ours")

    watch._runs.analyse = breaks
    assert spark.table("watched.orders").count() == 30
    began, ended = of_queries(watch.events)
    assert ended["eventType"] == "COMPLETE"
    assert began["run"]["facets"]["colline_opaque"]["steps"][0]["why"] == "tracing failed: ZeroDivisionError"
    assert watch.stats.failures == 1


@pytest.mark.parametrize(
    "settings", [{"transport": {"type": "no such thing"}}, {"no_such_setting": 1}, {"disabled": True}], ids=str
)
def test_what_cannot_be_attached_says_so_and_fails_nothing(spark: SparkSession, settings: dict[str, Any]) -> None:
    found = colline.attach(spark, **settings)
    assert not found.is_attached
    assert found.flush() and found.events == []
    found.detach()


def test_settings_come_from_the_environment_too(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
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
    [({"lineage_facet": True}, "lineage"), ({"cartesian": True}, "columnLineage"), ({}, "columnLineage")],
    ids=str,
)
def test_the_form_of_lineage_is_a_setting(
    spark: SparkSession, tmp_path: Path, settings: dict[str, Any], where: str
) -> None:
    watch = colline.attach(spark, transport={"type": "memory"}, **settings)
    spark.sql("select region from watched.orders where id > 1").write.parquet(f"{tmp_path}/copy")
    ended = of_queries(watch.events)[-1]
    watch.detach()
    holder = ended["job"]["facets"] if where == "lineage" else ended["outputs"][0]["facets"]
    assert where in holder
    assert ("dataset" in holder[where]) == (settings == {})
    assert judged(ended) == without_empty(ended)


def test_literals_leave_only_where_they_may(spark: SparkSession) -> None:
    watch = colline.attach(spark, transport={"type": "memory"}, redact_literals=True)
    spark.sql(
        "create table watched.copied using parquet as "
        "select concat(region, 'Ann Example') as who from watched.orders where region <> 'Bob Example'"
    )
    told = str(watch.events)
    watch.detach()
    assert "Example" not in told
    assert "concat" in told


def test_memory_stays_flat(spark: SparkSession) -> None:
    class Nowhere:
        def emit(self, event: object) -> None:
            pass

    watch = colline.attach(spark, transport=Nowhere())
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
