"""The run tracker, for every order of messages: one START and one final event per run."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.capture.error_boundary import ErrorBoundary
from colline.capture.runs.application import Application, notebook_name, outer_parent
from colline.capture.runs.job_labels import JobLabel, from_tags, to_tag
from colline.capture.runs.run_tracker import RunCounts, RunTracker
from colline.capture.runs.write_statistics import Commit, statistics_from
from colline.config.settings import Parent
from colline.events.event_context import Engine, Failure, RunName, WriteStatistics
from colline.events.model import RunEvent, RunState
from colline.events.run_ids import run_id
from colline.naming.dataset import NameContext
from colline.plan.source import Source, SourceKind
from colline.trace import (
    ColumnLineage,
    DatasetName,
    DatasetRead,
    Lifecycle,
    OpaqueStep,
    SchemaField,
    Statement,
    Write,
)

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=timezone.utc)
ORDERS = DatasetRead(
    DatasetName("file", "/wh/orders"),
    Source(SourceKind.TABLE, "parquet", ("/wh/orders",), ("default", "orders")),
    (SchemaField("id", "int"),),
)
TOTALS = DatasetName("file", "/wh/totals")
WRITE = Write(TOTALS, Source(SourceKind.TABLE, "delta", table=("default", "totals")), ColumnLineage(inputs=(ORDERS,)))
DROP = Write(
    DatasetName("file", "/wh/old"),
    Source(SourceKind.TABLE, table=("spark_catalog", "shop", "old")),
    ColumnLineage(),
    lifecycle=Lifecycle.DROP,
    is_conditional=True,
)
STATEMENTS = {
    "write": Statement((WRITE,), (ORDERS,)),
    "read": Statement((), (ORDERS,)),
    "drop": Statement((DROP,), ()),
    "show": Statement((), (), (OpaqueStep("ShowTables", why="no rule for ShowTables"),)),
}


def analyze(plan: Any) -> Statement:
    if plan == "broken":
        raise RecursionError("too deep")
    return STATEMENTS[plan]


def new_tracker(**changes: Any) -> RunTracker:
    application = Application(
        RunName("shop", "etl", run_id()), Engine("4.1.4"), NameContext(warehouse="/wh"), **changes
    )
    return RunTracker(application, analyze)


def start(number: int, plan: str | None = "write", **more: Any) -> dict[str, Any]:
    return {"kind": "start", "id": number, "time": 1_700_000_000_000 + number, "plan": plan, **more}


def end(number: int, **more: Any) -> dict[str, Any]:
    return {"kind": "end", "id": number, "time": 1_700_000_001_000 + number, **more}


def states(events: Any) -> list[RunState | None]:
    return [event.event_type for event in events]


def test_query_starts_with_its_lineage_and_ends_once() -> None:
    tracker = new_tracker()
    (began,) = tracker.handle(start(1))
    (ended,) = tracker.handle(end(1, metrics={"numOutputRows": 3, "numOutputBytes": 10, "numFiles": 1}))
    assert states([began, ended]) == [RunState.START, RunState.COMPLETE]
    assert began.run.run_id == ended.run.run_id
    assert "columnLineage" in began.outputs[0].facets
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 3
    assert tracker.counts.completed == 1


def test_plan_that_arrives_with_the_end_yields_both_events() -> None:
    tracker = new_tracker()
    assert tracker.handle(start(1, plan=None)) == ()
    events = tracker.handle(end(1, plan="write"))
    assert states(events) == [RunState.START, RunState.COMPLETE]
    assert events[0].event_time < events[1].event_time


def test_failed_query_ends_with_fail_and_its_message() -> None:
    tracker = new_tracker()
    tracker.handle(start(1))
    (failed,) = tracker.handle(end(1, text="org.apache.spark.SparkException: boom\n\tat a.b\n\tat c.d"))
    facet = failed.run.facets["errorMessage"]
    assert (failed.event_type, facet["message"]) == (RunState.FAIL, "org.apache.spark.SparkException: boom")
    assert facet["stackTrace"].startswith("at a.b")


@pytest.mark.parametrize(("is_cancelled", "state"), [(True, RunState.ABORT), (False, RunState.FAIL)])
def test_query_is_aborted_only_if_spark_cancelled_it(is_cancelled: bool, state: RunState) -> None:
    tracker = new_tracker()
    tracker.handle(start(1))
    text = "ValueError: [SPARK_JOB_CANCELLED] Job 3 cancelled part of cancelled job group x"
    assert states(tracker.handle(end(1, text=text, is_cancelled=is_cancelled))) == [state]


@pytest.mark.parametrize(("dropped", "expected"), [(["shop.Old"], [RunState.START, RunState.COMPLETE]), ([], [])])
def test_drop_if_exists_has_events_if_it_dropped_the_table(dropped: list[str], expected: list[RunState]) -> None:
    tracker = new_tracker()
    assert tracker.handle(start(1, plan="drop")) == ()
    assert states(tracker.handle(end(1, dropped=dropped))) == expected


def test_query_whose_description_contains_a_run_id_is_a_run() -> None:
    tracker = new_tracker()
    text = "nightly runId = 12345678-1234-1234-1234-123456789012"
    plan = {"classes": [["AppendData", "p", [], None]], "nodes": [[0]], "root": 0}
    tracker.analyze = lambda _: STATEMENTS["write"]
    assert states(tracker.handle(start(1, plan=plan, text=text))) == [RunState.START]
    assert states(tracker.handle(end(1))) == [RunState.COMPLETE]


def test_statement_without_data_yields_events_only_if_it_fails() -> None:
    tracker = new_tracker()
    assert tracker.handle(start(1, plan="show")) == ()
    assert tracker.handle(end(1)) == ()
    assert tracker.handle(start(2, plan="show")) == ()
    assert states(tracker.handle(end(2, text="boom"))) == [RunState.START, RunState.FAIL]
    assert tracker.counts == RunCounts(started=1, failed=1, skipped=1)


def test_delta_log_queries_yield_no_events() -> None:
    tracker = new_tracker()
    assert tracker.handle(start(1, plan=None, own=True)) == ()
    tracker.handle(start(2, plan=None))
    assert tracker.handle(end(2, own=True)) == ()
    assert tracker.open_count == 0


def test_untraceable_plan_yields_a_run_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    tracker = new_tracker()
    for number in (1, 2):
        (began,) = tracker.handle(start(number, plan="broken"))
        (ended,) = tracker.handle(end(number))
        assert ended.event_type is RunState.COMPLETE
        assert began.run.facets["colline_opaque"]["steps"] == (
            {"node": "plan", "why": "tracing failed: RecursionError"},
        )
    assert tracker.errors.failures == 2
    assert len([record for record in caplog.records if "hint:" in record.getMessage()]) == 1


def test_plan_unreadable_in_the_jvm_yields_a_run_with_the_reason() -> None:
    tracker = new_tracker()
    (began,) = tracker.handle(start(1, plan=None, failure="java.lang.IllegalStateException: no"))
    (ended,) = tracker.handle(end(1))
    assert (began.event_type, ended.event_type) == (RunState.START, RunState.COMPLETE)
    (step,) = began.run.facets["colline_opaque"]["steps"]
    assert step["why"] == "the plan could not be read: java.lang.IllegalStateException: no"


def test_input_schema_is_sent_once_and_again_after_a_change() -> None:
    tracker = new_tracker()
    first, _ = *tracker.handle(start(1, plan="read")), tracker.handle(end(1))
    (second,) = tracker.handle(start(2, plan="read"))
    assert "schema" in first.inputs[0].facets
    assert "schema" not in second.inputs[0].facets
    changed = DatasetRead(ORDERS.name, ORDERS.source, (SchemaField("id", "long"),))
    STATEMENTS["changed"] = Statement((), (changed,))
    (third,) = tracker.handle(start(3, plan="changed"))
    assert third.inputs[0].facets["schema"]["fields"] == ({"name": "id", "type": "long"},)


def test_job_name_comes_from_the_label_the_setting_or_the_output() -> None:
    tag = to_tag(JobLabel("nightly, é", {"team": "a,b"}))
    (labelled,) = new_tracker(job="from a notebook").handle(start(1, tags=["other", tag]))
    assert labelled.job.name == "nightly, é"
    assert labelled.job.facets["tags"]["tags"] == ({"key": "team", "value": "a,b", "source": "SPARK"},)
    assert new_tracker(job="from a notebook").handle(start(1))[0].job.name == "from a notebook"
    assert new_tracker().handle(start(1))[0].job.name == "etl.default.totals"
    assert new_tracker().handle(start(1, plan="read"))[0].job.name == "etl.query"


def test_parent_is_the_application_and_root_is_the_run_that_started_it() -> None:
    given = Parent(job_namespace="airflow", job_name="dag.task", run_id=run_id())
    tracker = new_tracker(outer=outer_parent(given))
    assert tracker.start_application(NOW).run.facets["parent"]["run"]["runId"] == given.run_id
    parent = tracker.handle(start(1))[0].run.facets["parent"]
    assert parent["run"]["runId"] == tracker.application.run.run_id
    assert parent["root"] == {"run": {"runId": given.run_id}, "job": {"namespace": "airflow", "name": "dag.task"}}


def test_incomplete_parent_is_ignored() -> None:
    assert outer_parent(Parent(job_namespace="airflow", job_name="x", run_id="not a uuid")) is None
    assert outer_parent(Parent(run_id=run_id())) is None


def test_open_runs_are_aborted_when_the_application_fails() -> None:
    tracker = new_tracker()
    tracker.handle(start(1))
    tracker.handle(start(2, plan=None))
    events = tracker.finish(NOW, Failure("ValueError: x", language="PYTHON"), {"emitted": 3, "sent": 3})
    assert states(events) == [RunState.ABORT, RunState.START, RunState.ABORT, RunState.FAIL]
    assert events[-1].run.facets["errorMessage"]["message"] == "ValueError: x"
    assert events[-1].run.facets["colline_delivery"]["emitted"] == 3
    assert states(new_tracker().finish(NOW)) == [RunState.COMPLETE]


def test_commit_metrics_are_used_when_the_plan_has_none() -> None:
    tracker = new_tracker()
    tracker.read_commits = lambda _: {TOTALS: Commit("4", {"numOutputRows": 7, "numFiles": 2})}
    tracker.handle(start(1))
    (ended,) = tracker.handle(end(1, metrics={}))
    assert ended.outputs[0].facets["version"]["datasetVersion"] == "4"
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 7


def test_unreadable_table_version_leaves_the_rest_of_the_event() -> None:
    tracker = new_tracker()

    def fail(_: Statement) -> Any:
        raise ConnectionError("gone")

    tracker.read_commits = fail
    tracker.handle(start(1))
    (ended,) = tracker.handle(end(1, metrics={"numOutputRows": 7}))
    assert "version" not in ended.outputs[0].facets
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 7


messages = st.one_of(
    st.builds(start, st.integers(0, 3), st.sampled_from([None, "write", "read", "show", "broken"])),
    st.builds(end, st.integers(0, 3), plan=st.sampled_from([None, "write", "read"]), text=st.sampled_from([None, "x"])),
    st.builds(start, st.integers(0, 3), st.none(), own=st.just(True)),
    st.just({"kind": "something new"}),
)


@given(st.lists(messages, max_size=30))
def test_every_run_has_one_start_and_one_final_event(received: list[dict[str, Any]]) -> None:
    """Holds for any order of messages. An execution id starts again only after it has ended."""
    tracker = new_tracker()
    tracker.errors = ErrorBoundary()
    events: list[RunEvent] = [tracker.start_application(NOW)]
    running: set[int] = set()
    for message in received:
        if message["kind"] == "start" and message["id"] in running:
            continue
        if message["kind"] == "start":
            running.add(message["id"])
        elif message["kind"] == "end":
            running.discard(message["id"])
        events += tracker.handle(message)
    events += tracker.finish(NOW)
    by_run: dict[str, list[RunState | None]] = {}
    for event in events:
        by_run.setdefault(event.run.run_id, []).append(event.event_type)
    for found in by_run.values():
        assert found[0] is RunState.START
        assert len(found) == 2 and found[1] is not None and found[1].is_end
    assert tracker.open_count == 0


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_label_is_restored_from_its_tag(name: str, tags: dict[str, str]) -> None:
    tag = to_tag(JobLabel(name, tags))
    assert "," not in tag
    assert from_tags(["a tag of another tool", tag]) == JobLabel(name, tags)


@pytest.mark.parametrize("tag", ["colline-job-", "colline-job-%%%", "colline-job-WzFd", ""])
def test_invalid_tag_has_no_label(tag: str) -> None:
    assert from_tags([tag]) is None


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"numOutputRows": 3, "numOutputBytes": 10, "numFiles": 1}, WriteStatistics(3, 10, 1)),
        (
            {"numTargetRowsInserted": 2, "numTargetRowsUpdated": 1, "numTargetFilesAdded": 1},
            WriteStatistics(3, None, 1),
        ),
        ({"numDeletedRows": 0}, WriteStatistics(0)),
        ({}, WriteStatistics()),
    ],
)
def test_statistics_of_each_kind_of_write(metrics: dict[str, int], expected: WriteStatistics) -> None:
    assert statistics_from(metrics) == expected


@pytest.mark.parametrize(
    ("conf", "name"),
    [
        ({"spark.databricks.notebook.path": "/Users/a/load"}, "/Users/a/load"),
        ({"spark.synapse.context.notebookname": "Load 1"}, "Load 1"),
        ({"trident.artifact.name": "Load 2"}, "Load 2"),
        ({"spark.glue.JOB_NAME": "load"}, "load"),
        ({}, None),
    ],
)
def test_notebook_name_of_each_platform(conf: dict[str, str], name: str | None) -> None:
    assert notebook_name(conf) == name
