"""The session that tests and recordings run on."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HAS_DELTA = find_spec("delta") is not None
DELTA = {
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def session(home: Path) -> SparkSession:
    """A live local session on real Delta (without it where this Spark has none), its files below `home`."""
    import pyspark
    from pyspark.sql import SparkSession

    from colline.machine.java import ensure_java

    os.environ["PYSPARK_PYTHON"] = sys.executable
    ensure_java(pyspark.__version__)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        **(DELTA if HAS_DELTA else {}),
    }
    builder = SparkSession.builder.master("local[2]").appName("colline tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    if HAS_DELTA:
        from delta import configure_spark_with_delta_pip

        builder = configure_spark_with_delta_pip(builder)
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started
