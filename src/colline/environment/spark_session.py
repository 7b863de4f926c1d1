"""The Spark session the pipeline runs on: the active one when there is one, else a local one with Delta."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING

from colline.environment.java import BRIEF, collector, ensure_java, to_stderr
from colline.environment.jvm_output import chatter_apart
from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a lake of one machine wants; a session that exists already keeps its own settings.
LOCAL_SETTINGS: dict[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    # what is told of past queries is for a page that nobody can open; a batch has seventy, with plans of 40 KB
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


# What fails is raised where the user waits, and told there. These would tell it before, a page of Java each.
OF_STREAMS = "org.apache.spark.sql.execution.streaming"
TELL_FIRST = (
    OF_STREAMS,
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.delta.files.DeltaFileFormatWriter",
    "org.apache.spark.util.Utils",
)


def session_for(name: str = "colline", *, brief: bool = False) -> SparkSession:
    """The active session, or a new local one with Delta; `brief`: its JVM has little to do."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    return active if active is not None else _local(name, brief=brief)


def _local(name: str, *, brief: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        from delta import configure_spark_with_delta_pip
    except ImportError as error:
        raise LakeError("delta-spark is not installed", hint="pip install 'colline[spark]'") from error
    spark_version = version("pyspark")
    ensure_java(spark_version)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(os.environ.get("COLLINE_SPARK_MASTER", "local[*]"))
    of_jvm = {
        "spark.driver.memory": f"{_driver_gigabytes()}g",
        # pauses hurt nobody here, and all else takes a seventh less than with the JVM's own choice
        "spark.driver.extraJavaOptions": " ".join(
            (collector("Parallel"), to_stderr(spark_version), *([BRIEF] if brief else []))
        ),
    }
    for key, value in {**LOCAL_SETTINGS, **of_jvm}.items():
        builder = builder.config(key, value)
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("starting Spark; the first start on a computer fetches its jars\n")
    with chatter_apart():
        session: SparkSession = configure_spark_with_delta_pip(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    hush(session, *TELL_FIRST)
    return session


def hush(spark: SparkSession, *loggers: str) -> None:
    """Let these say nothing, where Spark's own logger is at work; another one is the user's."""
    from py4j.protocol import Py4JError

    log4j = spark.sparkContext._jvm.org.apache.logging.log4j
    with suppress(TypeError, Py4JError):
        for name in loggers:
            log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _driver_gigabytes() -> int:
    """A sixth of the machine, between 1 and 16."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 2
    return max(1, min(16, total // (6 * 1024**3)))
