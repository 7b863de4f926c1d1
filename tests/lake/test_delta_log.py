"""Facts about a table that are read without Spark equal those that Spark reads."""

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
    """One run that has ended, and one without events for two hours."""
    folder = tmp_path_factory.mktemp("a lake é")
    out, now = dataset("shop/a", "a int"), datetime.now(timezone.utc)
    began = (now - timedelta(hours=2)).isoformat()
    ended = event("COMPLETE", (now - timedelta(days=3)).isoformat(), run="ended", outputs=[out])
    return lake_of(spark, folder, [ended, event("START", began, run="open", outputs=[out])])


def test_tables_exist_as_spark_sees_them(spark: SparkSession, lake: Path) -> None:
    from delta.tables import DeltaTable

    from colline.lake import delta_log
    from colline.lake.tables import TABLES
    from colline.pipeline.delta_tables import LakeTables

    tables = LakeTables(spark, str(lake))
    for table in TABLES:
        is_there = (lake / table.path).is_dir()
        assert delta_log.exists(str(lake), table) is DeltaTable.isDeltaTable(spark, tables.path(table)) is is_there
    elsewhere = str(lake / "nothing here")
    assert [delta_log.exists(elsewhere, table) for table in TABLES] == [False] * len(TABLES)


def test_open_runs_are_found_by_the_time_of_their_last_event(lake: Path) -> None:
    from colline.lake import delta_log

    now = datetime.now(timezone.utc)
    for where in (str(lake), f"file://{lake}", lake.as_uri()):
        assert delta_log.has_open_runs(where, now - timedelta(hours=1)) is True
        # only the run that has ended is older than that
        assert delta_log.has_open_runs(where, now - timedelta(hours=24)) is False


def test_remote_lakes_and_unreadable_tables_are_left_to_spark(tmp_path: Path) -> None:
    from colline.lake import delta_log
    from colline.lake.tables import RUNS

    far = "s3a://bucket/lake"
    now = datetime.now(timezone.utc)
    assert (delta_log.exists(far, RUNS), delta_log.has_open_runs(far, now)) == (None, None)
    broken = tmp_path / RUNS.path / "_delta_log"
    broken.mkdir(parents=True)
    (broken / f"{0:020d}.json").write_text("no log\n")
    assert delta_log.has_open_runs(str(tmp_path), now) is None


def test_data_files_of_a_version_exist_unless_reading_them_needs_delta(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    from colline.lake import delta_log
    from colline.lake.tables import RUNS

    files = delta_log.data_files(str(lake), RUNS, 0)
    assert files is not None and len(files) == 2 and all(Path(file).is_file() for file in files)
    mapped = spark.range(1).write.format("delta").option("delta.columnMapping.mode", "name")
    mapped.save(str(tmp_path / RUNS.path))
    assert delta_log.data_files(str(tmp_path), RUNS, 0) is None
