"""Killed anywhere, landed twice, in any order, in any split: the same tables."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.pipeline.tables import TABLES
from tests.lakes import land
from tests.pipeline.lake_view import gold, table
from tests.pipeline.scenarios import BAD, FIRST, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(1800)]
ALL = os.environ.get("COLLINE_FAULTS") == "all"
# every write of a batch; `make pipeline-faults` kills after each, the ordinary run after one in the middle
STEPS = [t.path for t in TABLES] if ALL else ["gold/edges"]
# moments between the writes, whatever Spark is doing then
MOMENTS = range(int(os.environ.get("COLLINE_MOMENTS", "10")) if ALL else 1)
ORDERS = int(os.environ.get("COLLINE_ORDERS", "1"))
SPLITS = 3
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


def _kill(lake: Path, *moment: str) -> None:
    """An ingest of the lake that was killed, with its JVM, at that moment."""
    tools = {
        **os.environ,
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",
        "PYTHONPATH": str(VICTIM.parent.parent.parent),
    }
    command = [sys.executable, str(VICTIM), str(lake), *moment]
    done = subprocess.run(command, env=tools, check=False, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()[-2000:]


@pytest.mark.parametrize("step", STEPS)
def test_killed_after_a_write_and_run_again(spark: SparkSession, undisturbed: Path, tmp_path: Path, step: str) -> None:
    from colline.pipeline.ingest import ingest

    shutil.copytree(undisturbed / "landing", tmp_path / "landing")
    _kill(tmp_path, step)
    ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)
    for name in ("bronze/events", "silver/runs", "silver/observations"):
        assert len(table(tmp_path, name)) == len(table(undisturbed, name)), name


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
@pytest.mark.parametrize("seed", MOMENTS)
def test_killed_at_a_random_moment_and_run_again(
    spark: SparkSession, undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    from colline.pipeline.ingest import ingest

    shutil.copytree(undisturbed / "landing", tmp_path / "landing")
    chance = random.Random(seed)
    # another step takes longer than this after each of these
    after = chance.choice(["start", *(t.path for t in TABLES[:-2])])
    _kill(tmp_path, after, f"{chance.uniform(0.0, 0.6):.3f}")
    ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order_split_and_repetition_gives_the_same_gold(
    spark: SparkSession, undisturbed: Path, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline import settings
    from colline.pipeline.ingest import ingest

    chance = random.Random(seed)
    events = [*EVENTS, *chance.sample(EVENTS, 10)]
    chance.shuffle(events)
    cuts = sorted(chance.sample(range(1, len(events)), SPLITS - 1))
    for first, last in pairwise([0, *cuts, len(events)]):
        land(tmp_path, events[first:last])
        if last == len(events):  # as a large batch is done: in many tasks, with compiled code
            monkeypatch.setattr(settings, "SMALL_LINES", 0)
        ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)


def test_a_lost_checkpoint_is_rebuilt_from_bronze_without_duplicates(spark: SparkSession, undisturbed: Path) -> None:
    from colline.pipeline.ingest import ingest

    before = gold(undisturbed)
    shutil.rmtree(undisturbed / "_colline" / "checkpoints")
    ingest(str(undisturbed), spark=spark)
    assert gold(undisturbed) == before
    assert len(table(undisturbed, "bronze/events")) == len(EVENTS)
