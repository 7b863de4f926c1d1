"""The lake that shows every rule, made once for all tests that look at it."""

from __future__ import annotations

import shutil
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
    """A lake after two ingests, a copy of it that nobody changes, and the second one's commits by table."""

    lake: Path
    copy: Path
    commits: dict[str, int]


@pytest.fixture(scope="session")
def ingested_twice(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Two ingests; the second one brings later runs, late ones, and names that turn out to be others'."""
    from colline.pipeline.ingest import ingest

    folder = tmp_path_factory.mktemp("lake with space")
    land(folder, FIRST)
    first = ingest(str(folder), spark=spark)
    assert (first.batches, first.events, first.quarantined) == (1, len(FIRST) - len(BAD), len(BAD))
    land(folder, SECOND)
    before = commits(folder)
    ingest(str(folder), spark=spark)
    after = {name: count - before[name] for name, count in commits(folder).items()}
    copy = tmp_path_factory.mktemp("undisturbed") / "lake"
    shutil.copytree(folder, copy)
    return Ingested(folder, copy, after)
