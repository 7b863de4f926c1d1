"""The demo from an empty folder to a lake: two days of jobs, captured into the lake's landing folder."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import colline
from colline.demo import source_files
from colline.demo.schedule import DAYS, LAYERS, REFUNDS, Job, Platform
from colline.errors import CollineError, LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Say = Callable[[str], None]
MARK = ".colline-demo"
SETTINGS = Path(__file__).with_name("colline.toml")


@dataclass(frozen=True)
class Played:
    """What came of both days: the moment between them, and how many events were captured."""

    between: datetime
    events: int


def clear(lake: Path) -> None:
    """An empty folder for the demo; one that the demo did not make is never touched."""
    if lake.is_dir() and any(lake.iterdir()) and not (lake / MARK).is_file():
        raise LakeError(f"{lake} is not empty and was not made by the demo", hint="name another folder with --lake")
    shutil.rmtree(lake, ignore_errors=True)
    lake.mkdir(parents=True)
    (lake / MARK).write_text("made by `colline demo`, which empties it before it runs again\n", encoding="utf-8")


def write_settings(lake: Path) -> Path:
    """The lake's own `colline.toml`, with the rules that tag personal columns."""
    return Path(shutil.copy(SETTINGS, lake))


def play(lake: Path, spark: SparkSession, say: Say) -> Played:
    """Run both days with capture on."""
    platform = platform_of(lake)
    for layer in LAYERS:
        spark.sql(f"create database {layer} location '{(platform.root / layer).as_uri()}'")
    source_files.write_reference(Path(platform.source))
    watch = colline.attach(spark, {"type": "lake", "base": str(lake.resolve())}, "food-delivery")
    between = datetime.now(timezone.utc)
    for day, jobs in enumerate(DAYS):
        source_files.write_day(Path(platform.source), day)
        for job in jobs:
            with colline.job(job.name, tags={"owner": job.owner}):
                _run(spark, platform, job, say)
        if day == 0:
            watch.flush()
            between = datetime.now(timezone.utc)
    watch.detach()
    if not watch.stats.events:
        raise CollineError("nothing was captured", hint=f"`colline doctor` says what is missing; {watch!r}")
    return Played(between, watch.stats.events)


def platform_of(lake: Path) -> Platform:
    """The platform beside the lake."""
    return Platform((lake / "platform").resolve())


def play_unwatched(lake: Path, spark: SparkSession, say: Say) -> None:
    """Run the job that colline was never attached to."""
    _run(spark, platform_of(lake), REFUNDS, say, "not watched: it tells nothing")


def _run(spark: SparkSession, platform: Platform, job: Job, say: Say, outcome: str = "") -> None:
    """Run one job and say how it went; a failure that belongs to the story is told and left behind."""
    start = time.monotonic()
    try:
        job.work(spark, platform)
    except Exception as error:
        if not job.fails:
            raise
        outcome = f"failed: {type(error).__name__}"
    say(f"  {job.name:<18} {job.owner:<12}{time.monotonic() - start:5.1f} s  {outcome}".rstrip())
