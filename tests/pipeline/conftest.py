"""The lake that shows every rule, made once for all tests that look at it."""

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
    """A lake after two ingests, a copy of it that nobody changes, and the second one's commits by table.

    `left` are the frames that Spark still keeps because of them.
    """

    lake: Path
    copy: Path
    commits: dict[str, int]
    left: set[int]


@pytest.fixture(scope="session")
def ingested_twice(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Two ingests; the second one brings later runs, late ones, and names that turn out to be others'."""
    from colline.capture import rdd_lineage
    from colline.pipeline.ingest import ingest

    folder = tmp_path_factory.mktemp("lake [of] {two, with} space*")
    land(folder, FIRST)
    kept = _kept(spark)
    with pytest.MonkeyPatch.context() as patched:
        # where a test before attached to the session, the latest 200 checkpoints of anyone would be remembered
        patched.setattr(rdd_lineage, "_MAX_RDDS", 0)
        first = ingest(str(folder), spark=spark)
        assert (first.batches, first.events, first.quarantined) == (1, len(FIRST) - len(BAD), len(BAD))
        land(folder, SECOND, name="at 10:30:00 50%20.ndjson")
        before = commits(folder)
        ingest(str(folder), spark=spark)
    after = {name: count - before[name] for name, count in commits(folder).items()}
    copy = tmp_path_factory.mktemp("undisturbed") / "lake"
    shutil.copytree(folder, copy)
    return Ingested(folder, copy, after, _left(spark, kept))


def _left(spark: SparkSession, before: set[int]) -> set[int]:
    """What Spark keeps that it did not keep before, once the JVM has looked for what nobody needs."""
    jvm = spark._jvm
    assert jvm is not None
    for _ in range(40):
        jvm.System.gc()
        left = _kept(spark) - before
        if not left:
            return left
        time.sleep(0.25)
    return left


def _kept(spark: SparkSession) -> set[int]:
    """The ids of frames whose rows Spark keeps, without Delta's own."""
    told = spark.sparkContext._jsc.sc().getRDDStorageInfo()
    return {int(rdd.id()) for rdd in told if "Delta Table State" not in str(rdd.name())}
