"""The lake that shows every rule, created once for all tests that read it."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes import land
from tests.pipeline.lake_view import commits
from tests.pipeline.scenarios import BAD, FIRST, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Ingested:
    """A lake after two ingests, a copy of it that no test changes, and the commits of the second ingest by table.

    `leaked` are the frames that Spark still keeps because of them.
    """

    lake: Path
    copy: Path
    commits: dict[str, int]
    leaked: set[int]


@pytest.fixture(scope="session")
def ingested_twice(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Two ingests; the second one brings later runs, late ones, and symlinks of known names."""
    from colline.capture import rdd_lineage
    from colline.pipeline.ingest import ingest

    folder = tmp_path_factory.mktemp("lake [of] {two, with} space*")
    land(folder, FIRST)
    kept = _kept_frames(spark)
    with pytest.MonkeyPatch.context() as patched:
        # if an earlier test attached to the session, it would remember the latest 200 checkpoints
        patched.setattr(rdd_lineage, "_MAX_RDDS", 0)
        first = ingest(str(folder), spark=spark)
        assert (first.batches, first.events, first.quarantined) == (1, len(FIRST) - len(BAD), len(BAD))
        land(folder, SECOND, name="at 10:30:00 50%20.ndjson")
        before = commits(folder)
        ingest(str(folder), spark=spark)
    after = {name: count - before.get(name, 0) for name, count in commits(folder).items()}
    copy = tmp_path_factory.mktemp("copy") / "lake"
    shutil.copytree(folder, copy)
    return Ingested(folder, copy, after, _leaked_frames(spark, kept))


def _leaked_frames(spark: SparkSession, before: set[int]) -> set[int]:
    """The frames that Spark keeps in addition to those before, after garbage collection."""
    jvm = spark._jvm
    assert jvm is not None
    for _ in range(40):
        jvm.System.gc()
        leaked = _kept_frames(spark) - before
        if not leaked:
            return leaked
        time.sleep(0.25)
    return leaked


def _kept_frames(spark: SparkSession) -> set[int]:
    """The ids of frames whose rows Spark keeps, without Delta's own."""
    stored = spark.sparkContext._jsc.sc().getRDDStorageInfo()
    return {int(rdd.id()) for rdd in stored if "Delta Table State" not in str(rdd.name())}
