"""A lake in an S3-compatible store that Spark writes through `s3a`, and that is opened elsewhere through fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.graph import Lineage, open_lake
from colline.lake.location import fsspec_filesystem
from colline.pipeline.ingest import ingest
from colline.pipeline.upkeep.rebuild import rebuild
from tests.lakes import encode_events
from tests.object_store import KEYS, object_store
from tests.pipeline.scenarios import BAD, FIRST, SECOND
from tests.transport.peers import add_jars, s3a_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.conftest import Ingested

pytestmark = [
    pytest.mark.spark,
    pytest.mark.delta,
    pytest.mark.timeout(1800),
    pytest.mark.skipif("COLLINE_OBJECTSTORE" not in os.environ, reason="downloads 600 MB: make test-objectstore"),
]
LAKE = "s3a://lakes/a team/lineage"


@pytest.fixture(scope="module")
def store(spark: SparkSession) -> Iterator[str]:
    """An empty bucket that the session can write to."""
    add_jars(spark, s3a_jars())
    with object_store("lakes") as endpoint:
        settings = {
            "endpoint": endpoint,
            "endpoint.region": KEYS["AWS_DEFAULT_REGION"],
            "path.style.access": "true",
            "access.key": KEYS["AWS_ACCESS_KEY_ID"],
            "secret.key": KEYS["AWS_SECRET_ACCESS_KEY"],
            "connection.ssl.enabled": "false",
        }
        for name, value in settings.items():
            spark.sparkContext._jsc.hadoopConfiguration().set(f"fs.s3a.{name}", value)
        yield endpoint


def _land(name: str, events: list[object]) -> None:
    files, root = fsspec_filesystem(LAKE)
    files.pipe_file(f"{root}/landing/dt=2026-11-15/{name}.ndjson", b"\n".join(encode_events(events)))


@pytest.mark.usefixtures("store")
def test_a_lake_in_a_store_is_ingested_rebuilt_and_opened_on_another_machine(
    spark: SparkSession, ingested_twice: Ingested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "writer"))
    _land("1", FIRST)
    first = ingest(LAKE, spark)
    assert (first.events, first.quarantined) == (len(FIRST) - len(BAD), len(BAD))
    _land("2", SECOND)
    second = ingest(LAKE, spark)
    assert (second.events, second.quarantined) == (len(SECOND), 0)
    again = ingest(LAKE, spark)
    assert (again.batches, again.snapshot) == (0, None)
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "reader"))
    with open_lake(LAKE) as remote, open_lake(ingested_twice.copy) as local:
        assert remote.overview().snapshot == second.snapshot
        assert _answers(remote) == _answers(local)
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "writer"))
    rebuild(LAKE, spark=spark)
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "later reader"))
    with open_lake(LAKE) as remote, open_lake(ingested_twice.copy) as local:
        assert remote.overview().snapshot > str(second.snapshot)
        assert _answers(remote) == _answers(local)
    files, root = fsspec_filesystem(LAKE)
    assert not files.exists(f"{root}/_colline/ingest.lock")
    assert not files.exists(f"{root}/_colline/pending")


def _answers(lineage: Lineage) -> list[object]:
    """Columns and edges on both sides of a few tables, without the runs' ids, which are those of the events."""
    names = ("orders", "same", "changed", "late", "branches")
    return [
        (answer.columns, answer.edges)
        for name in names
        for answer in (lineage.upstream(name, indirect=True), lineage.downstream(name, indirect=True))
    ]
