"""`colline explain job.sql` prints the lineage of SQL text, without data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from colline.capture.explain_sql import needs_delta, split_statements


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


FAILING = """
create table raw.orders (id int, region string, amount double);
insert into totals select region, sum(amount) as total from raw.orders group by region;
selec 1;
select nothing from raw.orders;
insert into never select * from missing;
with big as (select * from raw.orders where amount > 10) insert into gold.big (key, area) select id, region from big;
insert overwrite daily partition (day = '2026-01-01', area) select amount, region from raw.orders;
select d.amount, d.day, t.total from daily d join totals t on d.area = t.region;
insert into totals values ('north', 1.0)
"""


@pytest.mark.spark
def test_failing_statement_stops_no_other_and_insert_needs_no_ddl(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(FAILING, encoding="utf-8")
    done = run_explain(str(tmp_path / "job.sql"), "--json")
    assert done.returncode == 1
    assert done.stderr == "3 of 8 statements could not be explained\n"
    found = json.loads(done.stdout)
    assert [sorted(each.get("columnLineage", {}).get("fields", ())) for each in found] == [
        ["region", "total"], [], [], [], ["area", "key"], ["amount", "area", "day"], ["amount", "day", "total"],
        ["region", "total"],
    ]  # fmt: skip
    errors = [each["error"] for each in found if "error" in each]
    for error, text in zip(errors, ("'selec'", "`nothing`", "`missing`"), strict=True):
        assert text in error and "\nhint: " in error
    assert "\tat " not in done.stdout and "Exception" not in done.stdout


@pytest.mark.spark
def test_errors_are_printed_after_the_statement_without_a_trace_of_java(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text("select 1 as one; insert into x select * from missing; select 2 as two")
    done = run_explain(str(tmp_path / "job.sql"))
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith(("one", "two", "--"))] == [
        "-- select 1 as one", "one     —     no input", "-- select 2 as two", "two     —     no input",
    ]  # fmt: skip
    title, error, *_ = done.stderr.splitlines()
    assert title == "-- insert into x select * from missing"
    assert error.startswith("error: [TABLE_OR_VIEW_NOT_FOUND] The table or view `missing` cannot be found.")
    assert "\tat " not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("insert into t select a from s", False),
        ("select updated_at from merged", False),
        ("merge into t using s on t.id = s.id when matched then delete", True),
        ("create table t (a int) USING DELTA", True),
        ("update t set a = 1", True),
    ],
)
def test_delta_is_used_only_where_a_script_needs_it(text: str, expected: bool) -> None:
    assert needs_delta(text) is expected
