"""The demo from an empty folder to a lake: two days of jobs, captured, then ingested."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from colline.demo import session, source
from colline.demo.schedule import DAYS, LAYERS, Job, Platform
from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Say = Callable[[str], None]
MARK = ".colline-demo"


def clear(lake: Path) -> None:
    """An empty folder for the demo; one that the demo did not make is never touched."""
    if lake.is_dir() and any(lake.iterdir()) and not (lake / MARK).is_file():
        raise LakeError(f"{lake} is not empty and was not made by the demo", hint="name another folder with --lake")
    shutil.rmtree(lake, ignore_errors=True)
    lake.mkdir(parents=True)
    (lake / MARK).write_text(
        "made by `colline demo`, which removes this folder before it runs again\n", encoding="utf-8"
    )


def play(lake: Path, say: Say) -> datetime:
    """Run both days; the time between them comes back, for questions about what changed."""
    platform = Platform((lake / "platform").resolve())
    platform.root.mkdir(parents=True)
    say("starting Spark (the first time, it fetches Delta's jar)")
    spark = session.start(platform.root)
    try:
        return _both_days(spark, platform, say)
    finally:
        spark.stop()


def _both_days(spark: SparkSession, platform: Platform, say: Say) -> datetime:
    for layer in LAYERS:
        spark.sql(f"create database {layer} location '{(platform.root / layer).as_uri()}'")
    source.write_reference(Path(platform.source))
    between = datetime.now(timezone.utc)
    for day, jobs in enumerate(DAYS):
        source.write_day(Path(platform.source), day)
        for job in jobs:
            _run(spark, platform, job, say)
        if day == 0:
            between = datetime.now(timezone.utc)
    return between


def _run(spark: SparkSession, platform: Platform, job: Job, say: Say) -> None:
    """Run one job and say how it went; a failure that belongs to the story is told and left behind."""
    start = time.monotonic()
    outcome = "done"
    try:
        job.work(spark, platform)
    except Exception as error:
        if not job.fails:
            raise
        outcome = f"failed, as bad days do: {type(error).__name__}"
    say(f"{job.name:<20} {job.owner:<10} {time.monotonic() - start:5.1f} s  {outcome}")
