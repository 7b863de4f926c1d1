"""Reads from a live session what dataset names depend on: its configuration, file system and databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from colline.naming.dataset import NameContext, context_from_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SESSION_KEYS = ("spark.sql.warehouse.dir", "spark.sql.catalogImplementation", "spark.sql.defaultCatalog")
_HADOOP_KEYS = ("fs.defaultFS", "hive.metastore.uris", "hive.metastore.warehouse.dir")


def spark_conf(spark: SparkSession) -> dict[str, str]:
    """The application's Spark conf, with the session settings that dataset names depend on."""
    conf = dict(spark.sparkContext.getConf().getAll())
    for key in _SESSION_KEYS:
        value = spark.conf.get(key, None)
        if value:
            conf[key] = value
    return conf


def name_context(spark: SparkSession, conf: Mapping[str, str] | None = None) -> NameContext:
    """Everything that dataset names depend on in this session."""
    jvm = spark._jvm
    assert jvm is not None
    hadoop = spark._jsc.hadoopConfiguration()
    hadoop_conf = {key: hadoop.get(key) or "" for key in _HADOOP_KEYS}
    system = jvm.java.lang.System
    return replace(
        context_from_conf({**hadoop_conf, **(spark_conf(spark) if conf is None else conf)}),
        working_directory=system.getProperty("user.dir") or "",
        derby_home=system.getProperty("derby.system.home") or "",
        databases=Databases(spark),
    )


class Databases(Mapping[str, str]):
    """The location of each database, read from the catalog on first use."""

    def __init__(self, spark: SparkSession) -> None:
        self._catalog: Any = spark._jsparkSession.sessionState().catalog()
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._known:
            if not self._catalog.databaseExists(name):
                raise KeyError(name)
            self._known[name] = self._catalog.getDatabaseMetadata(name).locationUri().toString()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
