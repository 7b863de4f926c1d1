"""Prepares a case on a live session: creates its tables, runs its code, and drops what the case created."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.capture.connect.connect_session import is_connect
from tests.sessions import HAS_DELTA
from tests.trace.cases import Case, table_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def missing_requirement(case: Case, spark: SparkSession) -> str:
    """What the case needs and this session does not have; empty if it has everything."""
    if not case.runs_on(spark.version):
        return f"needs Spark {case.since or '3.5'} to {case.until or 'the newest'}"
    if case.needs_delta and not HAS_DELTA:
        return "Delta is not published for this Spark"
    if case.needs_iceberg and spark.conf.get("spark.sql.catalog.ice", None) is None:
        return "Iceberg is not published for this Spark"
    if case.needs_hive and spark.conf.get("spark.sql.catalogImplementation") != "hive":
        return "needs a session with a Hive metastore"
    if case.needs_plain_session and spark.conf.get("spark.sql.extensions", None) is not None:
        return "needs a session without the SQL parsers of Delta and Iceberg"
    return ""


@contextmanager
def opened_case(
    case: Case, spark: SparkSession, folder: Path | None = None, before_code: Callable[[], object] = lambda: None
) -> Iterator[Any]:
    """What the case analyzes: a DataFrame, SQL text, or a plan written by hand.

    `folder` is where the code of the case may write. `before_code` is called when the tables exist.
    """
    for table in case.tables:
        _ensure_table(table_ddl(table), spark)
    try:
        for statement in case.setup:
            spark.sql(statement)
        before_code()
        yield _run_code(case, spark, folder)
    finally:
        if case.setup or folder is not None:
            _drop_created(spark)


# application, or address of a Connect server → name of a table → the statement that created it
_existing_tables: dict[str, dict[str, str]] = {}


def _shared_tables(spark: SparkSession) -> dict[str, str]:
    key = str(spark.client._builder.endpoint) if is_connect(spark) else spark.sparkContext.applicationId
    return _existing_tables.setdefault(key, {})


def _ensure_table(ddl: str, spark: SparkSession) -> None:
    """Create a table. Cases share tables with equal definitions, because creating them takes most of the time."""
    name = ddl.split()[2].strip("`")
    existing = _shared_tables(spark)
    if existing.get(name) == ddl:
        return
    if name in existing:
        spark.sql(f"drop table if exists {name}" if "." in name else f"drop table if exists `{name}`")
    spark.sql(ddl)
    existing[name] = ddl


def raw_plan(query: DataFrame | str | dict[str, Any], spark: SparkSession) -> dict[str, Any]:
    """The analyzed plan as the JVM describes it; a plan written by hand as it is."""
    from colline.capture import listener
    from colline.capture.analyze import analyzed_plan

    if isinstance(query, dict):
        return query
    plan: dict[str, Any] = listener.plan_json(spark, analyzed_plan(query, spark))
    return plan


def _run_code(case: Case, spark: SparkSession, folder: Path | None) -> DataFrame | str | dict[str, Any]:
    if not case.is_python:
        return case.code
    from pyspark.sql import DataFrame, functions

    if is_connect(spark):
        from pyspark.sql.connect import functions  # type: ignore[no-redef]

    from tests.trace.plans import PlanWriter

    names: dict[str, Any] = {
        "spark": spark,
        "F": functions,
        "DataFrame": DataFrame,
        "PlanWriter": PlanWriter,
        "folder": folder,
        "java": partial(java_object, spark),
    }
    code = textwrap.dedent(case.code)
    # as a notebook does: Python then finds the source of the functions in the case
    linecache.cache[case.key] = (len(code), None, code.splitlines(keepends=True), case.key)
    exec(compile(code, case.key, "exec"), names)
    found: DataFrame | str | dict[str, Any] = names.get("plan") or names.get("df", "")
    return found


_ABSTRACT_CLASSES = {"org.apache.spark.sql.streaming.StatefulProcessor"}


def java_object(spark: SparkSession, interface: str, body: str) -> Any:
    """An instance of a Java class that is compiled here, for Spark APIs that Python does not offer.

    `java("MapFunction", "public Object call(Object row) { return row; }")`
    """
    full_name = interface if "." in interface else f"org.apache.spark.api.java.function.{interface}"
    relation = "extends" if full_name in _ABSTRACT_CLASSES else "implements"
    jvm: Any = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(f"public class Compiled {relation} {full_name} {{ {body} }}")
    constructor = compiler.getClassLoader().loadClass("Compiled").getConstructors()[0]
    return constructor.newInstance(spark.sparkContext._gateway.new_array(jvm.Object, 0))


def _drop_created(spark: SparkSession) -> None:
    """Drop what the statements of a case created. Tables that cases share are kept."""
    for found in spark.catalog.listTables():
        if found.tableType == "TEMPORARY":
            spark.catalog.dropTempView(found.name)
        elif found.name not in _shared_tables(spark):
            spark.sql(f"drop {'view' if found.tableType == 'VIEW' else 'table'} if exists `{found.name}`")
