"""`attach` without a destination: a line per write, and answers about the session without an ingest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.attach import InactiveWatch
from colline.capture.recent_events import RecentEvents
from colline.capture.watch import Watch
from colline.errors import CollineError
from colline.events.model import Job, OutputDataset, Run, RunEvent, RunState
from tests.lakes import lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STATEMENTS = (
    "create table session.orders using parquet as select id, id * 2 as amount, cast(id % 3 as string) as region, "
    "concat('mail', id) as email from range(30)",
    "create table session.customers using parquet as select id as customer_id, concat('c', id) as name from range(9)",
    "create table session.totals using parquet as select region, sum(amount) as total, count(*) as orders, "
    "max(sha2(email, 256)) as contact from session.orders o join session.customers c on o.id = c.customer_id "
    "where amount > 1 group by region",
    "insert overwrite session.totals select region, max(amount), count(*), min(email) from session.orders group by 1",
    "insert into session.totals select name, 0, 1, name from session.customers",
    "create view session.top as select region from session.totals order by total desc limit 1",
    "create table session.report using parquet as select region as best, current_date() as day from session.top",
)


@pytest.fixture
def session_watch(spark: SparkSession) -> Iterator[Watch]:
    spark.sql("create database if not exists session")
    watch = colline.attach(spark)
    assert isinstance(watch, Watch)
    yield watch
    watch.detach()
    spark.sql("drop database session cascade")


def test_session_without_a_transport_prints_one_line_per_write(
    spark: SparkSession, session_watch: Watch, capfd: pytest.CaptureFixture[str]
) -> None:
    for statement in STATEMENTS[:3]:
        spark.sql(statement)
    assert session_watch.flush()
    lines = [line for line in re.split(r"[\r\n]", capfd.readouterr().err) if "captured" in line]
    assert [line[line.index("captured") :] for line in lines] == [
        "captured session.orders · 4 columns",
        "captured session.customers · 2 columns",
        "captured session.totals ← session.orders, session.customers · 4 columns",
    ]
    assert {event["eventType"] for event in session_watch.events} == {"START", "COMPLETE"}


def test_answers_of_the_session_equal_answers_after_an_ingest(
    spark: SparkSession, session_watch: Watch, tmp_path: Path
) -> None:
    for statement in STATEMENTS:
        spark.sql(statement)
    spark.sql("select region from session.orders where amount > 3").collect()
    answered = session_watch.lineage()
    lake = lake_of(spark, tmp_path / "lake", session_watch.events)
    with colline.open(lake) as ingested:
        for table in ("totals", "report", "orders", "customers"):
            for question in ("upstream", "downstream"):
                ours, theirs = (
                    _edges(getattr(each, question)(f"session.{table}.*", indirect=True))
                    for each in (answered, ingested)
                )
                assert ours == theirs
                assert ours or (table, question) in {("report", "downstream"), ("orders", "upstream"),
                                                     ("customers", "upstream")}  # fmt: skip
        for column in ("orders.region", "orders.email", "report.best"):
            ours, theirs = (each.droppable(f"session.{column}") for each in (answered, ingested))
            assert [row.verdict for row in ours.rows] == [row.verdict for row in theirs.rows]
            assert ours.verdict == theirs.verdict
        assert answered.find("region").verdict == ingested.find("region").verdict
        assert answered.coverage().verdict == ingested.coverage().verdict


def _edges(answer: Any) -> set[tuple[Any, ...]]:
    """The edges of an answer by name, with what they are."""
    content = json.loads(answer.to_json())
    names = {row["id"]: (row["name"], row["field"], row.get("type")) for row in (*content["of"], *content["columns"])}
    return {
        (names[edge["from"]], names[edge["to"]], edge["type"], edge["subtype"], edge["masking"], edge["job"]["name"],
         edge.get("description") or "")
        for edge in content["edges"]
    }  # fmt: skip


def test_session_that_has_written_nothing_answers_with_an_error_that_helps(session_watch: Watch) -> None:
    with pytest.raises(CollineError, match=r"no column is called 'orders\.amount'"):
        session_watch.lineage().upstream("orders.amount")
    with pytest.raises(CollineError, match="in memory"):
        session_watch.lineage().runs()


@pytest.mark.parametrize("how", ["position", "keyword", "path object"])
def test_path_as_transport_is_a_lake(spark: SparkSession, tmp_path: Path, how: str) -> None:
    lake = tmp_path / "a lake"
    if how == "position":
        watch = colline.attach(spark, str(lake))
    elif how == "keyword":
        watch = colline.attach(spark, lake=str(lake))
    else:
        watch = colline.attach(spark, lake)
    watch.detach()
    landed = "".join(file.read_text() for file in lake.glob("landing/dt=*/*.ndjson"))
    assert {json.loads(line)["eventType"] for line in landed.splitlines()} == {"START", "COMPLETE"}


def test_second_call_with_another_lake_warns(
    spark: SparkSession, session_watch: Watch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert colline.attach(spark) is session_watch
    assert caplog.text == ""
    assert colline.attach(spark, tmp_path / "lake") is session_watch
    assert "already attached with other settings; ignored: transport" in caplog.text and "detach()" in caplog.text
    assert not (tmp_path / "lake").exists()


def test_lineage_of_a_watch_that_could_not_attach_is_an_error_with_the_reason() -> None:
    with pytest.raises(CollineError, match="no lineage was captured: the setting"):
        InactiveWatch("the setting `disabled` is on").lineage()


def test_repeated_query_is_kept_once_and_the_oldest_is_dropped_first() -> None:
    recent = RecentEvents(max_bytes=1000)
    for number in range(50):
        recent.add(_event("daily", f"run {number}"))
    assert [json.loads(line)["run"]["runId"] for line in recent.lines] == ["run 49"]
    for number in range(50):
        recent.add(_event(f"job {number}", "run"))
    kept = [json.loads(line)["job"]["name"] for line in recent.lines]
    assert kept == [f"job {number}" for number in range(50 - len(kept), 50)]
    assert 1 < len(kept) < 10


def _event(job: str, run: str) -> RunEvent:
    outputs = (OutputDataset(namespace="file", name="/t", facets={"columnLineage": {"fields": {}}}),)
    return RunEvent(
        event_time="2026-01-01T00:00:00Z", run=Run(run_id=run), job=Job(namespace="n", name=job),
        event_type=RunState.COMPLETE, outputs=outputs,
    )  # fmt: skip
