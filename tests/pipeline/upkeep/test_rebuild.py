"""A rebuild gives the same tables with the same ids, or restores the previous ones."""

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

from colline.lake.layout import REBUILD_REQUIRED, REBUILD_VERSIONS
from colline.pipeline.upkeep.rebuild import REBUILT
from tests.lakes import land
from tests.pipeline.lake_view import commits, rows
from tests.pipeline.scenarios import BAD, output, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from colline.lake.tables import Table

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
EDGES = "gold/edges"
REST_DAYS = 40
slow = pytest.mark.skipif(os.environ.get("COLLINE_FAULTS") != "all", reason="takes a minute: make pipeline-faults")


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a bad line, rebuilt once."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.rebuild import rebuild

    folder = tmp_path_factory.mktemp("a lake")
    land(folder, [*write("one", "one", 1, output("one")), *write("two", "two", 2, output("two")), BAD[0]])
    ingest(str(folder), spark=spark)
    before = commits(folder)
    rebuild(str(folder), spark=spark)
    # a table that is not written would not follow from bronze
    assert _count_new_commits(folder, before) == _one_commit_each(folder)
    return folder


def _one_commit_each(lake: Path) -> dict[str, int]:
    """One commit for each table that a rebuild replaces."""
    return {kept.path: 1 for kept in REBUILT if (lake / kept.path).exists()}


def _count_new_commits(lake: Path, before: dict[str, int]) -> dict[str, int]:
    """How many commits each table has more, where it has."""
    return {name: count - before[name] for name, count in commits(lake).items() if count > before[name]}


@contextmanager
def _write_only(name: str) -> Iterator[None]:
    """Let a rebuild write this table only: tables are written in parallel, in any order."""
    from colline.pipeline.delta_tables import LakeTables

    with_all = LakeTables._write

    def write_one(tables: LakeTables, written: Table, *given: Any) -> None:
        if written.path == name:
            with_all(tables, written, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LakeTables, "_write", write_one)
        yield


def _fail(step: str) -> None:
    if step == EDGES:
        raise OSError("no space left")


def _fail_rebuild(spark: SparkSession, lake: Path) -> None:
    """Rebuild, and fail after the edges are written."""
    from colline.pipeline.upkeep.rebuild import rebuild

    with _write_only(EDGES), pytest.raises(OSError, match="no space left"):
        rebuild(str(lake), spark=spark, wrote=_fail)


def _kill_rebuild(spark: SparkSession, lake: Path) -> None:
    """Leave the lake as a process that is killed after it has written the edges."""
    from colline.pipeline.upkeep import rebuild

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rebuild, "undo", lambda *_: False)
        _fail_rebuild(spark, lake)
    assert (lake / REBUILD_VERSIONS).exists()


@slow
def test_a_second_rebuild_gives_equal_tables_and_ids(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.upkeep.rebuild import rebuild

    before = rows(lake)
    rebuild(str(lake), spark=spark)
    assert rows(lake) == before


def test_failed_rebuild_restores_rows_and_schema_of_old_commits(spark: SparkSession, lake: Path) -> None:
    from colline.graph.snapshot.staleness import is_published
    from colline.pipeline.upkeep.rebuild import rebuild

    now = rows(lake)
    edges = spark.read.format("delta").load(str(lake / EDGES)).drop("use").localCheckpoint()
    split = edges.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy("type")
    split.save(str(lake / EDGES))
    # the next commit makes a checkpoint, with which Delta deletes the log of what is older than a month
    spark.sql(f"alter table delta.`{lake / EDGES}` set tblproperties ('delta.checkpointInterval' = '1')")
    for path in (lake / EDGES / "_delta_log").iterdir():
        os.utime(path, (time.time() - REST_DAYS * 86_400,) * 2)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    older = rows(lake)
    _fail_rebuild(spark, lake)
    assert rows(lake) == older != now
    assert DeltaTable(str(lake / EDGES)).metadata().partition_columns == ["type"]
    assert not (lake / REBUILD_VERSIONS).exists() and not (lake / REBUILD_REQUIRED).exists() and is_published(lake)
    rebuild(str(lake), spark=spark)
    assert rows(lake) == now
    assert DeltaTable(str(lake / EDGES)).metadata().partition_columns == []


@slow
def test_maintain_keeps_the_versions_that_a_killed_rebuild_restores(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.maintain import Keep, maintain

    before = rows(lake)
    _kill_rebuild(spark, lake)
    at = commits(lake)
    maintain(str(lake), spark=spark, keep=Keep(landing=None, old_files=0))
    assert not {kept.path for kept in REBUILT} & set(_count_new_commits(lake, at))
    ingest(str(lake), spark=spark)
    assert (rows(lake), (lake / REBUILD_VERSIONS).exists()) == (before, False)


@slow
def test_tables_that_cannot_be_restored_are_rebuilt(spark: SparkSession, lake: Path) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.graph.snapshot.staleness import is_inconsistent
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.rebuild import undo

    before = rows(lake)
    _kill_rebuild(spark, lake)
    gone = set(
        DeltaTable(str(lake / EDGES), version=json.loads((lake / REBUILD_VERSIONS).read_text())[EDGES]).file_uris()
    )
    for file in gone:  # as somebody else's VACUUM does
        Path(unquote(file)).unlink()
    assert undo(str(lake), spark, HadoopFiles(spark)) is True
    assert ((lake / REBUILD_VERSIONS).exists(), is_inconsistent(lake)) == (False, True)
    ingest(str(lake), spark=spark)
    assert (rows(lake), is_inconsistent(lake)) == (before, False)


@slow
def test_ingest_rebuilds_tables_that_are_marked_inconsistent(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest

    before, at = rows(lake), commits(lake)
    (lake / REBUILD_REQUIRED).touch()
    ingest(str(lake), spark=spark)
    assert (_count_new_commits(lake, at), (lake / REBUILD_REQUIRED).exists()) == (_one_commit_each(lake), False)
    assert rows(lake) == before


@slow
def test_table_that_did_not_exist_is_deleted_after_an_error(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.upkeep.rebuild import rebuild

    before = rows(lake)
    (lake / EDGES).rename(lake / "elsewhere")
    _fail_rebuild(spark, lake)
    assert not (lake / EDGES).exists()
    rebuild(str(lake), spark=spark)
    assert rows(lake) == before
