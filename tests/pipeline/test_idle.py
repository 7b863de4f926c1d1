"""An ingest that has nothing to do says so without Spark, and only then."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.lakes import dataset, event, lake_of, land

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def settled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with all that has landed, and a run that began an hour ago."""
    began = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
    folder = tmp_path_factory.mktemp("a lake é")
    return lake_of(spark, folder, [event("START", began, run="open", outputs=[dataset("shop/a", "a int")])])


@pytest.fixture
def lake(settled: Path, tmp_path: Path) -> Path:
    """A copy, with what it says of its own place put right."""
    copy = tmp_path / "lake"
    shutil.copytree(settled, copy)
    note = copy / "_colline" / "landed.json"
    note.write_text(note.read_text().replace(settled.as_posix().replace("é", "\\u00e9"), copy.as_posix()))
    return copy


def _is_idle(lake: Path) -> bool:
    from colline.pipeline.idle import is_idle

    return is_idle(str(lake), [f"{lake}/landing"])


def test_nothing_new_is_told_where_no_java_can_start(settled: Path) -> None:
    # no JVM takes two collectors
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:+UseParallelGC"}
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(settled)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"nothing new in {settled}\n", "")


def test_what_is_not_read_is_told_each_time(lake: Path) -> None:
    from colline.cli.ingest import command
    from colline.pipeline.idle import landed, note

    (lake / "landing" / "a.txt").write_text("{}")
    (lake / "landing" / "b.log").write_text("{}")
    (checkpoint,) = (lake / "_colline" / "checkpoints").iterdir()
    note(str(lake), [{**(landed(f"{lake}/landing") or {}), "checkpoint": str(checkpoint)}])  # as an ingest would
    done = CliRunner().invoke(command, ["--lake", str(lake)])
    ignored = f"ignored: {lake}/landing/a.txt and 1 more; landed files end in .ndjson, .jsonl or .json, "
    assert (done.stdout, done.stderr) == (f"nothing new in {lake}\n", f"{ignored}optionally with .gz or .zst\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file landed": lambda lake: land(lake, ["{}"]),
    "a file went, and another came": lambda lake: next((lake / "landing").glob("*/*")).rename(lake / "landing/x.json"),
    "a batch was begun": lambda lake: (lake / "_colline/pending").write_text("landing"),
    "a rebuild was begun": lambda lake: (lake / "_colline/rebuild.json").write_text("{}"),
    "the checkpoint is gone": lambda lake: shutil.rmtree(lake / "_colline/checkpoints"),
    "the lake is of another version": lambda lake: (lake / "_colline/lake.json").write_text('{"version": 1}'),
    "the snapshot is gone": lambda lake: shutil.rmtree(lake / "snapshot"),
    "a table is gone": lambda lake: shutil.rmtree(lake / "gold/edges"),
    "the note cannot be read": lambda lake: (lake / "_colline/landed.json").write_text("[{}"),
    "the folder is gone": lambda lake: shutil.rmtree(lake / "landing"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_spark_is_asked_when(change: str, lake: Path) -> None:
    assert _is_idle(lake)
    CHANGES[change](lake)
    assert not _is_idle(lake)


def test_spark_is_asked_when_a_run_is_unfinished_by_now(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from colline.pipeline import runs

    assert _is_idle(lake)
    monkeypatch.setattr(runs, "UNFINISHED_AFTER", timedelta(minutes=1))
    assert not _is_idle(lake)


def test_spark_is_asked_of_a_folder_that_was_never_read_and_of_one_elsewhere(lake: Path) -> None:
    from colline.pipeline.idle import is_idle

    (lake / "more").mkdir()
    assert not is_idle(str(lake), [f"{lake}/landing", f"{lake}/more"])
    assert not is_idle(str(lake), ["s3a://bucket/landing"])
    assert not is_idle("s3a://bucket/lake", ["s3a://bucket/lake/landing"])


def test_what_landed_since_the_last_ingest_is_little_or_much(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from colline.pipeline import idle

    def is_little(*folders: str) -> bool:
        return idle.is_little(str(lake), folders or (f"{lake}/landing",))

    landed = land(lake, ["{}"])
    monkeypatch.setattr(idle, "LITTLE", landed.stat().st_size + 1)
    assert is_little()
    assert not is_little("s3a://bucket/landing")
    land(lake, ["{}"])
    assert not is_little()
    # all of it was there before the last ingest ended
    (lake / idle.NOTE).touch()
    os.utime(lake / idle.NOTE, (landed.stat().st_mtime + 60,) * 2)
    assert is_little()
    (lake / idle.NOTE).unlink()
    assert not is_little()


def test_a_lake_that_somebody_writes_is_not_idle_but_busy(lake: Path) -> None:
    from colline.lake.lock import LakeBusyError, lock_local_lake

    with lock_local_lake(lake), pytest.raises(LakeBusyError, match="is being written by"):
        _is_idle(lake)
