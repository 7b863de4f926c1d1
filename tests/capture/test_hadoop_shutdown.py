"""The lake transport writes through the driver's JVM: the session stops, or the JVM is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.faults]

START = """
import os, signal, sys, time
from pyspark.sql import SparkSession
from colline.capture.hadoop_writer import files_for
from colline.transport import BatchingTransport, LocalFileSystem
from colline.transport.batching import BatchingPolicy
from colline.transport.sinks.lake_sink import LakeSink
from colline.spool import Spool
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m").getOrCreate())
base = "file://" + sys.argv[1] + "/lake"
policy = BatchingPolicy(batch_size=10, flush_seconds=600, shutdown_seconds=20)
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START + code, str(folder)], check=False, capture_output=True, text=True, timeout=300
    )


def landed_numbers(folder: Path) -> list[int]:
    paths = [path for path in (folder / "lake").rglob("*.ndjson") if not path.name.startswith(".")]
    return sorted(json.loads(line)["n"] for path in paths for line in path.read_text().splitlines())


def test_events_after_spark_stop_are_delivered(tmp_path: Path) -> None:
    code = """
transport = BatchingTransport("lake", LakeSink(base, "landing", files_for(spark)(base)), policy)
for n in range(15): transport.emit({"n": n})
spark.stop()
for n in range(15, 18): transport.emit({"n": n})
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert landed_numbers(tmp_path) == list(range(18))


def test_killed_jvm_loses_no_spooled_event_and_does_not_delay_close(tmp_path: Path) -> None:
    code = """
spool = sys.argv[1] + "/spool"
transport = BatchingTransport("lake", LakeSink(base, "landing", files_for(spark)(base)), policy, Spool(spool))
for n in range(10): transport.emit({"n": n})
assert transport.flush(60), transport.stats
spark.sparkContext._gateway.proc.kill()
spark.sparkContext._gateway.proc.wait()
for n in range(10, 25): transport.emit({"n": n})
started = time.monotonic()
transport.close(20)
assert time.monotonic() - started < 15
assert (transport.stats.sent, transport.stats.spooled, transport.stats.failed) == (10, 15, 0), transport.stats
after = BatchingTransport("lake", LakeSink(base, "landing", LocalFileSystem()), policy, Spool(spool))
after.close(20)
assert after.stats.sent == 15, after.stats
os._exit(0)
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert landed_numbers(tmp_path) == list(range(25))
