"""The lineage of SQL text by sqlglot is the lineage that Spark's own plans have, for the SQL cases of `tests/trace`.

`DIFFERENT` lists the cases that need Spark: types of columns, the schema of a target, syntax that only Spark has. A
case that agrees again must be removed from the list.
"""

from __future__ import annotations

import re

import pytest

from colline.sql_lineage.script_lineage import query_lineage, script_lineage
from colline.sql_lineage.script_statements import ScriptError
from colline.sql_lineage.sql_targets import column_lineage
from colline.sql_lineage.table_schema import FixedTables
from tests.trace.cases import Case, _split_columns, all_cases, column_lines

DIFFERENT = frozenset(
    (
        "aggregates: count_if, any, every and sketches",
        "changes: merge with update and insert",
        "changes: merge with conditions on its clauses",
        "changes: merge that evolves the schema",
        "changes: merge sets a struct member",
        "changes: update of a struct member",
        "definitions: creating a temporary view writes nothing",
        "expressions: two output columns of one name have the inputs of both",
        "expressions: struct star selects the members",
        "expressions: a member of an array of structs is a transformation of the column",
        "expressions: metadata columns are columns of their dataset",
        "expressions: an identifier clause and parameters are resolved",
        "expressions: variant members",
        "expressions: names with spaces and dots",
        "expressions: a struct member has the name that its struct gives it",
        "generators: inline returns the members of structs",
        "generators: json_tuple",
        "hive: insert overwrite a directory in a Hive format",
        "hive: insert overwrite a local directory in a Hive format",
        "iceberg: merge on read",
        "iceberg: a delete clause of a merge on read depends on the conditions before it",
        "iceberg: update on read",
        "order_and_limit: order by all",
        "pipes: a pipe of several steps",
        "pipes: a pipe with a join, a changed column and an order",
        "sets: members of structs are matched by position",
        "sets: members of struct columns are matched by position",
        "windows: a time window groups by its time, and drops the rows without one",
        "windows: session windows group by the gap",
        "writes: replace table as select of itself is a self edge",
        "writes: insert with a column list",
        "writes: insert into a static partition",
        "writes: insert overwrite a static partition of a delta table",
        "writes: insert with replace where reads the target",
        "writes: insert with replace where of the table that it reads",
        "writes: a column with the name of a member's path is written",
        "writes: insert overwrite directory",
        "writes: multi-insert has one output per target",
        "writes: insert of values comes from local data",
        "writes: insert from a table without a query",
    )
)
_OTHER_LINES = ("input: ", "output: ", "read: ", "opaque: ")


def _is_comparable(case: Case) -> bool:
    return not (case.is_python or case.setup or case.gap)


def _tables(case: Case) -> FixedTables:
    found = (re.fullmatch(r"([\w.`]+)\((.*)\)[^)]*", text, flags=re.DOTALL) for text in case.tables)
    return FixedTables({
        tuple(table[1].replace("`", "").split(".")): [
            column.strip().split()[0].strip("`") for column in _split_columns(table[2])
        ]
        for table in found
        if table is not None
    })  # fmt: skip


def _lines(case: Case) -> tuple[str, ...]:
    tables = _tables(case)
    found = script_lineage(case.code, "spark", tables)
    lineages = [write.lineage for write in found.writes if write.lineage is not None]
    if not lineages and not found.problems:
        query = query_lineage(case.code, "spark", tables).relation
        lineages = [column_lineage(dict(query.columns), query.row_dependencies)]
    return tuple(sorted({line for lineage in lineages for line in column_lines(lineage)}))


@pytest.mark.parametrize("case", [case for case in all_cases() if _is_comparable(case)], ids=lambda case: case.key)
def test_lineage_is_that_of_the_plan(case: Case) -> None:
    expected = tuple(line for line in case.expected if not line.startswith(_OTHER_LINES))
    try:
        found = _lines(case)
    except ScriptError:
        found = ()
    agrees = found == expected
    assert agrees is (case.key not in DIFFERENT), f"{found}"


def test_most_cases_agree() -> None:
    comparable = [case for case in all_cases() if _is_comparable(case)]
    assert len(DIFFERENT) < 0.2 * len(comparable)
