"""Silver and gold again from bronze, under the rules of now, with the ids of before.

Each table is replaced in its place, in one Delta commit. A file in the lake says which version each had before. It is
deleted when all are replaced, which is the commit of the rebuild. Whoever finds it takes the tables back first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, IllegalArgumentException

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.lake.delta_log import newest_commit
from colline.lake.layout import REBUILD_REQUIRED, REBUILD_STAGING, REBUILD_VERSIONS
from colline.lake.location import hadoop_path, local_path
from colline.lake.lock import lock_lake
from colline.lake.tables import BRONZE, TABLES, Table
from colline.pipeline import bronze
from colline.pipeline.batch import Counts, derive
from colline.pipeline.elders import Elders
from colline.pipeline.ingest_settings import activate, pipeline_session
from colline.pipeline.reading import Options
from colline.pipeline.stops import asked_to_end, unless
from colline.pipeline.store import Store, nothing, tried
from colline.pipeline.threads import AT_ONCE, Threads
from colline.pipeline.work import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# table → the version it had before the rebuild, null when it was not there
MARKER = REBUILD_VERSIONS
# The tables do not fit together and cannot be taken back: they must be rebuilt. An older colline left it when it was
# killed while it put the tables in place that it had made in STAGING.
AGAIN = REBUILD_REQUIRED
STAGING = REBUILD_STAGING
# A version older than this gets a commit on top before it is counted on: with the first commit after a month of rest
# Delta may delete the log of those before it.
RESTED_DAYS = 7
EMPTY_COMMITS = "spark.databricks.delta.skipRecordingEmptyCommits"
# bronze is what a rebuild reads; everything else is made again
REBUILT = tuple(table for table in TABLES if not table.path.startswith("bronze/"))
# a version of a table that is no longer there, files or log
GONE = (AnalysisException, IllegalArgumentException)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild read."""

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
    wrote: Callable[[str], None] = nothing,
) -> Rebuilt:
    """Make silver and gold again from every line that ever landed.

    An error, or a KeyboardInterrupt, leaves the tables as they were.
    """
    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with lock_lake(lake, spark) as given, pipeline_session(given) as session:
        try:
            rebuilt = rebuild_locked(hadoop_path(lake), session, HadoopFiles(session), options or Options(), wrote)
        except BaseException:
            _publish_again(where)
            raise
        if where is not None:
            from colline.graph.snapshot.publish import publish

            publish(where)
    return rebuilt


def _publish_again(where: str | None) -> None:
    """Let the snapshot be of the newest versions of tables that were taken back, where it was before."""
    from colline.graph.snapshot.publish import publish
    from colline.graph.snapshot.snapshot_versions import publish_stamp
    from colline.graph.snapshot.staleness import is_inconsistent, is_published

    lake = None if where is None else Path(where)
    if lake is not None and publish_stamp(lake) is not None and not is_inconsistent(lake) and not is_published(lake):
        publish(lake)


def rebuild_locked(
    lake: str, spark: SparkSession, files: HadoopFiles, options: Options, wrote: Callable[[str], None] = nothing
) -> Rebuilt:
    """The rebuild itself, by whoever holds the lake's lock."""
    started = time.monotonic()
    with asked_to_end() as asked:
        undo(lake, spark, files, wrote)
        store = Store(spark, lake)
        if not store.exists(BRONZE):
            raise LakeError(f"{lake} has no bronze table", hint="run `colline ingest` first")
        before = {table.path: _settled(store, files, table) for table in REBUILT}
        _mark(lake, files, before)
        try:
            counts = unless(asked, spark, lambda: _replaced(store, options, wrote))
        except BaseException:
            undo(lake, spark, files, wrote)
            raise
        files.delete(f"{lake}/{MARKER}")
        files.delete(f"{lake}/{AGAIN}")
    return Rebuilt(lake, counts.events, counts.quarantined, round(time.monotonic() - started, 3))


def _replaced(store: Store, options: Options, wrote: Callable[[str], None]) -> Counts:
    """Every table made anew from bronze; ids are read before the first is replaced."""
    threads = Threads(store.spark)
    anew = replace(store, after_write=wrote, elders=Elders(store, threads), anew=set(REBUILT))
    rows = store.read(BRONZE)
    work = Work(anew, bronze.lines(rows), options, halves=lambda: bronze.halves(rows, options.limits))
    try:
        return derive(work)
    finally:
        work.close()
        threads.close()


def undo(lake: str, spark: SparkSession, files: HadoopFiles, wrote: Callable[[str], None] = nothing) -> bool:
    """Take back what a rebuild that was ended half way has written; True when that cannot be: it must be done again.

    Killed half way, it is begun again by the next one: a version may be restored any number of times.
    """
    files.delete(f"{lake}/{STAGING}")
    before = _marked(lake, files)
    if before is None:
        return files.exists(f"{lake}/{AGAIN}")
    store = Store(spark, lake)

    def back(table: Table) -> None:
        if not _restored(store, files, table, before[table.path]):
            files.write(f"{lake}/{AGAIN}", "")
        wrote(f"undo {table.path}")

    with ThreadPoolExecutor(AT_ONCE, initializer=activate, initargs=(spark,)) as threads:
        for done in [threads.submit(back, table) for table in REBUILT if table.path in before]:
            done.result()
    files.delete(f"{lake}/{MARKER}")
    return files.exists(f"{lake}/{AGAIN}")


def _mark(lake: str, files: HadoopFiles, before: Mapping[str, int | None]) -> None:
    """Say which versions to come back to; the file is there as a whole or not at all."""
    files.write(f"{lake}/{MARKER}.new", json.dumps(before))
    files.move(f"{lake}/{MARKER}.new", f"{lake}/{MARKER}")


def _marked(lake: str, files: HadoopFiles) -> dict[str, int | None] | None:
    """The versions to come back to; None when no rebuild was ended half way."""
    text = files.read(f"{lake}/{MARKER}")
    try:
        return None if text is None else dict(json.loads(text))
    except (ValueError, TypeError) as error:
        hint = "delete it and run `colline rebuild`"
        raise LakeError(f"{lake}/{MARKER} cannot be read", hint=hint) from error


def _restored(store: Store, files: HadoopFiles, table: Table, version: int | None) -> bool:
    """Whether the table is as it was; a version whose files are gone cannot be brought back."""
    place = store.path(table)
    if version is None:
        files.delete(place)
    elif newest_commit(files, place)[0] != version:
        try:
            tried(lambda: DeltaTable.forPath(store.spark, place).restoreToVersion(version))
        except GONE:
            return False
    return True


def _settled(store: Store, files: HadoopFiles, table: Table) -> int | None:
    """The version to come back to; None when the table is not there."""
    if not store.exists(table):
        return None
    place = store.path(table)
    version, age = newest_commit(files, place)
    if age < RESTED_DAYS * 86_400:
        return version
    store.spark.conf.set(EMPTY_COMMITS, "false")
    store.read(table).limit(0).write.format("delta").mode("append").save(place)
    store.spark.conf.unset(EMPTY_COMMITS)
    return newest_commit(files, place)[0]
