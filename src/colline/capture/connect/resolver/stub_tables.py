"""Gives a Spark session stub tables instead of catalogs and files, so that it can analyze plans of another server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from colline.capture.connect.recorded_plan import RecordedPlan, TableDescription
from colline.capture.listener import compile_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# in the order of compilation: each class uses the ones before it
_SOURCES = ("StubMetadataColumn", "StubTable", "StubCatalog", "StubView", "StubSource", "Statements", "StubFileSystem")
_SCHEME = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]{0,30})://")
# schemes of paths that any plan may have; others are added when a plan has them
_SCHEMES = ("file", "hdfs", "http", "https", "ftp", "webhdfs", "swebhdfs", "viewfs", "har")


class StubTables:
    """The stub classes in the JVM of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        classes = compile_java(self._jvm, files(__package__).joinpath("jvm"), _SOURCES)
        self.loader = classes[_SOURCES[-1]].getClassLoader()
        self._table = classes["StubTable"].getConstructors()[0]
        self._catalog = classes["StubCatalog"].getConstructor(None).newInstance(None)
        self._statements = classes["Statements"].getConstructor(None).newInstance(None)
        self._views = classes["StubView"].getConstructor(None).newInstance(None)
        self._catalog_name: str = classes["StubCatalog"].getName()
        self.format: str = classes["StubSource"].getName()
        self._file_system: str = classes["StubFileSystem"].getName()
        self._hadoop_confs = (spark._jsc.hadoopConfiguration(), spark._jsparkSession.sharedState().hadoopConf())
        for conf in self._hadoop_confs:
            conf.setClassLoader(self.loader)
        self._replace_file_systems(_SCHEMES)
        # without databases, Spark knows no location of a new table, so that it is named by the server's locations
        spark._jsparkSession.sharedState().externalCatalog().dropDatabase("default", True, True)

    def install(self, recorded: RecordedPlan, session: Any) -> None:
        """Replace the catalogs of a session (Java) by stubs with the tables of this plan."""
        # Spark loads catalogs and data sources with the class loader of the current thread
        self._jvm.java.lang.Thread.currentThread().setContextClassLoader(self.loader)
        for name in {"spark_catalog", *recorded.catalogs, *(table.parts[0] for table in recorded.tables)}:
            session.conf().set(f"spark.sql.catalog.{name}", self._catalog_name)
        for table in recorded.tables:
            self._catalog.put(self._array(table.parts), self._view(table) if table.view_text else self._stub(table))
        self._replace_file_systems(sorted({found.decode() for found in _SCHEME.findall(recorded.plan)}))
        for conf in self._hadoop_confs:
            conf.set("colline.working.directory", recorded.working_directory or "/")

    def statement_in(self, parsed: Any) -> str | None:
        """The name of the first node of parsed SQL (Java) that is not part of a query; None if it is a query."""
        found: str | None = self._statements.find(parsed)
        return found

    def clear(self) -> None:
        """Forget all tables."""
        self._catalog.clear()

    def missing_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of tables that were looked up and are not known."""
        return tuple(tuple(line.split("\t")) for line in self._catalog.missingNames().splitlines())

    def _stub(self, table: TableDescription) -> Any:
        paths = self._array([table.location]) if table.location else None
        options = self._map(table.options)
        name = ".".join(table.parts)
        arguments = [name, table.schema, table.provider, paths, options, self._array(table.partitions)]
        return self._table.newInstance(self._array(arguments))

    def _view(self, view: TableDescription) -> Any:
        properties = self._map(_view_properties(view))
        return self._views.create(self._array(view.parts), view.schema, view.view_text, properties)

    def _map(self, content: Mapping[str, str]) -> Any:
        found = self._jvm.java.util.HashMap()
        for name, value in content.items():
            found.put(name, value)
        return found

    def _replace_file_systems(self, schemes: Iterable[str]) -> None:
        for conf in self._hadoop_confs:
            for scheme in schemes:
                conf.set(f"fs.{scheme}.impl", self._file_system)
                conf.set(f"fs.{scheme}.impl.disable.cache", "true")

    def _array(self, items: Any) -> Any:
        gateway = self._spark.sparkContext._gateway
        assert gateway is not None
        array = gateway.new_array(self._jvm.java.lang.Object, len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array


def _view_properties(view: TableDescription) -> dict[str, str]:
    """The properties in which Spark keeps how the text of a view is resolved."""
    numbered = {"catalogAndNamespace.part.": view.view_namespace, "query.out.col.": view.view_columns}
    counts = {"catalogAndNamespace.numParts": view.view_namespace, "query.out.numCols": view.view_columns}
    properties = {
        f"view.{prefix}{index}": name for prefix, names in numbered.items() for index, name in enumerate(names)
    }
    return {**properties, **{f"view.{name}": str(len(names)) for name, names in counts.items() if names}}
