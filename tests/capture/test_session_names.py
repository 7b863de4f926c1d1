"""Dataset names of real tables and paths in a live session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture.session_names import name_context
from colline.naming.rules import identify
from colline.plan.source import Source, SourceKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.delta]


def location(spark: SparkSession, table: str) -> str:
    rows = spark.sql(f"describe formatted {table}").where("col_name = 'Location'").collect()
    return str(rows[0].data_type)


def test_table_has_the_same_name_before_and_after_its_creation(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("create database if not exists shelf")
    spark.sql(f"create database if not exists elsewhere location '{tmp_path}/some where'")
    names = name_context(spark)
    for database in ("default", "shelf", "elsewhere"):
        before = identify(Source(SourceKind.TABLE, "delta", table=(database, "Books")), names)
        spark.sql(f"create table {database}.Books (id int) using delta")
        paths = (location(spark, f"{database}.books"),)
        after = identify(Source(SourceKind.TABLE, "delta", paths, ("spark_catalog", database, "books")), names)
        assert before == after
        assert after.name.namespace == "file"
        assert after.symlinks[0].name == f"{database}.books"
        spark.sql(f"drop table {database}.books")
    spark.sql("drop database elsewhere cascade")
    spark.sql("drop database shelf cascade")


def test_relative_path_is_resolved_in_the_working_directory_of_the_jvm(spark: SparkSession) -> None:
    found = identify(Source(SourceKind.PATH, "parquet", ("some/where",)), name_context(spark))
    assert found.name.name == f"{Path.cwd()}/some/where"


def origins(df: DataFrame, column: str) -> list[tuple[str, str, str, str]]:
    found = colline.lineage(df).fields[column]
    return [
        (
            each.column.dataset.namespace,
            each.column.dataset.name,
            each.column.field,
            each.transformations[0].effect.name,
        )
        for each in found
    ]


def test_jdbc_tables_and_queries_resolve_to_the_columns_of_the_database(spark: SparkSession, tmp_path: Path) -> None:
    url = f"jdbc:derby:{tmp_path}/shop;create=true;user=etl;password=s3cr3t"
    frame = spark.range(3).selectExpr("id", "id * 2 as total")
    watch = colline.attach(spark, transport={"type": "memory"})
    frame.write.format("jdbc").options(url=url, dbtable="orders").save()
    (output,) = watch.events[-1]["outputs"]
    watch.detach()
    place = f"file:{tmp_path}/shop"
    assert (output["namespace"], output["name"]) == (place, "ORDERS")
    assert "s3cr3t" not in str(watch.events)
    table = spark.read.format("jdbc").options(url=url, dbtable="orders").load()
    assert origins(table, "total") == [(place, "ORDERS", "total", "IDENTITY")]
    query = 'select "total" + 1 as more from orders o where "id" > 0'
    read = spark.read.format("jdbc").options(url=url, query=query).load()
    assert origins(read, "MORE") == [(place, "ORDERS", "total", "TRANSFORMATION")]
    (kept,) = colline.lineage(read).dataset
    assert (kept.column.field, kept.transformations[0].effect.name) == ("id", "FILTER")
    inside = spark.read.format("jdbc").options(url=url, dbtable='(select "id" as number from orders) t').load()
    assert origins(inside, "NUMBER") == [(place, "ORDERS", "id", "IDENTITY")]


def test_scan_of_two_folders_has_both_as_inputs(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        spark.range(2).write.parquet(f"{tmp_path}/{name}")
    df = spark.read.parquet(f"{tmp_path}/a", f"{tmp_path}/b")
    assert [name for _, name, _, _ in origins(df, "id")] == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert [each.name.name for each in colline.lineage(df).inputs] == [f"{tmp_path}/a", f"{tmp_path}/b"]


def test_case_alias_and_view_do_not_change_the_name(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(2).write.parquet(f"{tmp_path}/My Orders")
    spark.sql(f"create table default.cased using parquet location '{tmp_path}/My Orders'")
    spark.table("Default.CASED").createOrReplaceTempView("passing")
    frames = [
        spark.table("default.cased"),
        spark.table("DEFAULT.Cased").alias("other"),
        spark.sql("select ID as id from CaSeD"),
        spark.sql("select p.id from Passing p"),
        spark.read.parquet(f"file:{tmp_path}/My Orders/"),
    ]
    assert {tuple(origins(frame, "id")) for frame in frames} == {(("file", f"{tmp_path}/My Orders", "id", "IDENTITY"),)}
    spark.sql("drop table default.cased")


def test_function_marked_with_masks_is_masking(spark: SparkSession) -> None:
    from pyspark.sql.functions import udf

    @udf("string")
    @colline.masks
    def token(text: str) -> str:
        return text[::-1]

    @udf("string")
    def reverse(text: str) -> str:
        return text[::-1]

    df = spark.range(1).selectExpr("cast(id as string) as email")
    df.createOrReplaceTempView("people")
    spark.sql("create table default.people using parquet as select * from people")
    read = spark.table("default.people").select(token("email").alias("a"), reverse("email").alias("b"))
    lineage = colline.lineage(read)
    spark.sql("drop table default.people")
    assert [lineage.fields[name][0].transformations[0].masking for name in ("a", "b")] == [True, False]
