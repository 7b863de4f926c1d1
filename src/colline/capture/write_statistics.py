"""Spark's own metrics → what was written. A table of the names its commands use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from colline.events.event_builder import Written
from colline.trace import DatasetName, Lifecycle, Statement, Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# the first name that is there counts; names joined by `+` are added
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
    """What a table format's log says about a write: the version it made and what it counted."""

    version: str
    metrics: Mapping[str, int] = field(default_factory=dict)


def written(metrics: Mapping[str, int]) -> Written:
    """Rows, bytes and files of one write; what nobody counted is unknown, never zero."""
    return Written(first(metrics, ROWS), first(metrics, SIZE), first(metrics, FILES))


def first(metrics: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    """The first of these counts that is there."""
    for name in names:
        parts = [metrics[part] for part in name.split("+") if metrics.get(part, -1) >= 0]
        if parts:
            return sum(parts)
    return None


def commits_of(spark: SparkSession) -> Callable[[Statement], Mapping[DatasetName, Commit]]:
    """The function that looks up the last commits of a statement's targets, in the formats that keep a log."""
    jvm: Any = spark._jvm
    session = spark._jsparkSession

    def look(statement: Statement) -> dict[DatasetName, Commit]:
        found = {}
        for write in statement.writes:
            ask = FORMATS.get(write.target.provider.lower())
            if ask is None or write.lifecycle is Lifecycle.DROP:
                continue
            commit = ask(jvm, session, write)
            if commit is not None:
                found[write.name] = commit
        return found

    return look


def _delta(jvm: Any, session: Any, write: Write) -> Commit | None:
    """The last version of a Delta table: after a write its log is in Delta's cache, as the write left it."""
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, _path(write))
    version = log.unsafeVolatileSnapshot().version()
    return Commit(str(version), _metrics(jvm, log, version)) if version >= 0 else None


def _iceberg(jvm: Any, session: Any, write: Write) -> Commit | None:
    """The current snapshot of an Iceberg table; a path has no catalog to ask."""
    if len(write.target.table) < 2:
        return None
    name = ".".join("`" + part.replace("`", "``") + "`" for part in write.target.table)
    snapshot = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session, name).currentSnapshot()
    if snapshot is None:
        return None
    counted = {str(key): str(value) for key, value in snapshot.summary().items()}
    return Commit(str(snapshot.snapshotId()), {key: int(text) for key, text in counted.items() if text.isdigit()})


# what a target's provider is called → how its log is asked
FORMATS: dict[str, Callable[[Any, Any, Write], Commit | None]] = {"delta": _delta, "iceberg": _iceberg}


class _Info(msgspec.Struct):
    operation_metrics: dict[str, str] = msgspec.field(name="operationMetrics", default_factory=dict)


class _Action(msgspec.Struct):
    info: _Info | None = msgspec.field(name="commitInfo", default=None)


def _metrics(jvm: Any, log: Any, version: int) -> dict[str, int]:
    """What the commit counted: its first action says it."""
    file = jvm.org.apache.hadoop.fs.Path(log.logPath(), f"{version:020d}.json")
    first = log.store().read(file, log.newDeltaHadoopConf()).head()
    info = msgspec.json.decode(first, type=_Action).info
    return {name: int(value) for name, value in (info.operation_metrics if info else {}).items() if value.isdigit()}


def _path(write: Write) -> str:
    if write.target.paths:
        return write.target.paths[0]
    name = write.name
    return f"file:{name.name}" if name.namespace == "file" else f"{name.namespace}/{name.name.lstrip('/')}"
