"""The demo's Spark: local, small, on Delta, with an event log to reconcile with."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from colline.environment.java import BRIEF

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def started(root: Path, application: str, *, history: bool = True) -> Iterator[SparkSession]:
    """A session for as long as the block runs."""
    spark = start(root, application, history=history)
    try:
        yield spark
    finally:
        spark.stop()


def start(root: Path, application: str, *, history: bool = True) -> SparkSession:
    """A session of that name whose tables live under `root`, its event log too where there is to be a history of it.

    A second one after the first has stopped is an application of its own in the same JVM, and starts in a second.
    """
    import pyspark
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    from colline.environment.java import ensure_java
    from colline.environment.jvm_output import said_into

    ensure_java(pyspark.__version__)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    event_logs(root).mkdir(parents=True, exist_ok=True)
    builder = SparkSession.builder.master("local[2]").appName(application)
    for key, value in _settings(root, history).items():
        builder = builder.config(key, value)
    with said_into(root / "spark.log"):
        session = configure_spark_with_delta_pip(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    logging.getLogger("SQLQueryContextLogger").disabled = True  # the failing job's error is told once, by the demo
    return session


def event_logs(root: Path) -> Path:
    """Where Spark writes down what it ran."""
    return root / "spark-events"


def _settings(root: Path, history: bool) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.default.parallelism": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(root / "warehouse"),
        # small data and a short life: what the JVM would spend on compiling its hottest code is never earned back
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={root} {BRIEF} -XX:+UseSerialGC",
        "spark.sql.adaptive.enabled": "false",
        "spark.eventLog.enabled": str(history).lower(),
        "spark.eventLog.dir": event_logs(root).resolve().as_uri(),
        "spark.eventLog.compress": "false",
    }
