"""What is seen of a table without Spark is what Spark sees of it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes import dataset, event, lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run that has ended, and one that nobody has spoken of for two hours."""
    folder = tmp_path_factory.mktemp("a lake é")
    out, now = dataset("shop/a", "a int"), datetime.now(timezone.utc)
    began = (now - timedelta(hours=2)).isoformat()
    ended = event("COMPLETE", (now - timedelta(days=3)).isoformat(), run="ended", outputs=[out])
    return lake_of(spark, folder, [ended, event("START", began, run="open", outputs=[out])])


def test_tables_and_their_columns_are_as_spark_sees_them(spark: SparkSession, lake: Path) -> None:
    from delta.tables import DeltaTable

    from colline.lake import delta_log
    from colline.lake.tables import TABLES
    from colline.pipeline.store import Store

    store = Store(spark, str(lake))
    for table in TABLES:
        assert delta_log.exists(str(lake), table) is DeltaTable.isDeltaTable(spark, store.path(table)) is True
        assert delta_log.columns(str(lake), table) == set(store.read(table).columns)
    elsewhere = str(lake / "nothing here")
    assert [delta_log.exists(elsewhere, table) for table in TABLES] == [False] * len(TABLES)


def test_runs_that_nobody_speaks_of_are_found_by_the_time_they_were_last_spoken_of(lake: Path) -> None:
    from colline.lake import delta_log

    now = datetime.now(timezone.utc)
    for where in (str(lake), f"file://{lake}", lake.as_uri()):
        assert delta_log.has_open_runs(where, now - timedelta(hours=1)) is True
        # the one that has ended is older than that
        assert delta_log.has_open_runs(where, now - timedelta(hours=24)) is False


def test_spark_is_asked_of_a_lake_elsewhere_and_of_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    from colline.lake import delta_log
    from colline.lake.tables import RUNS

    far = "s3a://bucket/lake"
    assert (delta_log.exists(far, RUNS), delta_log.columns(far, RUNS)) == (None, None)
    broken = tmp_path / RUNS.path / "_delta_log"
    broken.mkdir(parents=True)
    (broken / f"{0:020d}.json").write_text("no log\n")
    here = str(tmp_path)
    assert (delta_log.columns(here, RUNS), delta_log.has_open_runs(here, datetime.now(timezone.utc))) == (None, None)
