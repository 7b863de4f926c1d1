"""The tables of a statement by name, for events that are sent before the statement is analyzed."""

from __future__ import annotations

import pytest

from colline.sql_lineage.sql_table_names import MAX_SQL_CHARS, SqlTableNames, table_names

CASES = {
    "select * from a join b.c": ("a b.c", ""),
    "with x as (select * from y) insert overwrite z select * from x": ("y", "z"),
    "with x as (select * from y) select * from d.x": ("d.x y", ""),
    "merge into t using (select * from s) s2 on t.a = s2.a when matched then delete": ("s", "t"),
    "create or replace table lake.db.q using delta as select * from `my table`": ("my table", "lake.db.q"),
    "create temporary view v as select * from t": ("t", ""),
    "insert into t (a, b) select * from s": ("s", "t"),
    "update t set a = 1 where b in (select c from d)": ("d", "t"),
    "delete from t where a = 1": ("", "t"),
    "drop table if exists a.b": ("", "a.b"),
    "alter table a rename to b": ("", "a b"),
    "truncate table t": ("", "t"),
    "from t insert into a select * insert into b select *": ("t", "a b"),
    "cache table t": ("", ""),
    "describe table t": ("", ""),
    "use db": ("", ""),
    "show tables": ("", ""),
    "select * from parquet.`/data/a b`": ("parquet./data/a b", ""),
}


@pytest.mark.parametrize("text", CASES)
def test_tables_of_a_statement(text: str) -> None:
    found = table_names(text, "databricks")
    assert found is not None
    assert tuple(" ".join(".".join(parts) for parts in side) for side in (found.reads, found.writes)) == CASES[text]


@pytest.mark.parametrize("text", ["selec 1", "select 1; select 2", "(" * 5000, "select '" + "x" * MAX_SQL_CHARS])
def test_text_that_cannot_be_read(text: str) -> None:
    assert table_names(text, "databricks") is None


def test_queries_and_commands_are_distinguished() -> None:
    assert table_names("select 1", "databricks") == SqlTableNames()
    assert table_names("show tables", "databricks") == SqlTableNames(is_query=False)
    created = table_names("create table t as select 1", "databricks")
    assert created == SqlTableNames(writes=(("t",),), is_query=False, creates=True)
