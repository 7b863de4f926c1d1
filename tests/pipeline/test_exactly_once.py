"""Killed anywhere, landed twice, in any order, in any split: the same tables."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.environment.java import SHORT_LIVED_JVM
from colline.lake.tables import TABLES
from colline.pipeline.rebuild import MARKER, REBUILT
from tests.lakes import land
from tests.pipeline.interrupts import interrupted
from tests.pipeline.lake_view import commits, gold, rows, table
from tests.pipeline.scenarios import BAD, FIRST, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.conftest import Ingested

pytestmark = [pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(1800)]
ALL = os.environ.get("COLLINE_FAULTS") == "all"
# every write of a batch; `make pipeline-faults` kills after each, the ordinary run after one of those beside others
STEPS = [t.path for t in TABLES] if ALL else ["gold/edges"]
# tables that a rebuild replaces, and one that is taken back when it fails
REBUILDS = [f"rebuild {t.path}" for t in REBUILT] if ALL else ["rebuild gold/edges"]
UNDOES = ["undo gold/columns"] if ALL else []
REBUILT_THEN = "gold/edges, then rebuilt"
# moments of its end, when the tables are whole
PUBLISHES = ["built", "placed"]
# moments between the writes, whatever Spark is doing then
MOMENTS = range(int(os.environ.get("COLLINE_MOMENTS", "10")) if ALL else 1)
TOGETHER = 5
ORDERS = int(os.environ.get("COLLINE_ORDERS", "1"))
SPLITS = 3
EVENTS: list[Any] = [*FIRST[: -len(BAD)], *SECOND]
VICTIM = Path(__file__).parent / "killed_ingest.py"
TOOLS = {
    **os.environ,
    "JAVA_TOOL_OPTIONS": SHORT_LIVED_JVM,
    "PYTHONPATH": str(VICTIM.parent.parent.parent),
    "PYTHONUNBUFFERED": "1",
}


@pytest.fixture(scope="module")
def undisturbed(ingested_twice: Ingested) -> Path:
    """A lake that two ingests brought everything to; in how many is not seen in gold."""
    return ingested_twice.copy


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every event in one landed file."""
    return land(tmp_path_factory.mktemp("landed"), EVENTS).parents[1]


def _lakes(landed: Path, folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """A lake for each name, with the same file landed."""
    lakes = {name: folder / name.replace("/", "-") for name in names}
    for lake in lakes.values():
        shutil.copytree(landed, lake / "landing")
    return lakes


def _kill(*how: str) -> None:
    """Ingests that were killed, with their JVM."""
    done = subprocess.run([sys.executable, str(VICTIM), *how], env=TOOLS, check=False, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()[-2000:]


@pytest.fixture(scope="module")
def held(landed: Path, undisturbed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By step: a lake whose ingest, or rebuild, was killed there."""
    folder = tmp_path_factory.mktemp("held")
    lakes = _lakes(landed, folder, (*STEPS, *((REBUILT_THEN, *PUBLISHES) if ALL else ())))
    for step in (*REBUILDS, *UNDOES):
        lakes[step] = folder / step.replace("/", "-")
        shutil.copytree(undisturbed, lakes[step], ignore=shutil.ignore_patterns("landing"))
    _kill("held", *(text for step, lake in lakes.items() for text in (str(lake), step.partition(",")[0])))
    return lakes


@pytest.fixture(scope="module")
def struck(landed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Lakes whose ingests were killed while they all ran, some together, at a random moment."""
    lakes = _lakes(landed, tmp_path_factory.mktemp("struck"), map(str, MOMENTS))
    for first in MOMENTS[::TOGETHER]:
        some = [str(lakes[str(n)]) for n in MOMENTS[first : first + TOGETHER]]
        chance = random.Random(first)
        # no lake can have come to its end by then
        writes = chance.randrange(len(some), len(some) + len(TABLES) - 2)
        _kill("struck", str(writes), f"{chance.uniform(0.0, 1.0):.3f}", *some)
    return lakes


@pytest.mark.parametrize("step", STEPS)
def test_killed_after_a_write_and_run_again(
    spark: SparkSession, undisturbed: Path, held: dict[str, Path], step: str
) -> None:
    from colline.pipeline.ingest import ingest

    lake = held[step]
    names = [t.path for t in TABLES]
    in_turn = {"bronze/events": names[:1], "gold/jobs": names[:-1], "silver/runs": names}
    there = [name for name in names if (lake / name / "_delta_log").exists()]
    assert there == in_turn.get(step, ["bronze/events", step])
    ingest(str(lake), spark=spark)
    assert gold(lake) == gold(undisturbed)
    for name in ("silver/runs", "silver/observations"):
        assert len(table(lake, name)) == len(table(undisturbed, name)), name
    assert len(table(lake, "bronze/events")) == len(EVENTS)


@pytest.mark.parametrize("step", [*REBUILDS, *UNDOES])
def test_a_rebuild_killed_after_a_write_is_taken_back_by_the_next_ingest(
    spark: SparkSession, undisturbed: Path, held: dict[str, Path], step: str
) -> None:
    from colline.graph import open_lake
    from colline.graph.snapshot.staleness import is_published
    from colline.pipeline.ingest import ingest

    lake, (kind, name) = held[step], step.split()
    assert (lake / MARKER).exists()
    assert commits(lake)[name] - commits(undisturbed)[name] == {"rebuild": 1, "undo": 2}[kind]
    # readers have what was published, and nothing is missing from it
    answers = [open_lake(of).upstream("same.total") for of in (lake, undisturbed)]
    assert (answers[0].columns, answers[0].unknown) == (answers[1].columns, answers[1].unknown)
    done = ingest(str(lake), spark=spark)
    assert rows(lake) == rows(undisturbed)
    assert (done.batches, is_published(lake), (lake / MARKER).exists()) == (0, True, False)


@pytest.mark.skipif(not ALL, reason="takes half a minute: make pipeline-faults")
def test_a_batch_that_was_killed_then_rebuilt_then_run_again(
    spark: SparkSession, undisturbed: Path, held: dict[str, Path]
) -> None:
    """Its stamp is in gold/edges alone: the rebuild brings its lines to all tables, and none is brought twice."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.rebuild import rebuild

    lake = held[REBUILT_THEN]
    rebuild(str(lake), spark=spark)
    assert gold(lake) == gold(undisturbed)
    again = ingest(str(lake), spark=spark)
    assert (again.batches, again.events) == (1, len(EVENTS))
    assert gold(lake) == gold(undisturbed)
    assert len(table(lake, "bronze/events")) == len(EVENTS)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
@pytest.mark.parametrize("seed", MOMENTS)
def test_killed_at_a_random_moment_and_run_again(
    spark: SparkSession, undisturbed: Path, struck: dict[str, Path], seed: int
) -> None:
    from colline.pipeline.ingest import ingest

    lake = struck[str(seed)]
    assert not (lake / "snapshot" / "CURRENT").exists()
    ingest(str(lake), spark=spark)
    assert gold(lake) == gold(undisturbed)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
@pytest.mark.parametrize("step", PUBLISHES)
def test_killed_while_it_publishes_and_run_again(
    spark: SparkSession, undisturbed: Path, held: dict[str, Path], step: str
) -> None:
    from colline.graph import open_lake
    from colline.pipeline.ingest import ingest

    lake = held[step]
    assert not (lake / "snapshot" / "CURRENT").exists()
    done = ingest(str(lake), spark=spark)
    assert (done.batches, done.snapshot is not None) == (0, True)
    assert open_lake(lake).upstream("same.total").snapshot == done.snapshot
    assert gold(lake) == gold(undisturbed)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
def test_upkeep_beside_an_ingest_changes_nothing(spark: SparkSession, undisturbed: Path, tmp_path: Path) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.maintain import Keep, maintain

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
    assert gold(tmp_path) == gold(undisturbed)


@pytest.mark.skipif(not ALL, reason="takes a minute: make pipeline-faults")
def test_ctrl_c_in_the_middle_of_a_rebuild_leaves_the_lake_as_it_was(undisturbed: Path, tmp_path: Path) -> None:
    from colline.graph import open_lake

    lake = tmp_path / "lake"
    shutil.copytree(undisturbed, lake)
    log = tmp_path / "err.txt"
    command = [sys.executable, "-m", "colline", "rebuild", "--lake", str(lake)]
    said = interrupted(command, log, TOOLS, lambda: "silver/observations" in log.read_text())
    assert "stopped; the lake is unchanged" in said
    assert rows(lake) == rows(undisturbed)
    assert not (lake / MARKER).exists()
    assert open_lake(lake).upstream("same.total").unknown == open_lake(undisturbed).upstream("same.total").unknown
    done = subprocess.run([*command, "--json"], env=TOOLS, check=True, capture_output=True)
    assert json.loads(done.stdout)["events"] == len(EVENTS)
    assert gold(lake) == gold(undisturbed)


def test_a_batch_goes_on_from_bronze_when_what_landed_is_gone(
    spark: SparkSession, undisturbed: Path, tmp_path: Path
) -> None:
    from colline.pipeline.ingest import IngestListener, ingest

    def fail(table: str) -> None:
        raise OSError(f"no space left after {table}")

    landed = land(tmp_path, EVENTS)
    with pytest.raises(OSError, match="after bronze/events"):
        ingest(str(tmp_path), spark=spark, watch=IngestListener(wrote=fail))
    landed.unlink()
    done = ingest(str(tmp_path), spark=spark)
    assert (done.batches, done.events) == (1, len(EVENTS))
    assert gold(tmp_path) == gold(undisturbed)


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order_split_and_repetition_gives_the_same_gold(
    spark: SparkSession, undisturbed: Path, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline import bronze, ingest_settings, reading
    from colline.pipeline.bronze import written
    from colline.pipeline.ingest import ingest

    chance = random.Random(seed)
    events = [*EVENTS, *chance.sample(EVENTS, 10)]
    chance.shuffle(events)
    cuts = sorted(chance.sample(range(1, len(events)), SPLITS - 1))
    for first, last in pairwise([0, *cuts, len(events)]):
        landed = land(tmp_path, events[first:last])
        # lines that say something first are read again, by the name of their file
        landed.rename(landed.with_name(f"odd {{name}} [1] 50%25, \\ *? {first}.ndjson"))
        # the first as where nobody can tell which files of bronze a batch wrote
        monkeypatch.setattr(bronze, "written", written if first else lambda *_: None)
        if first:  # as a batch of many runs is done: those in more than one task, all else in one
            monkeypatch.setattr(reading, "MANY_LINES", 0)
        if last == len(events):  # as a large batch is done: in many tasks, and (`make pipeline-faults`) compiled
            monkeypatch.setattr(ingest_settings, "SMALL_LINES", 0)
            if not ALL:
                monkeypatch.setattr(
                    ingest_settings, "MANY_TASKS", {**ingest_settings.MANY_TASKS, **ingest_settings.INTERPRETED}
                )
            monkeypatch.setattr(reading, "FEW_BODIES", 0)
        ingest(str(tmp_path), spark=spark)
    assert gold(tmp_path) == gold(undisturbed)
