"""The lineage of scripts, procedures and statements of each dialect, and what happens to SQL that cannot be read."""

from __future__ import annotations

import pytest

from colline.sql_lineage.script_lineage import query_lineage, script_lineage
from colline.sql_lineage.script_statements import MAX_SQL_CHARS, ScriptError, script_statements
from colline.sql_lineage.table_schema import FixedTables
from tests.sql_lineage.sql_cases import SqlCase, sql_cases

NO_TABLES = FixedTables({})


@pytest.mark.parametrize("case", sql_cases(), ids=lambda case: case.key)
def test_case(case: SqlCase) -> None:
    assert case.lines() == case.expected


def test_ten_thousand_nested_brackets_are_refused_with_their_line() -> None:
    sql = "create view v as\nselect " + "(" * 10_000 + "1" + ")" * 10_000
    [problem] = script_lineage(sql, "postgres", NO_TABLES).problems
    assert (problem.line, problem.message) == (2, "more than 200 nested brackets")


def test_text_beyond_the_limit_is_refused() -> None:
    [problem] = script_lineage("select 1;" * (MAX_SQL_CHARS // 8), "", NO_TABLES).problems
    assert problem.message.endswith("characters of SQL; at most 2,000,000 are read")


@pytest.mark.parametrize(
    "sql",
    [
        "select " + "a + b - " * 20_000 + "1 from t",
        "select " + "case when a then b else " * 5_000 + "1" + " end" * 5_000 + " from t",
        "select " + "f(" * 150 + "1" + ")" * 150,
        "select 'never closed",
        "select * from " + "(select * from " * 150 + "t" + ")" * 150,
        "with recursive r as (select * from r) select * from r",
        "\x00\x01\x02",
    ],
    ids=[
        "long chain",
        "nested case",
        "nested calls",
        "open string",
        "nested queries",
        "recursion",
        "control characters",
    ],
)
def test_hostile_text_ends_with_a_result_or_a_problem(sql: str) -> None:
    found = script_lineage(f"create view v as {sql}", "postgres", NO_TABLES)
    assert found.writes or found.problems


def test_one_query_has_columns_and_inputs() -> None:
    found = query_lineage("select a, b from shop.t", "spark", FixedTables({("shop", "t"): ["a", "b"]}))
    assert found.relation.names == ("a", "b")
    assert [name.name for name in found.inputs] == ["shop.t"]


def test_two_statements_are_not_one_query() -> None:
    with pytest.raises(ScriptError, match="expected one query, found 2 statements"):
        query_lineage("select 1; select 2", "spark", NO_TABLES)


def test_a_procedure_ends_with_its_block() -> None:
    script = (
        "create procedure g.p() begin\n  begin transaction;\n  insert into g.o select a from s.t;\n"
        "  if x > 0 then delete from g.o where b = 1; end if;\n"
        "  insert into g.o select case when a then b end from s.t;\nend;\n"
        "create view g.v as select a from s.t"
    )
    found = [(each.line, each.procedure) for each in script_statements(script, "bigquery")]
    assert found == [(3, "g.p"), (4, "g.p"), (5, "g.p"), (7, "")]
