"""The session the pipeline works in, a copy of the user's with settings of its own: the user's stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from colline.pipeline.landing import ONE_FILE_EACH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How many rows of a table are unpacked at a time: a line may have megabytes, and Spark's 4,096 of 50 KB did not fit
# into a driver of 3 GB.
FEW_ROWS = {"spark.sql.parquet.columnarReaderBatchSize": "32"}
ALWAYS = {
    **ONE_FILE_EACH,
    **FEW_ROWS,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # bytes that are not UTF-8 are to be found, not to end a batch
    "spark.sql.legacy.codingErrorAction": "true",
    # runs are gathered in memory, a batch has thousands of them; beyond 128 Spark would sort all that is said of them
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "50000",
    # parts are found by their partition; numbers about columns would be counted and never used
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.stats.skipping": "false",
    # a task keeps the files of a few parts open; else it sorts all its lines by the day they came on
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    # the plan that a page may show, of seventy queries a batch, is a line a step and no more
    "spark.sql.ui.explainMode": "simple",
    # a batch may add rows beside the parts it replaces
    "spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false",
    # a table that is replaced keeps no part of what it was
    "spark.sql.sources.partitionOverwriteMode": "static",
    # a rebuild goes back to the versions before it, however old they are: no file of theirs was deleted
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
}
# Lines are read without compiled code: what reads them is one large expression, which costs seconds to compile and is
# interpreted in the end, being made of functions over lists.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
# On one machine, planning again after each stage costs more than it gives, and a task that looks at one file more than
# the look.
ON_ONE_MACHINE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    **INTERPRETED,
}
# A batch of fewer lines, and fewer that say something else, is done by one task at a time on one machine: tasks,
# broadcasts and compiled code cost more than the work in them.
SMALL_LINES, SMALL_DIFFERENT = 200_000, 2_000
FEW_TASKS = {"spark.sql.shuffle.partitions": "1", "spark.sql.autoBroadcastJoinThreshold": "-1", **INTERPRETED}
MANY_TASKS: dict[str, str | None] = {"spark.sql.autoBroadcastJoinThreshold": None, **COMPILED}
# What Delta's upkeep takes from the session: tasks to list a table's files, tasks to compare them with the log.
LITTLE_AT_A_TIME = {
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.vacuum.logging.enabled": "false",
    **ON_ONE_MACHINE,
}


@contextmanager
def pipeline_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with the pipeline's settings."""
    with _apart(spark, {**ALWAYS, **(ON_ONE_MACHINE if _on_one_machine(spark) else {})}) as own:
        yield own


@contextmanager
def upkeep_session(spark: SparkSession) -> Iterator[SparkSession]:
    """On one machine: as many tasks as it has use for, where Delta would start thousands to list files."""
    with _apart(spark, {**FEW_ROWS, **(LITTLE_AT_A_TIME if _on_one_machine(spark) else {})}) as own:
        yield own


@contextmanager
def _apart(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[SparkSession]:
    """A copy of a session, as a stream makes one for itself: same settings, views and functions, on the same Spark.

    `newSession` would lose what the user set while it ran, such as the keys of a store. Work that goes on in other
    threads of the user's session sees nothing of it.
    """
    own = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    active = own._jvm.org.apache.spark.sql.SparkSession
    before = active.getActiveSession()
    _set(own, wanted)
    activate(own)
    try:
        yield own
    finally:
        active.setActiveSession(before.get()) if before.isDefined() else active.clearActiveSession()


def activate(own: SparkSession) -> None:
    """Let what asks for the session of this thread get this one."""
    own._jvm.org.apache.spark.sql.SparkSession.setActiveSession(own._jsparkSession)


def unsized(spark: SparkSession) -> None:
    """Settle how lines are read before they are counted; the batch before left the session as it was done itself."""
    if _on_one_machine(spark):
        _set(spark, {**_many_tasks(spark), **INTERPRETED})


def sized(spark: SparkSession, *, lines: int, different: int) -> None:
    """Settle how a batch of so many lines, so many of them different, is done, in the session it has for itself."""
    if _on_one_machine(spark):
        is_small = lines < SMALL_LINES and different < SMALL_DIFFERENT
        _set(spark, FEW_TASKS if is_small else _many_tasks(spark))


def _many_tasks(spark: SparkSession) -> dict[str, str | None]:
    return {"spark.sql.shuffle.partitions": str(2 * spark.sparkContext.defaultParallelism), **MANY_TASKS}


def _on_one_machine(spark: SparkSession) -> bool:
    return bool(spark.sparkContext.master.startswith("local"))


def _set(spark: SparkSession, wanted: Mapping[str, str | None]) -> None:
    for key, value in wanted.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)
