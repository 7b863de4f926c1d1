"""The pytest plugin, used as its users do: in a project of its own, with a real session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.testing import ExpectedLineageError, assert_lineage
from colline.testing.lineage_lines import parse_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = "select region, sum(amount) as total, count(*) as n from sales group by region"
LINEAGE = """
    region <- sales.region  direct/identity
    total  <- sales.amount  direct/aggregation
    n      <- nothing
    *      <- sales.region  indirect/group_by
"""


@pytest.fixture(scope="module")
def sales(spark: SparkSession) -> SparkSession:
    spark.sql("create table if not exists sales (region string, amount double) using parquet")
    return spark


def test_equal_lineage_passes(sales: SparkSession) -> None:
    assert_lineage(sales.sql(QUERY), LINEAGE)
    assert_lineage(QUERY, LINEAGE, spark=sales)


def test_the_difference_is_shown(sales: SparkSession) -> None:
    wrong = LINEAGE.replace("amount  direct/aggregation", "amount  direct/identity")
    with pytest.raises(pytest.fail.Exception) as failure:
        assert_lineage(sales.sql(QUERY), wrong)
    assert str(failure.value).splitlines() == [
        "the lineage differs (- expected, + found)",
        "- total <- sales.amount direct/identity",
        "+ total <- sales.amount direct/aggregation",
    ]


def test_only_some_outputs_are_compared(sales: SparkSession) -> None:
    assert_lineage(sales.sql(QUERY), "total <- sales.amount direct/aggregation", only=["total"])


@pytest.mark.parametrize("line", ["total", "total <- sales.amount", "total <-", "n <- nothing direct/identity"])
def test_a_line_that_cannot_be_read_is_an_error(line: str) -> None:
    with pytest.raises(ExpectedLineageError) as error:
        parse_lines(f"# a comment\n\n{line}")
    assert error.value.line == line


PROJECT = """
import pytest

@pytest.fixture(scope="session")
def spark():
    from colline.environment.java import ensure_java
    from pyspark.sql import SparkSession
    ensure_java()
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sql("create table orders (region string, amount double) using parquet")
    yield session
    session.stop()

def test_revenue(spark, lineage_snapshot):
    lineage_snapshot(spark.sql("select region, sum(amount) as total from orders group by region"))
"""


def run_pytest(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.spark
def test_snapshots_are_files_that_are_updated_on_request(tmp_path: Path) -> None:
    test = tmp_path / "test_jobs.py"
    test.write_text(PROJECT)
    code, output = run_pytest(tmp_path)
    assert code == 1
    assert "there is no lineage snapshot" in output
    assert run_pytest(tmp_path, "--update-lineage")[0] == 0
    file = tmp_path / "lineage_snapshots" / "test_jobs" / "test_revenue.txt"
    assert file.read_text().splitlines() == [
        "region <- orders.region direct/identity",
        "total <- orders.amount direct/aggregation  sum(amount)",
        "* <- orders.region indirect/group_by  region",
    ]
    test.write_text(PROJECT.replace("sum(amount)", "avg(amount)"))
    code, output = run_pytest(tmp_path)
    assert code == 1
    assert "-total <- orders.amount direct/aggregation  sum(amount)" in output
    assert "+total <- orders.amount direct/aggregation  avg(amount)" in output
