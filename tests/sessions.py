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
# A Connect server in the session's JVM, on a free port
CONNECT = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
}
# Spark version → the Iceberg that is published for it
ICEBERG = {
    "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
_ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def iceberg(home: Path, version: str) -> tuple[list[str], dict[str, str]]:
    """The packages and settings of a catalog `ice` on real Iceberg, none where this Spark has none."""
    package = ICEBERG.get(".".join(version.split(".")[:2]))
    if package is None or not HAS_DELTA:
        return [], {}
    return [package], {
        "spark.sql.extensions": f"{DELTA['spark.sql.extensions']},{_ICEBERG_EXTENSIONS}",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(home / "warehouse"),
    }


# a catalog `shop` over a Derby database that lives in the JVM's memory
JDBC_CATALOG = {
    "spark.sql.catalog.shop": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.catalog.shop.url": "jdbc:derby:memory:shop;create=true",
}
# a Hive metastore in the JVM's memory
HIVE = {
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
}


def has_connect() -> bool:
    """Whether PySpark includes the Connect server: since 4.0."""
    import pyspark

    return any((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*.jar"))


def derby_driver(version: str) -> str:
    """The driver class of the Derby that comes with a Spark version."""
    return f"org.apache.derby.{'' if version.startswith('3.') else 'iapi.'}jdbc.AutoloadedDriver"


def session(home: Path, *, plain: bool = False, hive: bool = False) -> SparkSession:
    """A live local session with Delta, Iceberg and a Connect server, where this Spark has them.

    Its files are below `home`. A `plain` session has neither Delta nor Iceberg.
    A `hive` session is a plain one with a Hive metastore.
    """
    plain = plain or hive
    import pyspark
    from pyspark.sql import SparkSession

    from colline.environment.jar_downloads import one_download_at_a_time
    from colline.environment.java import collector_option, ensure_java
    from colline.environment.spark_session import delta_packages

    os.environ["PYSPARK_PYTHON"] = sys.executable
    packages, catalog = ([], {}) if plain else iceberg(home, pyspark.__version__)
    ensure_java(pyspark.__version__)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home} {collector_option('Parallel')}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        **JDBC_CATALOG,
        "spark.sql.catalog.shop.driver": derby_driver(pyspark.__version__),
        **(HIVE if hive else {}),
        **(DELTA if HAS_DELTA and not plain else {}),
        **(CONNECT if has_connect() else {}),
        **catalog,
    }
    builder = SparkSession.builder.master("local[2]").appName("colline tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    if HAS_DELTA and not plain:
        from delta import configure_spark_with_delta_pip

        builder = configure_spark_with_delta_pip(builder, extra_packages=packages)
    with one_download_at_a_time([*packages, *([] if plain else delta_packages())]):
        started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started


def connect_session(spark: SparkSession) -> SparkSession:
    """A new Spark Connect session on the server in the JVM of a session."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    service = getattr(getattr(spark._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$"), "MODULE$")
    created: SparkSession = ConnectSession.builder.remote(f"sc://127.0.0.1:{service.localPort()}").create()
    return created
