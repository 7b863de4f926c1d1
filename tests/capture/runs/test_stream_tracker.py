"""Streams: one run each, for recorded messages and for live queries."""

from __future__ import annotations

import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.runs.application import Application
from colline.capture.runs.run_tracker import RunTracker
from colline.capture.watch import Watch
from colline.events.event_context import Engine, RunName
from colline.events.model import RunState
from colline.events.run_ids import run_id
from colline.plan.source import Source, SourceKind
from colline.trace import (
    ColumnLineage,
    ColumnRef,
    DatasetName,
    DatasetRead,
    Dependency,
    Effect,
    SchemaField,
    Statement,
    Transformation,
    Write,
)
from tests.events.oracle import round_trip, without_empty

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN = "00a1596f-d51f-4d97-9ce3-2cff71023e7f"
IN = DatasetRead(DatasetName("file", "/in"), Source(SourceKind.PATH, "parquet", ("/in",)))


def write(path: str, *columns: str) -> Write:
    effects = (Transformation(Effect.IDENTITY),)
    fields = {name: (Dependency(ColumnRef(IN.name, name), effects),) for name in columns}
    schema = tuple(SchemaField(name, "int") for name in columns)
    lineage = ColumnLineage(fields, inputs=(IN,))
    return Write(DatasetName("file", path), Source(SourceKind.PATH, "", (path,)), lineage, schema)


STATEMENTS = {
    "stream": Statement((write("/out"),), (IN,)),
    "batch": Statement((), (IN,)),
    "nested": Statement((write("/nested", "a"),), ()),
    "wider": Statement((write("/nested", "a", "b"),), ()),
}


def new_tracker() -> RunTracker:
    application = Application(RunName("shop", "etl", run_id()), Engine("4.1.4"))
    return RunTracker(application, lambda plan: STATEMENTS[plan["what"]])


def plan(what: str, root: str = "WriteToMicroBatchDataSourceV1") -> dict[str, Any]:
    return {"what": what, "classes": [[root, "p", [], None]], "nodes": [[0]], "root": 0}


def message(kind: str, seconds: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "time": (1_700_000_000 + seconds) * 1000, **more}


def batch(number: int, seconds: int, what: str = "stream", **more: Any) -> dict[str, Any]:
    text = f"my stream\nid = {RUN}\nrunId = {RUN}\nbatch = {number}"
    return message("start", seconds, id=number, text=text, plan=plan(what), **more)


def handle_all(tracker: RunTracker, *messages: dict[str, Any]) -> list[Any]:
    return [event for each in messages for event in tracker.handle(each)]


def test_stream_with_several_batches_is_one_run() -> None:
    tracker = new_tracker()
    counts = {"numOutputRows": 5, "numFiles": 1}
    events = handle_all(
        tracker,
        message("stream_start", 0, run=RUN),
        batch(0, 1),
        message("end", 2, id=0, metrics=counts),
        message("stream_progress", 3, run=RUN),
        batch(1, 4),
        message("end", 5, id=1, metrics=counts),
        message("stream_progress", 6, run=RUN),
        batch(2, 64),
        message("end", 65, id=2, metrics=counts),
        message("stream_progress", 66, run=RUN),
        message("stream_end", 70, run=RUN),
    )
    states = [event.event_type for event in events]
    assert states == [RunState.START, RunState.RUNNING, RunState.RUNNING, RunState.COMPLETE]
    assert len({event.run.run_id for event in events}) == 1
    began, first, second, ended = events
    assert "columnLineage" in began.outputs[0].facets
    assert "columnLineage" not in first.outputs[0].facets
    rows = [event.outputs[0].output_facets["outputStatistics"]["rowCount"] for event in (first, second, ended)]
    assert rows == [5, 15, 15]
    assert began.job.facets["jobType"]["processingType"] == "STREAMING"
    assert (tracker.open_count, tracker.counts.started, tracker.counts.completed) == (0, 1, 1)


def test_foreach_batch_writes_belong_to_the_stream_and_keep_its_job_name() -> None:
    events = handle_all(
        new_tracker(),
        message("stream_start", 0, run=RUN),
        batch(0, 1, "batch"),
        message("nested", 1, id=7, root=0, plan=plan("nested")),
        message("end", 2, id=0),
        message("stream_progress", 3, run=RUN),
        message("stream_end", 4, run=RUN),
    )
    assert [event.event_type for event in events] == [RunState.START, RunState.RUNNING, RunState.COMPLETE]
    assert [[output.name for output in event.outputs] for event in events] == [["/nested"]] * 3
    assert "columnLineage" in events[0].outputs[0].facets
    assert {event.job.name for event in events} == {"etl.nested"}


def test_command_without_an_output_in_foreach_batch_does_not_name_the_job() -> None:
    events = handle_all(
        new_tracker(),
        message("stream_start", 0, run=RUN),
        batch(0, 1, "batch"),
        message("nested", 1, id=6, root=0, plan=plan("batch")),
        message("nested", 1, id=7, root=0, plan=plan("nested")),
        message("end", 2, id=0),
        message("stream_end", 4, run=RUN),
    )
    assert [event.event_type for event in events] == [RunState.START, RunState.COMPLETE]
    assert {event.job.name for event in events} == {"etl.nested"}


def test_writes_of_one_output_in_foreach_batch_are_united() -> None:
    events = handle_all(
        new_tracker(),
        message("stream_start", 0, run=RUN),
        batch(0, 1, "batch"),
        message("nested", 1, id=7, root=0, plan=plan("nested")),
        message("nested", 1, id=8, root=0, plan=plan("wider")),
        message("end", 2, id=0),
        batch(1, 3, "batch"),
        message("nested", 4, id=9, root=1, plan=plan("nested")),
        message("end", 5, id=1),
        message("stream_end", 6, run=RUN),
    )
    facets = events[-1].outputs[0].facets
    assert list(facets["columnLineage"]["fields"]) == ["a", "b"]
    assert [field["name"] for field in facets["schema"]["fields"]] == ["a", "b"]


def test_stream_without_a_batch_has_the_lineage_of_its_definition() -> None:
    tracker = new_tracker()
    events = handle_all(
        tracker,
        message("stream_start", 0, run=RUN, query="q", plan=plan("stream", root="WriteToStream")),
        message("stream_end", 4, run=RUN),
    )
    assert [(event.event_type, event.job.name) for event in events] == [
        (RunState.START, "etl.out"),
        (RunState.COMPLETE, "etl.out"),
    ]
    assert [output.name for output in events[0].outputs] == ["/out"]


def test_restarted_stream_without_a_batch_keeps_the_name_of_its_job() -> None:
    tracker = new_tracker()
    handle_all(
        tracker,
        message("stream_start", 0, run=RUN, query="q"),
        batch(0, 1, "batch"),
        message("nested", 1, id=7, root=0, plan=plan("nested")),
        message("stream_end", 2, run=RUN),
    )
    events = handle_all(tracker, message("stream_start", 3, run=RUN, query="q"), message("stream_end", 4, run=RUN))
    assert {event.job.name for event in events} == {"etl.nested"}


def test_stream_that_started_before_attach_is_a_run() -> None:
    events = handle_all(new_tracker(), batch(7, 1), message("end", 2, id=7), message("stream_end", 3, run=RUN))
    assert [event.event_type for event in events] == [RunState.START, RunState.COMPLETE]
    assert events[0].outputs[0].name == "/out"


def test_stream_that_fails_before_its_first_batch_has_its_error() -> None:
    events = handle_all(
        new_tracker(),
        message("stream_start", 0, run=RUN, text="named"),
        message("stream_end", 4, run=RUN, text="org.x.Boom: no\n\tat a\n\tat b"),
    )
    assert [event.event_type for event in events] == [RunState.START, RunState.FAIL]
    assert events[1].run.facets["errorMessage"]["message"] == "org.x.Boom: no"
    assert events[1].job.name == "etl.named"


def test_query_of_a_source_inside_a_batch_is_ignored() -> None:
    inner = batch(0, 1)
    inner["plan"] = plan("batch", root="DeserializeToObject")
    events = handle_all(
        new_tracker(),
        message("stream_start", 0, run=RUN),
        inner,
        message("end", 2, id=0),
        batch(1, 3),
        message("end", 4, id=1),
    )
    assert [(event.event_type, event.outputs[0].name) for event in events] == [(RunState.START, "/out")]


def test_running_stream_is_aborted_when_the_application_ends() -> None:
    tracker = new_tracker()
    handle_all(tracker, message("stream_start", 0, run=RUN), batch(0, 1))
    events = tracker.finish(datetime.now(timezone.utc))
    assert [event.event_type for event in events] == [RunState.ABORT, RunState.COMPLETE]


@pytest.mark.spark
def test_live_streams_have_one_run_and_lineage_through_foreach_batch(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(10).selectExpr("id", "id * 2 as v").write.parquet(f"{tmp_path}/in")
    schema = spark.read.parquet(f"{tmp_path}/in").schema
    source = spark.readStream.schema(schema).parquet(f"{tmp_path}/in").where("id > 2").selectExpr("id", "v + 1 as w")

    def write_twice(frame: DataFrame, _number: int) -> None:
        frame.write.mode("append").parquet(f"{tmp_path}/one")
        frame.selectExpr("w * 2 as x").write.mode("append").parquet(f"{tmp_path}/two")

    def stream_writer(name: str) -> Any:
        return (
            source.writeStream.queryName(name)
            .option("checkpointLocation", f"{tmp_path}/{name}")
            .trigger(availableNow=True)
        )

    watch = colline.attach(spark, transport={"type": "memory"})
    assert isinstance(watch, Watch)
    stream_writer("plain").format("parquet").start(f"{tmp_path}/out").awaitTermination(120)
    stream_writer("each").foreachBatch(write_twice).start().awaitTermination(120)
    events = [event for event in watch.events if event["job"]["name"].startswith("colline tests.")]
    watch.detach()
    for event in events:
        assert round_trip(event) == without_empty(event)
    plain = [event for event in events if event["job"]["name"].endswith(".plain")]
    each = [event for event in events if event["job"]["name"].endswith(".each")]
    assert len(plain) + len(each) == len(events)
    for found in (plain, each):
        states = [event["eventType"] for event in found]
        assert (states[0], states[-1]) == ("START", "COMPLETE")
        assert set(states[1:-1]) <= {"RUNNING"}
        assert len({event["run"]["runId"] for event in found}) == 1
    (out,) = plain[-1]["outputs"]
    assert out["name"] == f"{tmp_path}/out"
    assert out["outputFacets"]["outputStatistics"]["rowCount"] == 7
    one, two = each[-1]["outputs"]
    assert (one["name"], two["name"]) == (f"{tmp_path}/one", f"{tmp_path}/two")
    (x,) = two["facets"]["columnLineage"]["fields"]["x"]["inputFields"]
    assert (x["name"], x["field"]) == (f"{tmp_path}/in", "v")
    (kept,) = two["facets"]["columnLineage"]["dataset"]
    assert (kept["field"], kept["transformations"][0]["subtype"]) == ("id", "FILTER")
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.spark
def test_file_stream_reads_the_folder_and_not_single_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders in").mkdir()
    (tmp_path / "orders in" / "monday.csv").write_text("7,x\n", encoding="utf-8")
    watch = colline.attach(spark, transport={"type": "memory"})
    assert isinstance(watch, Watch)
    source = spark.readStream.schema("id int, name string").csv(f"{tmp_path}/orders in")
    running = source.writeStream.option("checkpointLocation", f"{tmp_path}/state").trigger(availableNow=True)
    running.format("parquet").start(f"{tmp_path}/out").awaitTermination(120)
    ended = next(event for event in watch.events if event["outputs"] and event["eventType"] == "COMPLETE")
    watch.detach()
    assert [each["name"] for each in ended["inputs"]] == [f"{tmp_path}/orders in"]
    (found,) = ended["outputs"][0]["facets"]["columnLineage"]["fields"]["name"]["inputFields"]
    assert (found["name"], found["field"]) == (f"{tmp_path}/orders in", "name")
