"""Derives silver and gold again from bronze, with the current rules; ids stay the same.

Each table is replaced in its place, in one Delta commit. A file in the lake records the version of each table before.
It is deleted when all are replaced, which is the commit of the rebuild. An ingest that finds it restores the tables.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, IllegalArgumentException

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.lake.delta_log import newest_commit
from colline.lake.layout import PENDING_BATCH, REBUILD_REQUIRED, REBUILD_VERSIONS
from colline.lake.location import hadoop_path, local_path
from colline.lake.lock import lock_lake
from colline.lake.tables import BRONZE, TABLES, Table
from colline.pipeline.batch import Counts, collect_frames, derive
from colline.pipeline.delta_tables import CONCURRENT_WRITES, LakeTables, ignore, retry_conflicts
from colline.pipeline.ingest_settings import activate, pipeline_session
from colline.pipeline.interruption import interrupt_requested, run_interruptible
from colline.pipeline.parsing.payloads import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A table whose newest commit is older gets an empty commit first: the first commit after a month lets Delta delete the
# log that a restore needs.
LOG_SAFE_DAYS = 7
EMPTY_COMMITS = "spark.databricks.delta.skipRecordingEmptyCommits"
# a rebuild reads bronze and replaces every other table
REBUILT = tuple(table for table in TABLES if not table.path.startswith("bronze/"))
# errors for a version whose files or log no longer exist
GONE = (AnalysisException, IllegalArgumentException)


@dataclass(frozen=True, slots=True)
class RebuildSummary:
    """The result of a rebuild."""

    lake: str
    events: int
    quarantined: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def rebuild(
    lake: str,
    *,
    spark: SparkSession | None = None,
    options: Options | None = None,
    wrote: Callable[[str], None] = ignore,
) -> RebuildSummary:
    """Derive silver and gold again from every line in bronze.

    After an error or a KeyboardInterrupt, the tables are as before.
    """
    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with lock_lake(lake, spark) as given, pipeline_session(given) as session:
        files = HadoopFiles(session)
        try:
            rebuilt = rebuild_locked(hadoop_path(lake), session, files, options or Options(), wrote=wrote)
        except BaseException:
            _publish_again(where)
            raise
        from colline.graph.snapshot.lake_publisher import publish_changes

        publish_changes(lake, files, has_changes=True)
    return rebuilt


def _publish_again(where: str | None) -> None:
    """Publish the restored tables, if a snapshot was published before."""
    from colline.graph.snapshot.publish import publish
    from colline.graph.snapshot.snapshot_versions import publish_stamp
    from colline.graph.snapshot.staleness import is_inconsistent, is_published

    lake = None if where is None else Path(where)
    if lake is not None and publish_stamp(lake) is not None and not is_inconsistent(lake) and not is_published(lake):
        publish(lake)


def rebuild_locked(
    lake: str, spark: SparkSession, files: HadoopFiles, options: Options, *, wrote: Callable[[str], None] = ignore
) -> RebuildSummary:
    """Rebuild the tables. The caller holds the lake's lock."""
    started = time.monotonic()
    with interrupt_requested() as requested:
        undo(lake, spark, files, wrote)
        tables = LakeTables(spark, lake)
        if not tables.exists(BRONZE):
            raise LakeError(f"{lake} has no bronze table", hint="run `colline ingest` first")
        before = {table.path: _version_to_restore(tables, files, table) for table in REBUILT}
        _write_versions(lake, files, before)
        try:
            rebuilt = LakeTables(spark, lake, after_write=wrote, is_rebuild=True)
            counts = run_interruptible(requested, spark, lambda: _replace_all(rebuilt, files, options))
        except BaseException:
            undo(lake, spark, files, wrote)
            raise
        files.delete(f"{lake}/{PENDING_BATCH}")  # the bronze rows of an interrupted batch are in every table now
        files.delete(f"{lake}/{REBUILD_VERSIONS}")
        files.delete(f"{lake}/{REBUILD_REQUIRED}")
    return RebuildSummary(lake, counts.events, counts.quarantined, round(time.monotonic() - started, 3))


def _replace_all(tables: LakeTables, files: HadoopFiles, options: Options) -> Counts:
    """Derive every table from bronze."""
    try:
        counts = derive(tables, files, options)
        tables.clear_unwritten(REBUILT)
        tables.wait()
        return counts
    finally:
        tables.close()
        collect_frames()


def undo(lake: str, spark: SparkSession, files: HadoopFiles, wrote: Callable[[str], None] = ignore) -> bool:
    """Restore the tables after an unfinished rebuild; True if that is impossible, and they must be rebuilt.

    If it is killed, the next ingest starts it again: a version can be restored any number of times.
    """
    before = _read_versions(lake, files)
    if before is None:
        return files.exists(f"{lake}/{REBUILD_REQUIRED}")
    tables = LakeTables(spark, lake)

    def restore(table: Table) -> None:
        if not _restore_table(tables, files, table, before[table.path]):
            files.write(f"{lake}/{REBUILD_REQUIRED}", "")
        wrote(f"undo {table.path}")

    with ThreadPoolExecutor(CONCURRENT_WRITES, initializer=activate, initargs=(spark,)) as threads:
        for done in [threads.submit(restore, table) for table in REBUILT if table.path in before]:
            done.result()
    files.delete(f"{lake}/{REBUILD_VERSIONS}")
    return files.exists(f"{lake}/{REBUILD_REQUIRED}")


def _write_versions(lake: str, files: HadoopFiles, before: Mapping[str, int | None]) -> None:
    """Record which versions to restore; the file is there as a whole or not at all."""
    files.write(f"{lake}/{REBUILD_VERSIONS}.new", json.dumps(before))
    files.move(f"{lake}/{REBUILD_VERSIONS}.new", f"{lake}/{REBUILD_VERSIONS}")


def _read_versions(lake: str, files: HadoopFiles) -> dict[str, int | None] | None:
    """The versions to restore; None if no rebuild was interrupted."""
    text = files.read(f"{lake}/{REBUILD_VERSIONS}")
    try:
        return None if text is None else dict(json.loads(text))
    except (ValueError, TypeError) as error:
        hint = "delete it and run `colline rebuild`"
        raise LakeError(f"{lake}/{REBUILD_VERSIONS} cannot be read", hint=hint) from error


def _restore_table(tables: LakeTables, files: HadoopFiles, table: Table, version: int | None) -> bool:
    """Restore a table; returns whether that was possible. A version whose files are gone cannot be restored."""
    place = tables.path(table)
    if version is None:
        files.delete(place)
    elif newest_commit(files, place)[0] != version:
        try:
            retry_conflicts(lambda: DeltaTable.forPath(tables.spark, place).restoreToVersion(version))
        except GONE:
            return False
    return True


def _version_to_restore(tables: LakeTables, files: HadoopFiles, table: Table) -> int | None:
    """The version to restore after a failure; None if the table does not exist."""
    if not tables.exists(table):
        return None
    place = tables.path(table)
    version, age = newest_commit(files, place)
    if age < LOG_SAFE_DAYS * 86_400:
        return version
    tables.spark.conf.set(EMPTY_COMMITS, "false")
    tables.read(table).limit(0).write.format("delta").mode("append").save(place)
    tables.spark.conf.unset(EMPTY_COMMITS)
    return newest_commit(files, place)[0]
