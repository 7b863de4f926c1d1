"""Compacts and clusters the tables, and deletes old files and old rows.

Safe while an ingest runs: Delta accepts only one of two conflicting commits, and both sides retry. Gold, with its
history, is never deleted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from delta.tables import DeltaTable

from colline.config.kafka_connection import SCHEME
from colline.environment.hadoop_files import HadoopFiles
from colline.environment.spark_session import require_classic, session_for
from colline.errors import LakeError
from colline.lake import delta_log
from colline.lake.layout import EXPIRED_BRONZE, PENDING_BATCH, REBUILD_VERSIONS
from colline.lake.location import hadoop_path, local_path
from colline.lake.lock import check_writable
from colline.lake.tables import (
    BRONZE,
    COLUMNS,
    EDGES,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    PAYLOADS,
    QUARANTINE,
    RUNS,
    TABLES,
    Table,
)
from colline.pipeline.delta_tables import CONCURRENT_WRITES, LakeTables, retry_conflicts
from colline.pipeline.ingest_settings import activate, upkeep_session
from colline.pipeline.upkeep.rebuild import REBUILT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# table → columns by which its rows are clustered
CLUSTERED: dict[Table, tuple[str, ...]] = {
    PAYLOADS: ("payload",),
    MENTIONS: ("digest",),
    EDGES: ("fingerprint",),
    COLUMNS: ("dataset_id",),
    RUNS: ("job_id", "run_id"),
    OBSERVATIONS: ("job_id", "digest"),
    LINEAGE_VERSIONS: ("job_id", "dataset_id"),
}
# The order of rows does not matter in a smaller partition: readers skip row groups of 128 MB.
LARGE = 256 * 1024 * 1024
# Delta itself refuses to delete files that are younger
SAFE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many days files and rows are kept; None: forever."""

    landing: int | None = 7  # after it is in bronze
    bronze: int | None = None
    old_files: int = 7  # files that no current table version needs


@dataclass(frozen=True, slots=True)
class MaintenanceSummary:
    """The result of `maintain`."""

    lake: str
    compacted: dict[str, int] = field(default_factory=dict)  # table → fewer files than before
    landing_deleted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def maintain(lake: str, *, spark: SparkSession | None = None, keep: Keep | None = None) -> MaintenanceSummary:
    """Compact, cluster, expire and vacuum the lake's tables."""
    keep = keep or Keep()
    root = local_path(lake)
    if root is not None and Path(root, BRONZE.path).is_dir():
        check_writable(Path(root))
    with upkeep_session(require_classic(spark or session_for())) as session:
        tables, files = LakeTables(session, hadoop_path(lake)), HadoopFiles(session)
        if not tables.exists(BRONZE):
            raise LakeError(f"no lake at {lake}", hint="run `colline ingest` first, or check --lake")
        deleted = _delete_landed(tables, files, keep.landing) if keep.landing is not None else 0
        _expire(tables, files, keep)
        if keep.old_files < SAFE_DAYS:  # in the session of the upkeep alone
            session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        compacted = _for_each_table(tables, lambda table: _compact_and_vacuum(tables, files, table, keep.old_files))
    return MaintenanceSummary(lake, {path: n for path, n in compacted.items() if n}, deleted)


def _for_each_table(tables: LakeTables, work: Callable[[Table], int]) -> dict[str, int]:
    """The result of the work for each existing table, a few at a time."""
    there = [table for table in TABLES if tables.exists(table)]
    threads = ThreadPoolExecutor(CONCURRENT_WRITES, initializer=activate, initargs=(tables.spark,))
    try:
        return dict(zip((table.path for table in there), threads.map(work, there), strict=True))
    finally:
        threads.shutdown(cancel_futures=True)  # Ctrl-C does not wait for tables that were not begun


def _compact_and_vacuum(tables: LakeTables, files: HadoopFiles, table: Table, days: int) -> int:
    """Compact a table and delete files it no longer needs; returns how many fewer files it has."""
    if table in REBUILT and files.exists(f"{tables.lake}/{REBUILD_VERSIONS}"):
        return 0  # a rebuild is running, or was killed: the previous version may have to be restored
    if not _has_work(tables, table, days):
        return 0
    fewer = _compact(tables, table)
    target = DeltaTable.forPath(tables.spark, tables.path(table))
    there = files.count(tables.path(table)) - files.count(f"{tables.path(table)}/_delta_log")
    if files.exists(f"{tables.lake}/{PENDING_BATCH}"):
        return fewer  # a batch that was killed will read the versions before it
    if there > len(target.toDF().inputFiles()):
        target.vacuum(days * 24)
    return fewer


def _has_work(tables: LakeTables, table: Table, days: int) -> bool:
    """Whether the table may have to be compacted, or has old files that it no longer needs; found without Spark."""
    files = delta_log.data_files(tables.lake, table)
    if files is None:
        return True
    needed = {Path(file).name for file in files}
    parts = Counter(Path(file).parent for file in files)
    size = sum(Path(file).stat().st_size for file in files)
    if max(parts.values(), default=0) > 1 or size > LARGE * len(parts):
        return True
    deadline = time.time() - days * 86_400
    stored = (path for path in Path(local_path(tables.path(table)) or "").rglob("*.parquet") if _is_data(path))
    return any(path.name not in needed and path.stat().st_mtime <= deadline for path in stored)


def _is_data(path: Path) -> bool:
    return "_delta_log" not in path.parts


def _delete_landed(tables: LakeTables, files: HadoopFiles, days: int) -> int:
    """Delete landed files that have been in bronze for this number of days; returns how many."""
    if files.exists(f"{tables.lake}/{PENDING_BATCH}"):
        return 0  # an interrupted batch will read its files again
    old = tables.read(BRONZE).where(f"received_at < current_timestamp() - interval {days} days")
    old = old.where(f"not startswith(file, '{SCHEME}')").select("file").distinct()
    count = 0
    for row in old.toLocalIterator():
        path = files.decode_uri(row["file"])
        if files.exists(path):
            files.delete(path)
            count += 1
    return count


def _expire(tables: LakeTables, files: HadoopFiles, keep: Keep) -> None:
    for table in (BRONZE, QUARANTINE):
        if keep.bronze is not None and tables.exists(table):
            target = DeltaTable.forPath(tables.spark, tables.path(table))
            retry_conflicts(partial(target.delete, f"dt < current_date() - interval {keep.bronze} days"))
            # from now on a rebuild has only the rest
            files.write(f"{tables.lake}/{EXPIRED_BRONZE}", str(keep.bronze))


def _compact(tables: LakeTables, table: Table) -> int:
    """Merge small files and cluster rows that are read together; returns how many fewer files there are."""
    target = DeltaTable.forPath(tables.spark, tables.path(table))
    columns = CLUSTERED.get(table)
    due = _parts_to_compact(target, table, clustered=columns is not None)
    if not due:
        return 0
    optimize = target.optimize()
    if table.partitions:
        optimize = optimize.where(" or ".join(due))
    done = retry_conflicts(lambda: optimize.executeZOrderBy(*columns) if columns else optimize.executeCompaction())
    metrics = done.select("metrics.numFilesRemoved", "metrics.numFilesAdded").first()
    return max(0, metrics["numFilesRemoved"] - metrics["numFilesAdded"]) if metrics else 0


def _parts_to_compact(target: DeltaTable, table: Table, *, clustered: bool) -> list[str]:
    """SQL for each partition that has several files, or is so large that the order of its rows matters."""
    parts = Counter(_part(file, len(table.partitions)) for file in target.toDF().inputFiles())
    if clustered and parts and target.detail().select("sizeInBytes").first()[0] > LARGE * len(parts):
        return list(parts)
    return [part for part, files in parts.items() if files > 1]


def _part(file: str, depth: int) -> str:
    """SQL that selects the partition of a file: `t/open=true/part=h0/x.parquet` → `open = 'true' and part = 'h0'`."""
    folders = (unquote(folder).partition("=") for folder in file.split("/")[-1 - depth : -1])
    return " and ".join(f"{name} = '{value}'" for name, _, value in folders)
