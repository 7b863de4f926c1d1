"""The tables do not depend on kills, repetition, order or batches."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.environment.java import SHORT_LIVED_JVM
from colline.errors import LakeError
from colline.lake.layout import PENDING_BATCH, REBUILD_VERSIONS
from colline.lake.tables import BRONZE, DESCRIPTIONS, QUARANTINE, RUNS, TABLES, Table
from colline.pipeline.delta_tables import LakeTables
from colline.pipeline.upkeep.rebuild import REBUILT
from tests.lakes import land
from tests.pipeline.interrupts import run_and_interrupt
from tests.pipeline.lake_view import commits, gold, rows, table
from tests.pipeline.scenarios import BAD, FIRST, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.conftest import Ingested

pytestmark = [pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(1800)]
ALL = os.environ.get("COLLINE_FAULTS") == "all"
# every write of a batch; `make pipeline-faults` kills after each, `make test` after one
UNWRITTEN = (QUARANTINE, DESCRIPTIONS)  # not written for the events of these lakes
STEPS = [t.path for t in TABLES if t not in UNWRITTEN] if ALL else ["gold/edges"]
# tables that a rebuild replaces, and one that is restored when it fails
REBUILDS = [f"rebuild {t.path}" for t in REBUILT if t not in UNWRITTEN] if ALL else ["rebuild gold/edges"]
UNDOES = ["undo gold/columns"] if ALL else []
REBUILT_THEN = "gold/edges, then rebuilt"
# moments of a publish, when the tables are complete
PUBLISHES = ["built", "placed"]
# random moments between the writes
MOMENTS = range(int(os.environ.get("COLLINE_MOMENTS", "10")) if ALL else 1)
TOGETHER = 5
ORDERS = int(os.environ.get("COLLINE_ORDERS", "1"))
SPLITS = 3
EVENTS: list[Any] = [*FIRST[: -len(BAD)], *SECOND]
InterruptedIngest = Callable[..., None]
VICTIM = Path(__file__).parent / "killed_ingest.py"
TOOLS = {
    **os.environ,
    "JAVA_TOOL_OPTIONS": SHORT_LIVED_JVM,
    "PYTHONPATH": str(VICTIM.parent.parent.parent),
    "PYTHONUNBUFFERED": "1",
}


@pytest.fixture(scope="module")
def expected_lake(ingested_twice: Ingested) -> Path:
    """A lake with all events, from two ingests; gold does not show how many there were."""
    return ingested_twice.copy


@pytest.fixture(scope="module")
def landing_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every event in one landed file."""
    return land(tmp_path_factory.mktemp("landed"), EVENTS).parents[1]


def _lakes(landing_folder: Path, folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """A lake for each name, with the same file landed."""
    lakes = {name: folder / name.replace("/", "-") for name in names}
    for lake in lakes.values():
        shutil.copytree(landing_folder, lake / "landing")
    return lakes


def _kill(*how: str) -> None:
    """Run ingests that kill themselves, with their JVM."""
    done = subprocess.run([sys.executable, str(VICTIM), *how], env=TOOLS, check=False, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()[-2000:]


@pytest.fixture(scope="module")
def killed_lakes(
    landing_folder: Path, expected_lake: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A lake per step, whose ingest or rebuild was killed there."""
    folder = tmp_path_factory.mktemp("killed")
    lakes = _lakes(landing_folder, folder, (*STEPS, *((REBUILT_THEN, *PUBLISHES) if ALL else ())))
    for step in (*REBUILDS, *UNDOES):
        lakes[step] = folder / step.replace("/", "-")
        shutil.copytree(expected_lake, lakes[step], ignore=shutil.ignore_patterns("landing"))
    _kill("at_steps", *(text for step, lake in lakes.items() for text in (str(lake), step.partition(",")[0])))
    return lakes


@pytest.fixture(scope="module")
def lakes_killed_at_random(landing_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Lakes whose ingests were killed together, a few at a time, at a random moment."""
    lakes = _lakes(landing_folder, tmp_path_factory.mktemp("random"), map(str, MOMENTS))
    for first in MOMENTS[::TOGETHER]:
        some = [str(lakes[str(n)]) for n in MOMENTS[first : first + TOGETHER]]
        chance = random.Random(first)
        # too few writes for any of the ingests to be complete
        writes = chance.randrange(len(some), len(some) + len(TABLES) - len(UNWRITTEN) - 2)
        _kill("after_writes", str(writes), f"{chance.uniform(0.0, 1.0):.3f}", *some)
    return lakes


@pytest.mark.parametrize("step", STEPS)
def test_killed_after_a_write_and_run_again(
    spark: SparkSession, expected_lake: Path, killed_lakes: dict[str, Path], step: str
) -> None:
    from colline.pipeline.ingest import ingest

    lake = killed_lakes[step]
    names = [t.path for t in TABLES]
    there = [name for name in names if (lake / name / "_delta_log").exists()]
    assert there == list(dict.fromkeys(["bronze/events", step]))
    ingest(str(lake), spark=spark)
    assert gold(lake) == gold(expected_lake)
    for name in ("silver/runs", "silver/mentions", "gold/observations"):
        assert len(table(lake, name)) == len(table(expected_lake, name)), name
    assert len(table(lake, "bronze/events")) == len(EVENTS)


@pytest.mark.parametrize("step", [*REBUILDS, *UNDOES])
def test_next_ingest_restores_tables_of_a_killed_rebuild(
    spark: SparkSession, expected_lake: Path, killed_lakes: dict[str, Path], step: str
) -> None:
    from colline.graph import open_lake
    from colline.graph.snapshot.staleness import is_published
    from colline.pipeline.ingest import ingest

    lake, (kind, name) = killed_lakes[step], step.split()
    assert (lake / REBUILD_VERSIONS).exists()
    assert commits(lake)[name] - commits(expected_lake)[name] == {"rebuild": 1, "undo": 2}[kind]
    # readers have what was published, and nothing is missing from it
    answers = [open_lake(of).upstream("same.total") for of in (lake, expected_lake)]
    assert (answers[0].columns, answers[0].unknown) == (answers[1].columns, answers[1].unknown)
    done = ingest(str(lake), spark=spark)
    assert rows(lake) == rows(expected_lake)
    assert (done.batches, is_published(lake), (lake / REBUILD_VERSIONS).exists()) == (0, True, False)


@pytest.mark.skipif(not ALL, reason="takes half a minute: make pipeline-faults")
def test_killed_batch_is_rebuilt_then_run_again(
    spark: SparkSession, expected_lake: Path, killed_lakes: dict[str, Path]
) -> None:
    """Its stamp is in gold/edges alone: the rebuild brings its lines to all tables, and none is brought twice."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.rebuild import rebuild

    lake = killed_lakes[REBUILT_THEN]
    rebuild(str(lake), spark=spark)
    assert gold(lake) == gold(expected_lake)
    again = ingest(str(lake), spark=spark)
    assert (again.batches, again.events) == (1, len(EVENTS))
    assert gold(lake) == gold(expected_lake)
    assert len(table(lake, "bronze/events")) == len(EVENTS)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
@pytest.mark.parametrize("seed", MOMENTS)
def test_killed_at_a_random_moment_and_run_again(
    spark: SparkSession, expected_lake: Path, lakes_killed_at_random: dict[str, Path], seed: int
) -> None:
    from colline.pipeline.ingest import ingest

    lake = lakes_killed_at_random[str(seed)]
    assert not (lake / "snapshot" / "CURRENT").exists()
    ingest(str(lake), spark=spark)
    assert gold(lake) == gold(expected_lake)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
@pytest.mark.parametrize("step", PUBLISHES)
def test_killed_while_it_publishes_and_run_again(
    spark: SparkSession, expected_lake: Path, killed_lakes: dict[str, Path], step: str
) -> None:
    from colline.graph import open_lake
    from colline.pipeline.ingest import ingest

    lake = killed_lakes[step]
    assert not (lake / "snapshot" / "CURRENT").exists()
    done = ingest(str(lake), spark=spark)
    assert (done.batches, done.snapshot is not None) == (0, True)
    assert open_lake(lake).upstream("same.total").snapshot == done.snapshot
    assert gold(lake) == gold(expected_lake)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
def test_maintain_during_an_ingest_changes_no_row(spark: SparkSession, expected_lake: Path, tmp_path: Path) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.maintain import Keep, maintain

    half = len(EVENTS) // 2
    land(tmp_path, EVENTS[:half])
    ingest(str(tmp_path), spark=spark)
    land(tmp_path, EVENTS[half:])
    ended = threading.Event()
    with ThreadPoolExecutor(1) as other:

        def upkeep() -> int:
            """As often as it can be done while the ingest runs."""
            times = 0
            while not ended.is_set():
                maintain(str(tmp_path), spark=spark, keep=Keep(landing=7, old_files=7))
                times += 1
            return times

        kept = other.submit(upkeep)
        try:
            ingest(str(tmp_path), spark=spark)
        finally:
            ended.set()
        assert kept.result() > 0
    assert gold(tmp_path) == gold(expected_lake)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
def test_rebuild_stopped_by_ctrl_c_restores_the_lake(expected_lake: Path, tmp_path: Path) -> None:
    from colline.graph import open_lake

    lake = tmp_path / "lake"
    shutil.copytree(expected_lake, lake)
    log = tmp_path / "err.txt"
    command = [sys.executable, "-m", "colline", "rebuild", "--lake", str(lake)]
    printed = run_and_interrupt(command, log, TOOLS, lambda: "silver/mentions" in log.read_text())
    assert "stopped; the lake is unchanged" in printed
    assert rows(lake) == rows(expected_lake)
    assert not (lake / REBUILD_VERSIONS).exists()
    assert open_lake(lake).upstream("same.total").unknown == open_lake(expected_lake).upstream("same.total").unknown
    done = subprocess.run([*command, "--json"], env=TOOLS, check=True, capture_output=True)
    assert json.loads(done.stdout)["events"] == len(EVENTS)
    assert gold(lake) == gold(expected_lake)


def test_batch_resumes_from_bronze_when_landed_files_are_gone(
    spark: SparkSession, expected_lake: Path, tmp_path: Path
) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.ingest import ingest
    from colline.pipeline.ingest_report import IngestListener

    def fail(table: str) -> None:
        raise OSError(f"no space left after {table}")

    landed = land(tmp_path, EVENTS)
    with pytest.raises(OSError, match="after bronze/events"):
        ingest(str(tmp_path), spark=spark, watch=IngestListener(wrote=fail))
    landed.unlink()
    files, manifest = HadoopFiles(spark), str(tmp_path / PENDING_BATCH)
    whole = files.read(manifest) or ""
    files.write(manifest, whole[:-1])
    with pytest.raises(LakeError, match="cannot be read"):
        ingest(str(tmp_path), spark=spark)
    files.write(manifest, whole)
    done = ingest(str(tmp_path), spark=spark)
    assert (done.batches, done.events) == (1, len(EVENTS))
    assert gold(tmp_path) == gold(expected_lake)


@pytest.fixture
def interrupt_after_runs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> InterruptedIngest:
    """Ingests a lake in a batch that writes bronze and its runs, and not what they report."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.ingest_report import IngestListener

    write = LakeTables._write

    def write_runs_only(tables: LakeTables, written: Table, *given: Any) -> None:
        if written in (BRONZE, RUNS):
            write(tables, written, *given)

    def fail(written: str) -> None:
        if written == RUNS.path:
            raise OSError("no space left")

    def ingest_partly(lake: Path, *folders: str) -> None:
        with monkeypatch.context() as patched, pytest.raises(OSError, match="no space left"):
            patched.setattr(LakeTables, "_write", write_runs_only)
            ingest(lake, spark, from_=folders, watch=IngestListener(wrote=fail))

    return ingest_partly


def test_interrupted_batch_whose_folder_is_gone_is_completed_before_the_next_one(
    spark: SparkSession, expected_lake: Path, tmp_path: Path, interrupt_after_runs: InterruptedIngest
) -> None:
    """For example a share that is no longer mounted."""
    from colline.pipeline.ingest import ingest

    share, lake, half = tmp_path / "share", tmp_path / "lake", len(EVENTS) // 2
    folder = str(land(share, EVENTS[:half]).parents[1])
    interrupt_after_runs(lake, folder)
    share.rename(tmp_path / "unmounted")
    land(lake, EVENTS[half:])
    assert ingest(lake, spark).batches == 1
    assert gold(lake) == gold(expected_lake)
    (tmp_path / "unmounted").rename(share)
    ingest(lake, spark, from_=folder)
    assert gold(lake) == gold(expected_lake)
    assert len(table(lake, "bronze/events")) == len(EVENTS)


def test_interrupted_batch_is_completed_when_its_table_versions_are_gone(
    spark: SparkSession, expected_lake: Path, tmp_path: Path, interrupt_after_runs: InterruptedIngest
) -> None:
    from deltalake import DeltaTable

    from colline.pipeline.ingest import ingest

    half = len(EVENTS) // 2
    land(tmp_path, EVENTS[:half])
    ingest(tmp_path, spark)
    land(tmp_path, EVENTS[half:])
    interrupt_after_runs(tmp_path)
    # another program vacuums the table without regard to the interrupted batch
    deleted = DeltaTable(str(tmp_path / RUNS.path)).vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert deleted
    ingest(tmp_path, spark)
    assert gold(tmp_path) == gold(expected_lake)
    assert len(table(tmp_path, "bronze/events")) == len(EVENTS)


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order_split_and_repetition_gives_the_same_gold(
    spark: SparkSession, expected_lake: Path, tmp_path: Path, seed: int
) -> None:
    from colline.pipeline.ingest import ingest

    chance = random.Random(seed)
    events = [*EVENTS, *chance.sample(EVENTS, 10)]
    chance.shuffle(events)
    bounds = sorted(chance.sample(range(1, len(events)), SPLITS - 1))
    for first, last in pairwise([0, *bounds, len(events)]):
        landed = land(tmp_path, events[first:last])
        # new payloads are read again, by the name of their file
        landed.rename(landed.with_name(f"odd {{name}} [1] 50%25, \\ *? {first}.ndjson"))
        ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(expected_lake)
