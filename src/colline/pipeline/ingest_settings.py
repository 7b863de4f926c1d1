"""Copies of the user's session with the pipeline's settings. The user's session does not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark import RDD

from colline.pipeline.sources.landing import ONE_FILE_EACH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Rows of a table are decoded in batches of this size: 4,096 (Spark's default) of 50 KB did not fit into a driver of
# 3 GB, and a line may have megabytes.
FEW_ROWS = {"spark.sql.parquet.columnarReaderBatchSize": "32"}
ALWAYS = {
    **ONE_FILE_EACH,
    **FEW_ROWS,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # bytes that are not UTF-8 are moved to quarantine and must not end a batch
    "spark.sql.legacy.codingErrorAction": "true",
    # runs are aggregated in memory; beyond 128 of them Spark would sort their mentions instead
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "50000",
    # rows are found by partition; statistics of columns would never be used
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.stats.skipping": "false",
    # a task keeps the files of a few partitions open, instead of sorting all its lines by day
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    # Spark's UI shows short plans
    "spark.sql.ui.explainMode": "simple",
    # a batch may add rows to other partitions than those it replaces
    "spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false",
    # Spark looks for names of constraints that statements over the same frame do not have (`key not found`)
    "spark.sql.constraintPropagation.enabled": "false",
    # a table that is replaced keeps none of its partitions
    "spark.sql.sources.partitionOverwriteMode": "static",
    # a failed rebuild restores the versions before it, also old ones: their files were not deleted
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
}
# On one machine, planning again after each stage costs more than it gives, and a task to list files more than the
# listing.
ON_ONE_MACHINE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    # compiling the generated code of a batch's statements takes longer than a small batch
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# the tasks with which Delta lists the files of a table and compares them with its log
FEW_TASKS = {
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.vacuum.logging.enabled": "false",
    **ON_ONE_MACHINE,
}


# On one machine, the steps after parsing have one task per this number of lines. A small batch is one task, which needs
# no shuffle.
LINES_PER_TASK = 10_000
TASKS = "spark.colline.pipeline.tasks"


def set_tasks(spark: SparkSession, lines: int | None) -> None:
    """Set the number of tasks for a batch of this many lines; None before they are counted."""
    if not _on_one_machine(spark):
        return
    processors = spark.sparkContext.defaultParallelism
    tasks = processors if lines is None else min(2 * processors, 1 + lines // LINES_PER_TASK)
    _set(spark, {"spark.sql.shuffle.partitions": str(tasks), TASKS: None if lines is None else str(tasks)})


@contextmanager
def pipeline_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with the pipeline's settings."""
    with _session_copy(spark, {**ALWAYS, **(ON_ONE_MACHINE if _on_one_machine(spark) else {})}) as own:
        set_tasks(own, None)
        yield own


@contextmanager
def upkeep_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session for maintenance: on one machine with few tasks, where Delta would start thousands to list files."""
    with _session_copy(spark, {**FEW_ROWS, **(FEW_TASKS if _on_one_machine(spark) else {})}) as own:
        yield own


@contextmanager
def _session_copy(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[SparkSession]:
    """A copy of a session, as a stream makes one for itself: same settings, views and functions, on the same Spark.

    `newSession` would lose what the user set at run time, such as the keys of a store. Other threads that use the
    user's session are not affected.
    """
    rdd_to_frame = RDD.toDF
    own = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    active = own._jvm.org.apache.spark.sql.SparkSession
    before = active.getActiveSession()
    _set(own, wanted)
    activate(own)
    try:
        yield own
    finally:
        active.setActiveSession(before.get()) if before.isDefined() else active.clearActiveSession()
        # PySpark gives this method to the newest session object, also to the one it makes for each batch of a stream
        RDD.toDF = rdd_to_frame


def activate(own: SparkSession) -> None:
    """Make this the active session of the thread."""
    own._jvm.org.apache.spark.sql.SparkSession.setActiveSession(own._jsparkSession)


def _on_one_machine(spark: SparkSession) -> bool:
    return bool(spark.sparkContext.master.startswith("local"))


def _set(spark: SparkSession, wanted: Mapping[str, str | None]) -> None:
    for key, value in wanted.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)
