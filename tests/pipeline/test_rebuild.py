"""A rebuild: the same tables with the same ids, or those of before; never something between."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from deltalake import DeltaTable

from colline.pipeline.rebuild import AGAIN, MARKER, REBUILT, STAGING
from tests.lakes import land
from tests.pipeline.lake_view import commits, rows, table
from tests.pipeline.scenarios import BAD, out, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.lake.tables import Table

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
EDGES = "gold/edges"
REST_DAYS = 40
slow = pytest.mark.skipif(os.environ.get("COLLINE_FAULTS") != "all", reason="takes a minute: make pipeline-faults")


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a line that is no event, rebuilt once."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.rebuild import rebuild

    folder = tmp_path_factory.mktemp("a lake")
    land(folder, [*write("one", "one", 1, out("one")), *write("two", "two", 2, out("two")), BAD[0]])
    ingest(str(folder), spark=spark)
    before = commits(folder)
    rebuild(str(folder), spark=spark)
    # what is not written would be as it was before, whatever bronze says
    assert _newer(folder, before) == {kept.path: 1 for kept in REBUILT}
    return folder


def _newer(lake: Path, before: dict[str, int]) -> dict[str, int]:
    """How many commits each table has more, where it has."""
    return {name: count - before[name] for name, count in commits(lake).items() if count > before[name]}


@contextmanager
def _only(name: str) -> Iterator[None]:
    """Let a rebuild write this table alone: of the others none can be written by then, or any."""
    from colline.pipeline.store import Store

    with_all = Store._write

    def write_one(store: Store, written: Table, *given: Any) -> None:
        if written.path == name:
            with_all(store, written, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_write", write_one)
        yield


def _fail(step: str) -> None:
    if step == EDGES:
        raise OSError("no space left")


def _failed(spark: SparkSession, lake: Path) -> None:
    """A rebuild that fails when it has written the edges."""
    from colline.pipeline.rebuild import rebuild

    with _only(EDGES), pytest.raises(OSError, match="no space left"):
        rebuild(str(lake), spark=spark, wrote=_fail)


def _killed(spark: SparkSession, lake: Path) -> None:
    """A lake as a process leaves it that is killed when it has written the edges."""
    from colline.pipeline import rebuild

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rebuild, "undo", lambda *_: False)
        _failed(spark, lake)
    assert (lake / MARKER).exists()


def test_a_table_is_replaced_by_its_first_write_and_added_to_by_the_next(spark: SparkSession, tmp_path: Path) -> None:
    from colline.lake.tables import COVERAGE, fields_of
    from colline.pipeline.store import Store, empty
    from colline.pipeline.threads import Threads

    nothing, threads = empty(spark, fields_of(COVERAGE)), Threads(spark)
    store = Store(spark, str(tmp_path))
    anew = Store(spark, str(tmp_path), threads=threads, anew={COVERAGE})

    def row(kind: str) -> DataFrame:
        return nothing.unionByName(spark.sql(f"select '{kind}' as kind"), allowMissingColumns=True)

    store.append(COVERAGE, row("old"))
    assert (store.read(COVERAGE).count(), anew.exists(COVERAGE), anew.read(COVERAGE).count()) == (1, False, 0)
    anew.append(COVERAGE, row("first"))
    anew.append(COVERAGE, row("second"))
    threads.settle_all()
    assert sorted(row["kind"] for row in table(tmp_path, COVERAGE.path)) == ["first", "second"]
    threads.close()


@slow
def test_a_second_rebuild_gives_equal_tables_and_ids(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.rebuild import rebuild

    before = rows(lake)
    rebuild(str(lake), spark=spark)
    assert rows(lake) == before


def test_an_error_takes_an_older_lake_back_whole_and_the_next_ingest_rebuilds_it(
    spark: SparkSession, lake: Path
) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.graph.snapshot.staleness import is_published
    from colline.pipeline.ingest import ingest

    now = rows(lake)
    edges = spark.read.format("delta").load(str(lake / EDGES)).drop("bucket").localCheckpoint()
    split = edges.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy("type")
    split.save(str(lake / EDGES))
    # the next commit makes a checkpoint, with which Delta deletes the log of what is older than a month
    spark.sql(f"alter table delta.`{lake / EDGES}` set tblproperties ('delta.checkpointInterval' = '1')")
    HadoopFiles(spark).write(str(lake / "_colline/lake.json"), '{"version": 1}')
    for path in (lake / EDGES / "_delta_log").iterdir():
        os.utime(path, (time.time() - REST_DAYS * 86_400,) * 2)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    older = rows(lake)
    _failed(spark, lake)
    assert rows(lake) == older != now
    assert DeltaTable(str(lake / EDGES)).metadata().partition_columns == ["type"]
    assert not (lake / MARKER).exists() and not (lake / AGAIN).exists() and is_published(lake)
    ingest(str(lake), spark=spark)
    assert rows(lake) == now
    assert DeltaTable(str(lake / EDGES)).metadata().partition_columns == ["bucket"]


@slow
def test_upkeep_leaves_what_a_killed_rebuild_is_taken_back_to(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.maintain import Keep, maintain

    before = rows(lake)
    _killed(spark, lake)
    at = commits(lake)
    maintain(str(lake), spark=spark, keep=Keep(landing=None, old_files=0))
    assert not {kept.path for kept in REBUILT} & set(_newer(lake, at))
    ingest(str(lake), spark=spark)
    assert (rows(lake), (lake / MARKER).exists()) == (before, False)


@slow
def test_what_cannot_be_taken_back_is_rebuilt(spark: SparkSession, lake: Path) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.graph.snapshot.staleness import is_inconsistent
    from colline.pipeline.ingest import ingest
    from colline.pipeline.rebuild import undo

    before = rows(lake)
    _killed(spark, lake)
    gone = set(DeltaTable(str(lake / EDGES), version=json.loads((lake / MARKER).read_text())[EDGES]).file_uris())
    for file in gone:  # as somebody else's VACUUM does
        Path(unquote(file)).unlink()
    assert undo(str(lake), spark, HadoopFiles(spark)) is True
    assert ((lake / MARKER).exists(), is_inconsistent(lake)) == (False, True)
    ingest(str(lake), spark=spark)
    assert (rows(lake), is_inconsistent(lake)) == (before, False)


@slow
def test_a_rebuild_that_an_older_version_left_half_way_is_done_anew(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest

    before, at, staged = rows(lake), commits(lake), lake / STAGING / "gold" / "edges"
    staged.mkdir(parents=True)
    ingest(str(lake), spark=spark)
    assert (_newer(lake, at), staged.exists()) == ({}, False)
    staged.mkdir(parents=True)
    (lake / AGAIN).touch()
    ingest(str(lake), spark=spark)
    assert (_newer(lake, at), staged.exists(), (lake / AGAIN).exists()) == (
        {kept.path: 1 for kept in REBUILT},
        False,
        False,
    )
    assert rows(lake) == before


@slow
def test_a_table_that_was_not_there_is_not_there_after_an_error(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.rebuild import rebuild

    before = rows(lake)
    (lake / EDGES).rename(lake / "elsewhere")
    _failed(spark, lake)
    assert not (lake / EDGES).exists()
    rebuild(str(lake), spark=spark)
    assert rows(lake) == before
