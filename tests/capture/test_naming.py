"""Names of real tables and paths, asked of a live session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.capture.naming import name_context
from colline.events.names import identify
from colline.plan.source import Source, SourceKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.delta]


def location(spark: SparkSession, table: str) -> str:
    rows = spark.sql(f"describe formatted {table}").where("col_name = 'Location'").collect()
    return str(rows[0].data_type)


def test_a_table_that_is_not_there_yet_has_the_name_it_will_have(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("create database if not exists shelf")
    spark.sql(f"create database if not exists elsewhere location '{tmp_path}/some where'")
    names = name_context(spark)
    for database in ("default", "shelf", "elsewhere"):
        before = identify(Source(SourceKind.TABLE, "delta", table=(database, "Books")), names)
        spark.sql(f"create table {database}.Books (id int) using delta")
        told = (location(spark, f"{database}.books"),)
        after = identify(Source(SourceKind.TABLE, "delta", told, ("spark_catalog", database, "books")), names)
        assert before == after
        assert after.name.namespace == "file"
        assert after.symlinks[0].name == f"{database}.books"
        spark.sql(f"drop table {database}.books")
    spark.sql("drop database elsewhere cascade")
    spark.sql("drop database shelf cascade")


def test_a_relative_path_is_below_the_jvms_directory(spark: SparkSession) -> None:
    found = identify(Source(SourceKind.PATH, "parquet", ("some/where",)), name_context(spark))
    assert found.name.name == f"{Path.cwd()}/some/where"
