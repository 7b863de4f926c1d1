"""Every case on a live session: SQL → plan → lineage."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from colline.capture.analyze import application_context
from colline.plan import decode
from tests.trace.cases import Case, all_cases, check_case
from tests.trace.live import missing_requirement, opened_case, raw_plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = all_cases()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_live_plan(case: Case, spark: SparkSession) -> None:
    if reason := missing_requirement(case, spark):
        pytest.skip(reason)
    with opened_case(case, spark) as query:
        check_case(case, decode(raw_plan(query, spark)), application_context(spark))


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["plain", "hive"])
def test_lineage_of_cases_that_need_another_session(kind: str) -> None:
    """A JVM has one catalog for its lifetime, so these cases run in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.trace.other_session", kind], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
