"""Runs the demo's jobs: two days of a food-delivery platform, captured into the landing folder of a lake."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import colline
from colline.capture.analyze import query_error_loggers
from colline.demo import source_files
from colline.demo.schedule import DAYS, LAYERS, REFUNDS, DemoPlatform, ScheduledJob
from colline.environment.spark_session import demo_profile, start_session
from colline.errors import CollineError, LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Print = Callable[[str], None]
MARKER_FILE = ".colline-demo"
SETTINGS = Path(__file__).with_name("colline.toml")


@dataclass(frozen=True)
class CapturedDays:
    """The result of both days: the time between them, and the number of captured events."""

    between: datetime
    events: int


def clear(lake: Path) -> None:
    """Empty the demo's folder, or create it. A folder that the demo did not create is an error."""
    if lake.is_dir() and any(lake.iterdir()) and not (lake / MARKER_FILE).is_file():
        raise LakeError(
            f"{lake} is not empty and was not created by the demo", hint="choose another folder with --lake"
        )
    shutil.rmtree(lake, ignore_errors=True)
    lake.mkdir(parents=True)
    (lake / MARKER_FILE).write_text("Created by `colline demo`, which empties this folder on every run.\n", "utf-8")


def write_settings(lake: Path) -> Path:
    """Copy the demo's `colline.toml`, whose rules tag personal columns, into the lake."""
    return Path(shutil.copy(SETTINGS, lake))


def platform_of(lake: Path) -> DemoPlatform:
    """The platform's folders, inside the lake's folder."""
    return DemoPlatform((lake / "platform").resolve())


def event_log_folder(platform: DemoPlatform) -> Path:
    """The folder of Spark's event logs, which `colline reconcile` reads."""
    return platform.root / "spark-events"


@contextmanager
def demo_session(platform: DemoPlatform, application: str, *, has_event_log: bool = True) -> Iterator[SparkSession]:
    """A Spark session for the block. Later sessions reuse the JVM of the first one, so they start within a second."""
    event_log = event_log_folder(platform)
    event_log.mkdir(parents=True, exist_ok=True)
    spark = start_session(application, demo_profile(platform.root, event_log if has_event_log else None))
    for logger in query_error_loggers():
        logger.disabled = True  # PySpark would also log the error of the failing job
    try:
        yield spark
    finally:
        spark.stop()


def run_days(lake: Path, spark: SparkSession, report: Print) -> CapturedDays:
    """Run the jobs of both days with capture on."""
    platform = platform_of(lake)
    for layer in LAYERS:
        # a path and not a URI, whose %20 Spark would take as part of a name
        folder = str(platform.root / layer).replace("\\", "\\\\").replace("'", "\\'")
        spark.sql(f"create database {layer} location '{folder}'")
    source_files.write_reference(Path(platform.source))
    watch = colline.attach(spark, {"type": "lake", "base": str(lake.resolve())}, "food-delivery")
    between = datetime.now(timezone.utc)
    for day, jobs in enumerate(DAYS):
        source_files.write_day(Path(platform.source), day)
        for job in jobs:
            with colline.job(job.name, tags={"owner": job.owner}):
                _run_job(spark, platform, job, report)
        if day == 0:
            watch.flush()
            between = datetime.now(timezone.utc)
    watch.detach()
    if not watch.stats.events:
        raise CollineError(
            f"the demo captured no events: {watch!r}", hint="run `colline doctor` to see what is missing"
        )
    return CapturedDays(between, watch.stats.events)


def run_without_capture(lake: Path, spark: SparkSession, report: Print) -> None:
    """Run the one job of the platform that is not captured."""
    _run_job(spark, platform_of(lake), REFUNDS, report, note="not captured: runs without colline")


def _run_job(spark: SparkSession, platform: DemoPlatform, job: ScheduledJob, report: Print, *, note: str = "") -> None:
    """Run one job and report its duration. The error of a job that is meant to fail is reported, not raised."""
    start = time.monotonic()
    try:
        job.run(spark, platform)
    except Exception as error:
        if not job.fails:
            raise
        note = f"failed: {type(error).__name__}"
    report(f"  {job.name:<18} {job.owner:<12}{time.monotonic() - start:5.1f} s  {note}".rstrip())
