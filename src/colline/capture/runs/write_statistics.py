"""Counts what a query wrote, from Spark's metrics and from the commit in the table's own log (Delta, Iceberg)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from colline.events.event_context import WriteStatistics
from colline.trace import DatasetName, Lifecycle, Statement, Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# names that Spark's commands use for each count: the first one present applies; names joined by `+` are added
ROWS = (
    "numOutputRows",
    "numTargetRowsInserted+numTargetRowsUpdated+numTargetRowsDeleted",
    "numUpdatedRows",
    "numDeletedRows",
    "numCopiedRows",
    "added-records",
    "deleted-records",
)
SIZE = ("numOutputBytes", "numTargetBytesAdded", "numAddedBytes", "bytesWritten", "added-files-size")
FILES = ("numFiles", "numTargetFilesAdded", "numAddedFiles", "numOutputFiles", "added-data-files")


@dataclass(frozen=True, slots=True)
class Commit:
    """The version that a write created in its table's log, and the metrics the log holds for it."""

    version: str
    metrics: Mapping[str, int] = field(default_factory=dict)


def statistics_from(metrics: Mapping[str, int]) -> WriteStatistics:
    """Rows, bytes and files of one write. A missing metric is unknown, not zero."""
    return WriteStatistics(first_metric(metrics, ROWS), first_metric(metrics, SIZE), first_metric(metrics, FILES))


def first_metric(metrics: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    """The first of these metrics that is present."""
    for name in names:
        parts = [metrics[part] for part in name.split("+") if metrics.get(part, -1) >= 0]
        if parts:
            return sum(parts)
    return None


def commit_reader(spark: SparkSession) -> Callable[[Statement], Mapping[DatasetName, Commit]]:
    """A function that reads the last commit of each table a statement wrote, for table formats with a log."""
    jvm: Any = spark._jvm
    session = spark._jsparkSession

    def read_commits(statement: Statement) -> dict[DatasetName, Commit]:
        commits = {}
        for write in statement.writes:
            read_commit = COMMIT_READERS.get(write.target.provider.lower())
            if read_commit is None or write.lifecycle is Lifecycle.DROP:
                continue
            commit = read_commit(jvm, session, write)
            if commit is not None:
                commits[write.name] = commit
        return commits

    return read_commits


def _delta_commit(jvm: Any, session: Any, write: Write) -> Commit | None:
    """The last version of a Delta table. After a write, Delta's cache holds the log, so no file is listed."""
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, _table_path(write))
    version = log.unsafeVolatileSnapshot().version()
    return Commit(str(version), _delta_metrics(jvm, log, version)) if version >= 0 else None


def _iceberg_commit(jvm: Any, session: Any, write: Write) -> Commit | None:
    """The current snapshot of an Iceberg table; None for a table given by its path, which has no catalog."""
    if len(write.target.table) < 2:
        return None
    name = ".".join("`" + part.replace("`", "``") + "`" for part in write.target.table)
    snapshot = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session, name).currentSnapshot()
    if snapshot is None:
        return None
    summary = {str(key): str(value) for key, value in snapshot.summary().items()}
    return Commit(str(snapshot.snapshotId()), {key: int(text) for key, text in summary.items() if text.isdigit()})


# provider → function that reads the last commit of its table
COMMIT_READERS: dict[str, Callable[[Any, Any, Write], Commit | None]] = {
    "delta": _delta_commit,
    "iceberg": _iceberg_commit,
}


class _CommitInfo(msgspec.Struct):
    operation_metrics: dict[str, str] = msgspec.field(name="operationMetrics", default_factory=dict)


class _Action(msgspec.Struct):
    info: _CommitInfo | None = msgspec.field(name="commitInfo", default=None)


def _delta_metrics(jvm: Any, log: Any, version: int) -> dict[str, int]:
    """The operation metrics of a Delta commit, from `commitInfo`, its first action."""
    file = jvm.org.apache.hadoop.fs.Path(log.logPath(), f"{version:020d}.json")
    first = log.store().read(file, log.newDeltaHadoopConf()).head()
    info = msgspec.json.decode(first, type=_Action).info
    metrics = info.operation_metrics if info else {}
    return {name: int(value) for name, value in metrics.items() if value.isdigit()}


def _table_path(write: Write) -> str:
    if write.target.paths:
        return write.target.paths[0]
    name = write.name
    return f"file:{name.name}" if name.namespace == "file" else f"{name.namespace}/{name.name.lstrip('/')}"
