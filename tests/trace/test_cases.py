"""Every case on a live session: SQL → plan → lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from colline.capture.analyze import application_context, read_plan
from tests.trace.cases import Case, all_cases, check
from tests.trace.live import lacking, made

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = all_cases()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_live_plan(case: Case, spark: SparkSession) -> None:
    if why := lacking(case, spark):
        pytest.skip(why)
    with made(case, spark) as query:
        check(case, read_plan(query, spark), application_context(spark))
