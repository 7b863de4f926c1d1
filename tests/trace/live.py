"""Analyzing a case on a live session: its tables are made, its query is analyzed, what it made itself is dropped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.sessions import HAS_DELTA
from tests.trace.cases import Case, table_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def version_of(spark: SparkSession) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", spark.version)[:2])


def lacking(case: Case, spark: SparkSession) -> str:
    """What this session lacks of what the case uses; nothing where it has all."""
    if case.needs_delta and not HAS_DELTA:
        return "Delta is not published for this Spark"
    if case.topic == "iceberg" and spark.conf.get("spark.sql.catalog.ice", None) is None:
        return "Iceberg is not published for this Spark"
    if case.since and version_of(spark) < tuple(int(part) for part in case.since.split(".")):
        return f"needs Spark {case.since}"
    if case.topic == "sql_functions" and spark.conf.get("spark.sql.extensions", None) is not None:
        return "the parsers of Delta and Iceberg read no parameters"
    return ""


@contextmanager
def made(case: Case, spark: SparkSession, place: Path | None = None) -> Iterator[DataFrame | str]:
    """What the case analyzes, with its tables in place; `place` is a folder that its code may write to."""
    for table in case.tables:
        _ensure(table_ddl(table), spark)
    try:
        for statement in case.setup:
            spark.sql(statement)
        yield _query(case, spark, place)
    finally:
        if case.setup or place is not None:
            _clear(spark)


_there: dict[str, str] = {}


def _ensure(ddl: str, spark: SparkSession) -> None:
    """A table as `ddl` says; one that is there already is kept, since making tables is what takes the time."""
    name = ddl.split()[2].strip("`")
    if _there.get(name) == ddl:
        return
    if name in _there:
        spark.sql(f"drop table if exists {name}" if "." in name else f"drop table if exists `{name}`")
    spark.sql(ddl)
    _there[name] = ddl


def _query(case: Case, spark: SparkSession, place: Path | None) -> DataFrame | str:
    if not case.is_python:
        return case.code
    from pyspark.sql import functions

    names: dict[str, Any] = {"spark": spark, "F": functions, "place": place}
    exec(compile(textwrap.dedent(case.code), case.key, "exec"), names)
    return names.get("df", "")


def _clear(spark: SparkSession) -> None:
    """Drop what a case's own statements made; the tables that cases share stay."""
    for found in spark.catalog.listTables():
        if found.tableType == "TEMPORARY":
            spark.catalog.dropTempView(found.name)
        elif found.name not in _there:
            spark.sql(f"drop {'view' if found.tableType == 'VIEW' else 'table'} if exists `{found.name}`")
