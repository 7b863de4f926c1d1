"""An ingest that has nothing to do ends without Spark."""

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
def idle_lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with all that has landed, and a run that began an hour ago."""
    began = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
    folder = tmp_path_factory.mktemp("a lake é")
    return lake_of(spark, folder, [event("START", began, run="open", outputs=[dataset("shop/a", "a int")])])


@pytest.fixture
def lake(idle_lake: Path, tmp_path: Path) -> Path:
    """A copy with its own path."""
    copy = tmp_path / "lake"
    shutil.copytree(idle_lake, copy)
    note = copy / "_colline" / "landed.json"
    note.write_text(note.read_text().replace(idle_lake.as_posix().replace("é", "\\u00e9"), copy.as_posix()))
    return copy


def _is_idle(lake: Path) -> bool:
    from colline.pipeline.sources.pending import is_idle

    return is_idle(str(lake), [f"{lake}/landing"])


def test_nothing_new_is_reported_without_java(idle_lake: Path) -> None:
    # a JVM does not start with two collectors
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:+UseParallelGC"}
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(idle_lake)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"nothing new in {idle_lake}\n", "")


def test_check_and_run_history_import_neither_spark_nor_pandas(idle_lake: Path) -> None:
    for name in ("ingest", "runs"):
        command = [sys.executable, "-X", "importtime", "-m", "colline", name, "--lake", str(idle_lake)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0
        assert not [module for module in ("pyspark", "pandas") if f" {module}\n" in done.stderr]


def test_ignored_files_are_reported_each_time(lake: Path) -> None:
    from colline.cli.operate.ingest import command
    from colline.pipeline.sources.pending import landed_files, record_landed

    (lake / "landing" / "a.txt").write_text("{}")
    (lake / "landing" / "b.log").write_text("{}")
    (checkpoint,) = (lake / "_colline" / "checkpoints").iterdir()
    record_landed(
        str(lake), [{**(landed_files(f"{lake}/landing") or {}), "checkpoint": str(checkpoint)}]
    )  # as an ingest would
    done = CliRunner().invoke(command, ["--lake", str(lake)])
    ignored = f"ignored: {lake}/landing/a.txt and 1 more; landed files end in .ndjson, .jsonl or .json, "
    assert (done.stdout, done.stderr) == (f"nothing new in {lake}\n", f"{ignored}optionally with .gz or .zst\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file landed": lambda lake: land(lake, ["{}"]),
    "a file went, and another came": lambda lake: next((lake / "landing").glob("*/*")).rename(lake / "landing/x.json"),
    "a batch was begun": lambda lake: (lake / "_colline/pending").write_text("landing"),
    "a rebuild was begun": lambda lake: (lake / "_colline/rebuild.json").write_text("{}"),
    "the checkpoint is gone": lambda lake: shutil.rmtree(lake / "_colline/checkpoints"),
    "the snapshot is gone": lambda lake: shutil.rmtree(lake / "snapshot"),
    "a table is gone": lambda lake: shutil.rmtree(lake / "gold/columns"),
    "the note cannot be read": lambda lake: (lake / "_colline/landed.json").write_text("[{}"),
    "the folder is gone": lambda lake: shutil.rmtree(lake / "landing"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_lake_is_not_idle(change: str, lake: Path) -> None:
    assert _is_idle(lake)
    CHANGES[change](lake)
    assert not _is_idle(lake)


def test_lake_with_a_run_due_to_be_unfinished_is_not_idle(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from colline.pipeline import unfinished

    assert _is_idle(lake)
    monkeypatch.setattr(unfinished, "UNFINISHED_AFTER", timedelta(minutes=1))
    assert not _is_idle(lake)


def test_new_and_remote_folders_are_not_idle(lake: Path) -> None:
    from colline.pipeline.sources.pending import is_idle

    (lake / "more").mkdir()
    assert not is_idle(str(lake), [f"{lake}/landing", f"{lake}/more"])
    assert not is_idle(str(lake), ["s3a://bucket/landing"])
    assert not is_idle("s3a://bucket/lake", ["s3a://bucket/lake/landing"])


def test_lake_that_another_process_writes_is_busy(lake: Path) -> None:
    from colline.lake.lock import LakeBusyError, lock_local_lake

    with lock_local_lake(lake), pytest.raises(LakeBusyError, match="is being written by"):
        _is_idle(lake)
