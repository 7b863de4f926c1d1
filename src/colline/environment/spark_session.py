"""Starts local Spark sessions. A profile holds the settings for each use: the pipeline, `colline explain`, the demo."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.environment.java import SHORT_LIVED_JVM, collector_option, ensure_java, stderr_options
from colline.environment.jvm_output import hide_startup_output, redirect_output
from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Their errors are also raised in Python, where colline reports them; the log would add a page of Java for each.
STREAM_LOGGER = "org.apache.spark.sql.execution.streaming"
NOISY_LOGGERS = (
    STREAM_LOGGER,
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.delta.files.DeltaFileFormatWriter",
    "org.apache.spark.util.Utils",
)

_LOCAL_DRIVER = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@dataclass(frozen=True)
class SessionProfile:
    """The settings of a local session for one use.

    The JVM's output goes to `log_file` as long as it runs. Without a file, it goes to stderr once Spark has started.
    """

    master: str
    settings: Mapping[str, str]
    java_options: tuple[str, ...]
    needs_delta: bool = True
    log_file: Path | None = None
    log_level: str = "OFF"
    silent_loggers: tuple[str, ...] = ()


def pipeline_profile(*, short_lived: bool = False) -> SessionProfile:
    """A session that writes a lake on this machine; `short_lived` for a JVM with little to do."""
    settings = {
        **_LOCAL_DRIVER,
        **_DELTA,
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.shuffle.partitions": "4",
        # Spark keeps finished queries for its web UI, which is off; a batch has 70 queries with plans of up to 40 KB
        "spark.sql.ui.retainedExecutions": "20",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "500",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": f"{_driver_gigabytes()}g",
    }
    # an ingest takes 14 % less time than with the JVM's default collector; longer pauses do not matter here
    java_options = (collector_option("Parallel"), stderr_options(version("pyspark")))
    return SessionProfile(
        master=os.environ.get("COLLINE_SPARK_MASTER", "local[*]"),
        settings=settings,
        java_options=(*java_options, SHORT_LIVED_JVM) if short_lived else java_options,
        log_level="ERROR",
        silent_loggers=NOISY_LOGGERS,
    )


def explain_profile(folder: Path) -> SessionProfile:
    """A session that analyzes SQL on empty tables in `folder`, with Delta if it is installed."""
    delta = {
        **_DELTA,
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.default": "delta",  # MERGE and UPDATE need a table format that supports them
    }
    return SessionProfile(
        master="local[1]",
        settings={
            **_LOCAL_DRIVER,
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            **(delta if _has_delta() else {}),
        },
        java_options=(_derby_home(folder), *_small_jvm(), stderr_options(version("pyspark"))),
        needs_delta=False,
        log_file=folder / "spark.log",
    )


def demo_profile(folder: Path, event_log: Path | None) -> SessionProfile:
    """A session that runs the demo's jobs on tables in `folder`, with or without a Spark event log."""
    history = (
        {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": event_log.resolve().as_uri(),
            "spark.eventLog.compress": "false",
        }
        if event_log
        else {"spark.eventLog.enabled": "false"}
    )
    return SessionProfile(
        master="local[2]",
        settings={
            **_LOCAL_DRIVER,
            **_DELTA,
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.default.parallelism": "2",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.adaptive.enabled": "false",
            **history,
        },
        java_options=(_derby_home(folder), *_small_jvm()),
        log_file=folder / "spark.log",
    )


def session_for(name: str = "colline", *, short_lived: bool = False) -> SparkSession:
    """The active session, or a new one with the pipeline's profile."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    return active if active is not None else start_session(name, pipeline_profile(short_lived=short_lived))


def start_session(name: str, profile: SessionProfile) -> SparkSession:
    """A new local session for an application of that name."""
    from pyspark.sql import SparkSession

    ensure_java(version("pyspark"))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(profile.master).appName(name)
    java_options = {"spark.driver.extraJavaOptions": " ".join(option for option in profile.java_options if option)}
    for key, value in {**profile.settings, **java_options}.items():
        builder = builder.config(key, value)
    builder = _with_delta(builder, is_required=profile.needs_delta)
    if profile.log_file is None and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("starting Spark; the first start on a computer downloads its jars\n")
    with redirect_output(profile.log_file) if profile.log_file else hide_startup_output():
        session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel(profile.log_level)
    silence(session, *profile.silent_loggers)
    return session


def silence(spark: SparkSession, *loggers: str) -> None:
    """Turn off these loggers of the JVM. Does nothing where Spark does not log with Log4j 2."""
    from py4j.protocol import Py4JError

    log4j = spark.sparkContext._jvm.org.apache.logging.log4j
    with suppress(TypeError, Py4JError):
        for name in loggers:
            log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _with_delta(builder: Any, *, is_required: bool) -> Any:
    """The builder with Delta's jars, if the delta-spark package is installed."""
    if _has_delta():
        from delta import configure_spark_with_delta_pip

        return configure_spark_with_delta_pip(builder)
    if is_required:
        raise LakeError("delta-spark is not installed", hint="pip install 'colline[spark]'")
    return builder


def _has_delta() -> bool:
    return find_spec("delta") is not None


def _derby_home(folder: Path) -> str:
    """Keeps the files of Spark's embedded metastore out of the working directory."""
    return f"-Dderby.system.home={folder}"


def _small_jvm() -> tuple[str, str]:
    """Options for small data and a short run."""
    return SHORT_LIVED_JVM, collector_option("Serial")


def _driver_gigabytes() -> int:
    """A sixth of the machine's memory, between 1 and 16 GB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 2
    return max(1, min(16, total // (6 * 1024**3)))
