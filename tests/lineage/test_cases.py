"""Every case on a live session: SQL → plan → lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from colline.capture.query import lineage
from tests.lineage.cases import Case, all_cases, shown
from tests.lineage.live import applies, made

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = all_cases()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_live_plan(case: Case, spark: SparkSession) -> None:
    if not applies(case, spark):
        pytest.skip(f"needs Spark {case.since}")
    with made(case, spark) as query:
        assert shown(lineage(query, spark)) == case.expected
