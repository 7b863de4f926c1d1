"""One Spark session for the whole run, with Delta, so that a test pays for its own work only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HAS_DELTA = find_spec("delta") is not None
DELTA = {
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `delta` are skipped, with the reason, where this Spark has no Delta."""
    for item in items:
        if not HAS_DELTA and item.get_closest_marker("delta"):
            item.add_marker(pytest.mark.skip(reason="no Delta is published for this Spark"))


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """The browser's program. Where there is none: a failure in CI, a skip with its reason elsewhere."""
    from colline.machine.browser import installed_browser

    found = installed_browser()
    if found is None:
        reason = "no browser on this computer; hint: `make browser` brings one, or set COLLINE_BROWSER to its program"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A live local session on real Delta (without it where none is published for this Spark)."""
    import pyspark
    from pyspark.sql import SparkSession

    from colline.machine.java import ensure_java

    home: Path = tmp_path_factory.mktemp("spark")
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
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
