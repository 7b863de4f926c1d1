"""A Connect session whose server runs in this process: captured by the listener in the server's JVM."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture.analyze import QueryError
from colline.capture.watch import Watch
from tests.capture.captured_events import run_states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def server_watch(connect: SparkSession) -> Iterator[Watch]:
    found = colline.attach(connect, transport={"type": "memory"}, namespace="tests")
    assert isinstance(found, Watch)
    yield found
    found.detach()


def test_the_classic_session_below_is_captured(connect: SparkSession, tables: None, server_watch: Watch) -> None:
    connect.table("watched.orders").select("id").write.mode("overwrite").saveAsTable("watched.copied")
    assert run_states(server_watch.events) == [("colline tests.watched.copied", ["START", "COMPLETE"])]
    [output] = server_watch.events[-1]["outputs"]
    [field] = output["facets"]["columnLineage"]["fields"]["id"]["inputFields"]
    assert field["name"].endswith("/watched.db/orders")


def test_both_sessions_of_an_application_share_one_watch(
    spark: SparkSession, connect: SparkSession, server_watch: Watch
) -> None:
    assert colline.attach(spark) is server_watch


def test_job_labels_travel_as_operation_tags(connect: SparkSession, tables: None, server_watch: Watch) -> None:
    with colline.job("nightly", tags={"team": "sales"}):
        connect.table("watched.orders").count()
    connect.table("watched.orders").count()
    assert run_states(server_watch.events) == [
        ("nightly", ["START", "COMPLETE"]),
        ("colline tests.query", ["START", "COMPLETE"]),
    ]
    assert [tag["key"] for tag in server_watch.events[1]["job"]["facets"]["tags"]["tags"]] == ["team"]
    assert connect.client.get_tags() == set()


def test_job_labels_of_asyncio_tasks_do_not_mix(connect: SparkSession, tables: None, server_watch: Watch) -> None:
    async def count_later(name: str, waits: float) -> None:
        with colline.job(name):
            await asyncio.sleep(waits)
            connect.clearTags()
            connect.table("watched.orders").count()
            await asyncio.sleep(0.2)

    async def count_all() -> None:
        await asyncio.gather(count_later("early", 0.0), count_later("late", 0.1))

    before = dict(vars(connect.client))
    asyncio.run(count_all())
    assert [name for name, _ in run_states(server_watch.events)] == ["early", "late"]
    assert vars(connect.client) == before


def test_a_failed_query_is_a_failed_run(connect: SparkSession, tables: None, server_watch: Watch) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        connect.sql("select raise_error('boom') as x from watched.orders").collect()
    assert run_states(server_watch.events) == [("colline tests.query", ["START", "FAIL"])]
    assert "boom" in server_watch.events[-1]["run"]["facets"]["errorMessage"]["message"]


def test_lineage_of_a_connect_dataframe_over_a_temporary_view(connect: SparkSession, tables: None) -> None:
    from pyspark.sql.connect import functions as F  # noqa: N812 - the PySpark convention

    connect.table("watched.orders").createOrReplaceTempView("recent")
    found = colline.lineage(connect.sql("select upper(region) as r, id from recent").where(F.col("amount") > 1))
    assert {name: [each.column.field for each in entries] for name, entries in found.fields.items()} == {
        "r": ["region"],
        "id": ["id"],
    }
    assert [each.column.field for each in found.dataset] == ["amount"]
    assert colline.lineage("select upper(region) as r from recent", connect).fields["r"] == found.fields["r"]


def test_sql_that_the_server_cannot_resolve_is_reported(connect: SparkSession, tables: None) -> None:
    with pytest.raises(QueryError, match="UNRESOLVED_COLUMN"):
        colline.lineage("select nope from watched.orders", connect)
