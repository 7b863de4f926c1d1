"""What a live session says about names: its configuration, its file system, where its databases are."""

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
    """The configuration of the application, with the few session keys that naming needs."""
    conf = dict(spark.sparkContext.getConf().getAll())
    for key in _SESSION_KEYS:
        found = spark.conf.get(key, None)
        if found:
            conf[key] = found
    return conf


def name_context(spark: SparkSession, conf: Mapping[str, str] | None = None) -> NameContext:
    """Everything the session says about names."""
    jvm = spark._jvm
    assert jvm is not None
    hadoop = spark._jsc.hadoopConfiguration()
    told = {key: hadoop.get(key) or "" for key in _HADOOP_KEYS}
    system = jvm.java.lang.System
    return replace(
        context_from_conf({**told, **(spark_conf(spark) if conf is None else conf)}),
        working_directory=system.getProperty("user.dir") or "",
        derby_home=system.getProperty("derby.system.home") or "",
        databases=Databases(spark),
    )


class Databases(Mapping[str, str]):
    """Where databases keep their tables, asked of the catalog when first needed."""

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
