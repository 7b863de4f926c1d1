"""Killed anywhere, landed twice, in any order, in any split: the same tables."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.pipeline.tables import TABLES
from tests.lakes import land, run_id
from tests.pipeline.lake_view import gold, table
from tests.pipeline.scenarios import BAD, FIRST, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(1800)]
# every write of a batch; `make pipeline-faults` kills after each, the ordinary run after one in the middle
STEPS = [t.path for t in TABLES] if os.environ.get("COLLINE_FAULTS") == "all" else ["gold/edges"]
ORDERS = int(os.environ.get("COLLINE_ORDERS", "1"))
EVENTS: list[Any] = [*FIRST[: -len(BAD)], *SECOND]
VICTIM = Path(__file__).parent / "victim.py"


@pytest.fixture(scope="module", autouse=True)
def small(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from colline.pipeline.ingest import ingest

    lake = tmp_path_factory.mktemp("undisturbed")
    land(lake, EVENTS)
    ingest(str(lake), spark=spark)
    return lake


@pytest.mark.parametrize("step", STEPS)
def test_killed_after_a_write_and_run_again(spark: SparkSession, undisturbed: Path, tmp_path: Path, step: str) -> None:
    from colline.pipeline.ingest import ingest

    shutil.copytree(undisturbed / "landing", tmp_path / "landing")
    tools = {
        **os.environ,
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",
        "PYTHONPATH": str(VICTIM.parent.parent.parent),
    }
    done = subprocess.run(
        [sys.executable, str(VICTIM), str(tmp_path), step], env=tools, check=False, capture_output=True
    )
    assert done.returncode == -9, done.stderr.decode()[-2000:]
    ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)
    for name in ("bronze/events", "silver/runs", "silver/observations"):
        assert len(table(tmp_path, name)) == len(table(undisturbed, name)), name


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order_split_and_repetition_gives_the_same_gold(
    spark: SparkSession, undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    from colline.pipeline.ingest import ingest

    chance = random.Random(seed)
    # a FAIL in a later batch than its COMPLETE takes back edges and reads, but not when columns were last seen:
    # the events of that run stay together
    fails = [e for e in EVENTS if e.get("run", {}).get("runId") == run_id("fails-2")]
    events = [e for e in [*EVENTS, *chance.sample(EVENTS, 10)] if e not in fails]
    chance.shuffle(events)
    events = [*fails, *events]
    where = chance.randrange(len(fails), len(events))
    for part in (events[:where], events[where:]):
        land(tmp_path, part)
        ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)


def test_a_lost_checkpoint_is_rebuilt_from_bronze_without_duplicates(spark: SparkSession, undisturbed: Path) -> None:
    from colline.pipeline.ingest import ingest

    before = gold(undisturbed)
    shutil.rmtree(undisturbed / "_colline" / "checkpoints")
    ingest(str(undisturbed), spark=spark)
    assert gold(undisturbed) == before
    assert len(table(undisturbed, "bronze/events")) == len(EVENTS)
