"""A lake and a landing folder that are no plain local paths: another Hadoop file system, an address."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes import land
from tests.pipeline.lake_view import current, table
from tests.pipeline.scenarios import out, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def test_a_lake_on_another_file_system_is_fed_from_an_address_and_has_one_writer(
    spark: SparkSession, tmp_path: Path
) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.lock import LakeBusyError

    # Hadoop's own mount table: paths of this file system mean nothing to the machine's
    mounts, behind = f"m{uuid.uuid4().hex}", tmp_path / "behind"
    behind.mkdir()
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.set(f"fs.viewfs.mounttable.{mounts}.link./data", behind.as_uri())
    lake, landing = f"viewfs://{mounts}/data/the lake", tmp_path / "came in"
    land(landing, [*write("far", "far", 1, out("far")), "{nonsense"])
    lock = behind / "the lake" / "_colline" / "ingest.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("somebody else")
    with pytest.raises(LakeBusyError, match="somebody else"):
        ingest(lake, folders=[landing.as_uri()], spark=spark)
    lock.unlink()
    done = ingest(lake, folders=[landing.as_uri()], spark=spark)
    # a snapshot is a thing of the machine that serves it
    assert (done.events, done.quarantined, done.snapshot) == (2, 1, None)
    assert current(behind / "the lake", "far") == {"orders.amount -> far.total DIRECT/AGGREGATION"}
    assert len(table(behind / "the lake", "bronze/events")) == 3
    assert not lock.exists()
    assert ingest(lake, folders=[f"file:{landing}"], spark=spark).batches == 0
