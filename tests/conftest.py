"""One Spark session for the whole run, with Delta, so that a test pays for its own work only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A live local session on real Delta."""
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    home: Path = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
    }
    builder = SparkSession.builder.master("local[2]").appName("colline tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = configure_spark_with_delta_pip(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
