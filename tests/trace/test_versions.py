"""The Spark under test is the one asked for, and it stands on real Delta."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOME = "4.1"


@pytest.mark.spark
def test_the_session_is_of_the_version_asked_for(spark: SparkSession) -> None:
    assert spark.version.startswith(os.environ.get("COLLINE_MATRIX", HOME) + ".")


@pytest.mark.spark
@pytest.mark.delta
def test_a_merge_runs_on_real_delta(spark: SparkSession, tmp_path: Path) -> None:
    path = f"delta.`{tmp_path / 'stock'}`"
    spark.sql(f"create table {path} using delta as select id, id * 2 as amount from range(3)")
    spark.sql(
        f"merge into {path} t using (select 2 as id, 9 as amount) s on t.id = s.id when matched then update set *"
    )
    assert [tuple(row) for row in spark.sql(f"select * from {path} order by id").collect()] == [(0, 0), (1, 2), (2, 9)]
