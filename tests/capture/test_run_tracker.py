"""The machine of runs, on every order of messages: one START, one end, the truth in between."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.capture.application import Application, notebook_name, outer_parent
from colline.capture.error_boundary import Containment
from colline.capture.job_labels import Label, from_tags, to_tag
from colline.capture.run_tracker import Counts, Runs
from colline.capture.write_statistics import Commit, written
from colline.config.settings import Parent
from colline.events.event_builder import Engine, Failure, RunName, Written
from colline.events.model import RunEvent, RunState
from colline.events.run_ids import run_id
from colline.naming.dataset import NameContext
from colline.plan.source import Source, SourceKind
from colline.trace import ColumnLineage, DatasetName, DatasetRead, OpaqueStep, SchemaField, Statement, Write

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=timezone.utc)
ORDERS = DatasetRead(
    DatasetName("file", "/wh/orders"),
    Source(SourceKind.TABLE, "parquet", ("/wh/orders",), ("default", "orders")),
    (SchemaField("id", "int"),),
)
TOTALS = DatasetName("file", "/wh/totals")
WRITE = Write(TOTALS, Source(SourceKind.TABLE, "delta", table=("default", "totals")), ColumnLineage(inputs=(ORDERS,)))
STATEMENTS = {
    "write": Statement((WRITE,), (ORDERS,)),
    "read": Statement((), (ORDERS,)),
    "show": Statement((), (), (OpaqueStep("ShowTables", why="no rule for ShowTables"),)),
}


def analyse(plan: Any) -> Statement:
    if plan == "broken":
        raise RecursionError("too deep")
    return STATEMENTS[plan]


def runs(**changes: Any) -> Runs:
    application = Application(
        RunName("shop", "etl", run_id()), Engine("4.1.4"), NameContext(warehouse="/wh"), **changes
    )
    return Runs(application, analyse)


def start(number: int, plan: str | None = "write", **more: Any) -> dict[str, Any]:
    return {"kind": "start", "id": number, "time": 1_700_000_000_000 + number, "plan": plan, **more}


def end(number: int, **more: Any) -> dict[str, Any]:
    return {"kind": "end", "id": number, "time": 1_700_000_001_000 + number, **more}


def states(events: Any) -> list[RunState | None]:
    return [event.event_type for event in events]


def test_a_query_starts_with_its_lineage_and_ends_once() -> None:
    book = runs()
    (began,) = book.hear(start(1))
    (ended,) = book.hear(end(1, metrics={"numOutputRows": 3, "numOutputBytes": 10, "numFiles": 1}))
    assert states([began, ended]) == [RunState.START, RunState.COMPLETE]
    assert began.run.run_id == ended.run.run_id
    assert "columnLineage" in began.outputs[0].facets
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 3
    assert book.counts.completed == 1


def test_a_plan_that_comes_with_the_end_is_told_then() -> None:
    book = runs()
    assert book.hear(start(1, plan=None)) == ()
    events = book.hear(end(1, plan="write"))
    assert states(events) == [RunState.START, RunState.COMPLETE]
    assert events[0].event_time < events[1].event_time


def test_a_failure_ends_in_fail_with_its_message_and_never_in_complete() -> None:
    book = runs()
    book.hear(start(1))
    (failed,) = book.hear(end(1, text="org.apache.spark.SparkException: boom\n\tat a.b\n\tat c.d"))
    facet = failed.run.facets["errorMessage"]
    assert (failed.event_type, facet["message"]) == (RunState.FAIL, "org.apache.spark.SparkException: boom")
    assert facet["stackTrace"].startswith("at a.b")


@pytest.mark.parametrize("text", ["Job 3 cancelled part of cancelled job group x", "[SPARK_JOB_CANCELLED] Job 3"])
def test_a_cancelled_query_is_an_abort(text: str) -> None:
    book = runs()
    book.hear(start(1))
    assert states(book.hear(end(1, text=text))) == [RunState.ABORT]


def test_what_touches_no_data_is_told_only_when_it_fails() -> None:
    book = runs()
    assert book.hear(start(1, plan="show")) == ()
    assert book.hear(end(1)) == ()
    assert book.hear(start(2, plan="show")) == ()
    assert states(book.hear(end(2, text="boom"))) == [RunState.START, RunState.FAIL]
    assert book.counts == Counts(started=1, failed=1, skipped=1)


def test_deltas_own_queries_are_no_events() -> None:
    book = runs()
    assert book.hear(start(1, plan=None, own=True)) == ()
    book.hear(start(2, plan=None))
    assert book.hear(end(2, own=True)) == ()
    assert book.open == 0


def test_a_plan_that_cannot_be_traced_still_gives_its_run_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    book = runs()
    for number in (1, 2):
        (began,) = book.hear(start(number, plan="broken"))
        (ended,) = book.hear(end(number))
        assert ended.event_type is RunState.COMPLETE
        assert began.run.facets["colline_opaque"]["steps"] == (
            {"node": "plan", "why": "tracing failed: RecursionError"},
        )
    assert book.containment.failures == 2
    assert len([record for record in caplog.records if "hint:" in record.getMessage()]) == 1


def test_a_plan_the_tap_could_not_write_still_gives_its_run_and_says_so() -> None:
    book = runs()
    (began,) = book.hear(start(1, plan=None, failure="java.lang.IllegalStateException: no"))
    (ended,) = book.hear(end(1))
    assert (began.event_type, ended.event_type) == (RunState.START, RunState.COMPLETE)
    (step,) = began.run.facets["colline_opaque"]["steps"]
    assert step["why"] == "the plan could not be read: java.lang.IllegalStateException: no"


def test_an_input_is_described_once_and_again_when_it_changes() -> None:
    book = runs()
    first, _ = *book.hear(start(1, plan="read")), book.hear(end(1))
    (second,) = book.hear(start(2, plan="read"))
    assert "schema" in first.inputs[0].facets
    assert "schema" not in second.inputs[0].facets
    changed = DatasetRead(ORDERS.name, ORDERS.source, (SchemaField("id", "long"),))
    STATEMENTS["changed"] = Statement((), (changed,))
    (third,) = book.hear(start(3, plan="changed"))
    assert third.inputs[0].facets["schema"]["fields"] == ({"name": "id", "type": "long"},)


def test_names_come_from_the_label_the_setting_or_the_output() -> None:
    tag = to_tag(Label("nightly, é", {"team": "a,b"}))
    (labelled,) = runs(job="from a notebook").hear(start(1, tags=["other", tag]))
    assert labelled.job.name == "nightly, é"
    assert labelled.job.facets["tags"]["tags"] == ({"key": "team", "value": "a,b", "source": "SPARK"},)
    assert runs(job="from a notebook").hear(start(1))[0].job.name == "from a notebook"
    assert runs().hear(start(1))[0].job.name == "etl.default.totals"
    assert runs().hear(start(1, plan="read"))[0].job.name == "etl.query"


def test_the_parent_is_the_application_below_whatever_started_it() -> None:
    given = Parent(job_namespace="airflow", job_name="dag.task", run_id=run_id())
    book = runs(outer=outer_parent(given))
    assert book.begin(NOW).run.facets["parent"]["run"]["runId"] == given.run_id
    parent = book.hear(start(1))[0].run.facets["parent"]
    assert parent["run"]["runId"] == book.application.run.run_id
    assert parent["root"] == {"run": {"runId": given.run_id}, "job": {"namespace": "airflow", "name": "dag.task"}}


def test_a_parent_told_by_half_is_not_taken() -> None:
    assert outer_parent(Parent(job_namespace="airflow", job_name="x", run_id="not a uuid")) is None
    assert outer_parent(Parent(run_id=run_id())) is None


def test_the_application_ends_truthfully_and_open_runs_are_aborted() -> None:
    book = runs()
    book.hear(start(1))
    book.hear(start(2, plan=None))
    events = book.finish(NOW, Failure("ValueError: x", language="PYTHON"), {"made": 3, "sent": 3})
    assert states(events) == [RunState.ABORT, RunState.START, RunState.ABORT, RunState.FAIL]
    assert events[-1].run.facets["errorMessage"]["message"] == "ValueError: x"
    assert events[-1].run.facets["colline_delivery"]["made"] == 3
    assert states(runs().finish(NOW)) == [RunState.COMPLETE]


def test_what_a_commit_counted_stands_in_where_the_plan_counted_nothing() -> None:
    book = runs()
    book.committed = lambda _: {TOTALS: Commit("4", {"numOutputRows": 7, "numFiles": 2})}
    book.hear(start(1))
    (ended,) = book.hear(end(1, metrics={}))
    assert ended.outputs[0].facets["version"]["datasetVersion"] == "4"
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 7


def test_a_version_that_cannot_be_read_costs_only_itself() -> None:
    book = runs()

    def breaks(_: Statement) -> Any:
        raise ConnectionError("gone")

    book.committed = breaks
    book.hear(start(1))
    (ended,) = book.hear(end(1, metrics={"numOutputRows": 7}))
    assert "version" not in ended.outputs[0].facets
    assert ended.outputs[0].output_facets["outputStatistics"]["rowCount"] == 7


messages = st.one_of(
    st.builds(start, st.integers(0, 3), st.sampled_from([None, "write", "read", "show", "broken"])),
    st.builds(end, st.integers(0, 3), plan=st.sampled_from([None, "write", "read"]), text=st.sampled_from([None, "x"])),
    st.builds(start, st.integers(0, 3), st.none(), own=st.just(True)),
    st.just({"kind": "something new"}),
)


@given(st.lists(messages, max_size=30))
def test_whatever_comes_every_run_has_one_start_and_one_end(heard: list[dict[str, Any]]) -> None:
    """Executions have ids of their own; a second start of one id is a new execution once the first has ended."""
    book = runs()
    book.containment = Containment()
    events: list[RunEvent] = [book.begin(NOW)]
    running: set[int] = set()
    for message in heard:
        if message["kind"] == "start" and message["id"] in running:
            continue
        if message["kind"] == "start":
            running.add(message["id"])
        elif message["kind"] == "end":
            running.discard(message["id"])
        events += book.hear(message)
    events += book.finish(NOW)
    by_run: dict[str, list[RunState | None]] = {}
    for event in events:
        by_run.setdefault(event.run.run_id, []).append(event.event_type)
    for found in by_run.values():
        assert found[0] is RunState.START
        assert len(found) == 2 and found[1] is not None and found[1].is_end
    assert book.open == 0


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_label_survives_the_tag(name: str, tags: dict[str, str]) -> None:
    tag = to_tag(Label(name, tags))
    assert "," not in tag
    assert from_tags(["a tag of somebody else", tag]) == Label(name, tags)


@pytest.mark.parametrize("tag", ["colline-job-", "colline-job-%%%", "colline-job-WzFd", ""])
def test_a_tag_that_is_no_label_is_none(tag: str) -> None:
    assert from_tags([tag]) is None


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"numOutputRows": 3, "numOutputBytes": 10, "numFiles": 1}, Written(3, 10, 1)),
        ({"numTargetRowsInserted": 2, "numTargetRowsUpdated": 1, "numTargetFilesAdded": 1}, Written(3, None, 1)),
        ({"numDeletedRows": 0}, Written(0)),
        ({}, Written()),
    ],
)
def test_metrics_of_every_kind_of_write(metrics: dict[str, int], expected: Written) -> None:
    assert written(metrics) == expected


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
def test_notebook_names_of_platforms(conf: dict[str, str], name: str | None) -> None:
    assert notebook_name(conf) == name
