"""The tests run on the requested Spark version, with a working Delta."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.trace.cases import DEFAULT_SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_session_has_the_requested_version(spark: SparkSession) -> None:
    assert spark.version.startswith(os.environ.get("COLLINE_MATRIX", DEFAULT_SPARK) + ".")


@pytest.mark.spark
@pytest.mark.delta
def test_merge_runs_on_delta(spark: SparkSession, tmp_path: Path) -> None:
    path = f"delta.`{tmp_path / 'stock'}`"
    spark.sql(f"create table {path} using delta as select id, id * 2 as amount from range(3)")
    spark.sql(
        f"merge into {path} t using (select 2 as id, 9 as amount) s on t.id = s.id when matched then update set *"
    )
    assert [tuple(row) for row in spark.sql(f"select * from {path} order by id").collect()] == [(0, 0), (1, 2), (2, 9)]
