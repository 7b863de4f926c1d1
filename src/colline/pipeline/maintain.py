"""Upkeep: small files made large, related rows side by side, old files and old rows taken away.

Safe while an ingest runs: Delta lets only one of two conflicting commits through, and both sides try again. What
answers are made of (gold, with its history) is never deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from delta.tables import DeltaTable

from colline.environment.hadoop_files import HadoopFiles
from colline.environment.spark_session import session_for
from colline.errors import LakeError
from colline.lake.layout import EXPIRED_BRONZE, EXPIRED_OBSERVATIONS
from colline.lake.location import hadoop_path, local_path
from colline.lake.lock import check_writable
from colline.lake.tables import BRONZE, COLUMNS, EDGES, OBSERVATIONS, QUARANTINE, READS, RUNS, TABLES, Table
from colline.pipeline.idle import PENDING
from colline.pipeline.ingest_settings import activate, upkeep_session
from colline.pipeline.rebuild import MARKER, REBUILT
from colline.pipeline.store import Store, tried

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# table → columns whose rows are read together
CLUSTERED: dict[Table, tuple[str, ...]] = {
    EDGES: ("dataset_id", "job_id"),
    COLUMNS: ("dataset_id",),
    READS: ("dataset_id",),
    RUNS: ("job_name", "run_id"),
    OBSERVATIONS: ("content",),
}
# A part with fewer bytes in one file is read whole, however its rows lie: readers pass over row groups of 128 MB.
LARGE = 256 * 1024 * 1024
# how many tables are worked on at the same time: much of it is waiting, for a plan, for a log, for a file
AT_ONCE = 3
# Delta itself refuses to delete files that are younger
SAFE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many days things are kept; None is for ever."""

    landing: int | None = 7  # after it is in bronze
    bronze: int | None = None
    observations: int | None = None
    old_files: int = 7  # files that no current table version needs


@dataclass(frozen=True, slots=True)
class Maintained:
    """What an upkeep did."""

    lake: str
    compacted: dict[str, int] = field(default_factory=dict)  # table → files it had less afterwards
    landing_deleted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def maintain(lake: str, *, spark: SparkSession | None = None, keep: Keep | None = None) -> Maintained:
    """Compact, cluster, expire and vacuum the lake's tables."""
    keep = keep or Keep()
    root = local_path(lake)
    if root is not None and Path(root, BRONZE.path).is_dir():
        check_writable(Path(root))
    with upkeep_session(spark or session_for()) as session:
        store, files = Store(session, hadoop_path(lake)), HadoopFiles(session)
        if not store.exists(BRONZE):
            raise LakeError(f"no lake at {lake}", hint="run `colline ingest` first, or check --lake")
        deleted = _landing(store, files, keep.landing) if keep.landing is not None else 0
        _expire(store, files, keep)
        if keep.old_files < SAFE_DAYS:  # in the session of the upkeep alone
            session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        compacted = _each(store, lambda table: _tidy(store, files, table, keep.old_files))
    return Maintained(lake, {path: n for path, n in compacted.items() if n}, deleted)


def _each(store: Store, work: Callable[[Table], int]) -> dict[str, int]:
    """What the work gives for each table there is, a few at a time."""
    there = [table for table in TABLES if store.exists(table)]
    threads = ThreadPoolExecutor(AT_ONCE, initializer=activate, initargs=(store.spark,))
    try:
        return dict(zip((table.path for table in there), threads.map(work, there), strict=True))
    finally:
        threads.shutdown(cancel_futures=True)  # Ctrl-C waits for no table that was not begun


def _tidy(store: Store, files: HadoopFiles, table: Table, days: int) -> int:
    """Compact a table and delete files it no longer needs; how many it has less."""
    if table in REBUILT and files.exists(f"{store.lake}/{MARKER}"):
        return 0  # a rebuild is at work, or was killed: it may still be taken back
    fewer = _compact(store, table)
    target = DeltaTable.forPath(store.spark, store.path(table))
    there = files.count(store.path(table)) - files.count(f"{store.path(table)}/_delta_log")
    if there > len(target.toDF().inputFiles()):
        target.vacuum(days * 24)
    return fewer


def _landing(store: Store, files: HadoopFiles, days: int) -> int:
    """Delete landed files whose lines have been in bronze for so long; how many there were."""
    if files.exists(f"{store.lake}/{PENDING}"):
        return 0  # an interrupted batch will read its files again
    old = (
        store.read(BRONZE).where(f"received_at < current_timestamp() - interval {days} days").select("file").distinct()
    )
    count = 0
    for row in old.toLocalIterator():
        path = files.decode_uri(row["file"])
        if files.exists(path):
            files.delete(path)
            count += 1
    return count


def _expire(store: Store, files: HadoopFiles, keep: Keep) -> None:
    for table in (BRONZE, QUARANTINE):
        if keep.bronze is not None and store.exists(table):
            target = DeltaTable.forPath(store.spark, store.path(table))
            tried(partial(target.delete, f"dt < current_date() - interval {keep.bronze} days"))
            # a rebuild would take for all what is only the rest
            files.write(f"{store.lake}/{EXPIRED_BRONZE}", str(keep.bronze))
    if keep.observations is not None and store.exists(OBSERVATIONS):
        _expire_observations(store, files, keep.observations)


def _expire_observations(store: Store, files: HadoopFiles, days: int) -> None:
    """Old observations go, but for those with lineage: a late event may ask what it was."""
    # without them nothing can be told anew from all that was ever said
    files.write(f"{store.lake}/{EXPIRED_OBSERVATIONS}", str(days))
    target = DeltaTable.forPath(store.spark, store.path(OBSERVATIONS))
    old = f"shape is null and seen_at < current_timestamp() - interval {days} days"
    tried(partial(target.delete, old))


def _compact(store: Store, table: Table) -> int:
    """Make few files of many, rows that are read together side by side; how many files there are less."""
    target = DeltaTable.forPath(store.spark, store.path(table))
    columns = CLUSTERED.get(table)
    due = _due(target, table, clustered=columns is not None)
    if not due:
        return 0
    optimize = target.optimize()
    if table.partitions:
        optimize = optimize.where(" or ".join(due))
    done = tried(lambda: optimize.executeZOrderBy(*columns) if columns else optimize.executeCompaction())
    metrics = done.select("metrics.numFilesRemoved", "metrics.numFilesAdded").first()
    return max(0, metrics["numFilesRemoved"] - metrics["numFilesAdded"]) if metrics else 0


def _due(target: DeltaTable, table: Table, *, clustered: bool) -> list[str]:
    """SQL for each part of the table that has several files, or rows enough for their order to matter."""
    parts = Counter(_part(file, len(table.partitions)) for file in target.toDF().inputFiles())
    if clustered and parts and target.detail().select("sizeInBytes").first()[0] > LARGE * len(parts):
        return list(parts)
    return [part for part, files in parts.items() if files > 1]


def _part(file: str, depth: int) -> str:
    """SQL that picks the part a file is in: `t/open=true/part=h0/x.parquet` → `open = 'true' and part = 'h0'`."""
    folders = (unquote(folder).partition("=") for folder in file.split("/")[-1 - depth : -1])
    return " and ".join(f"{name} = '{value}'" for name, _, value in folders)
