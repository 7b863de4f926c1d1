"""What a write left in its table's log, asked of the table format afterwards, on the watch's own thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from colline.capture.measures import Commit
from colline.trace import DatasetName, Lifecycle, Statement, Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def commits_of(spark: SparkSession) -> Callable[[Statement], Mapping[DatasetName, Commit]]:
    """The function that looks up the last commits of a statement's Delta targets; other formats have none here."""
    jvm: Any = spark._jvm
    session = spark._jsparkSession

    def look(statement: Statement) -> dict[DatasetName, Commit]:
        found = {}
        for write in statement.writes:
            if write.target.provider.lower() == "delta" and write.lifecycle is not Lifecycle.DROP:
                # the log is in Delta's cache after a write, and its snapshot is the one the write left
                log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, _path(write))
                version = log.unsafeVolatileSnapshot().version()
                if version >= 0:
                    found[write.name] = Commit(str(version), _metrics(jvm, log, version))
        return found

    return look


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
