"""`colline explain job.sql` prints the lineage of SQL text, without data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.capture.analyze import QueryError
from colline.capture.explain_sql import explain, split_statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("select 1; select 2", ["select 1", "select 2"]),
        ("select ';'; -- a; b", ["select ';'"]),
        ("select 'it''s; so' as `a;b` /* ; */;\r\n;\r\n", ["select 'it''s; so' as `a;b` /* ; */"]),
        (r"select 'a\'; b'; select 1", [r"select 'a\'; b'", "select 1"]),
        ("-- only a comment", []),
        ("", []),
        ("select 'never closed; select 1", ["select 'never closed", "select 1"]),
    ],
)
def test_script_is_split_at_semicolons_outside_quotes_and_comments(text: str, statements: list[str]) -> None:
    assert split_statements(text) == statements


DDL = """
create table orders (id int, region string, amount double) using delta location '{outside}';
create table totals (region string, total double);
"""
JOB = """
-- sales of each region
create table regional as select region, sum(amount) as total from orders where amount > 0 group by region;
merge into totals t using regional r on t.region = r.region
when matched then update set t.total = r.total when not matched then insert *;
"""


def run_explain(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "colline", "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)


@pytest.mark.spark
@pytest.mark.delta
def test_each_statement_is_explained_and_location_is_not_used(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "tables.sql").write_text(DDL.format(outside=outside), encoding="utf-8")
    (tmp_path / "a job.sql").write_text(JOB, encoding="utf-8")
    done = run_explain(str(tmp_path / "a job.sql"), "--ddl", str(tmp_path / "tables.sql"), "--json")
    assert done.returncode == 0, done.stderr
    fields = [
        {
            name: {(i["name"].rsplit("/", 1)[-1], i["field"]) for i in field["inputFields"]}
            for name, field in each["columnLineage"]["fields"].items()
        }
        for each in json.loads(done.stdout)
    ]
    assert fields == [
        {"region": {("orders", "region")}, "total": {("orders", "amount")}},
        {"region": {("regional", "region")}, "total": {("regional", "total")}},
    ]
    assert not outside.exists()


@pytest.mark.spark
def test_invalid_statement_has_the_error_of_spark(spark: SparkSession) -> None:
    with pytest.raises(QueryError, match="PARSE_SYNTAX_ERROR"):
        list(explain("selec 1", spark))
