"""The driver of a captured application is killed with SIGKILL: the next process delivers the events in its spool."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from

pytestmark = [pytest.mark.spark, pytest.mark.faults]

PROGRAM = """
import json, sys, time
import colline
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").appName("killed").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m").getOrCreate())
watch = colline.attach(spark, transport=json.loads(sys.argv[1]))
for number in range(1000):
    spark.range(5).selectExpr("id", "id * 2 as twice").write.mode("overwrite").parquet(f"{sys.argv[2]}/t{number}")
    while watch.stats.runs.completed <= number: time.sleep(0.01)
    print(number, watch.stats.delivery["emitted"], flush=True)
"""


def test_events_of_a_killed_driver_are_delivered_by_the_next_process(tmp_path: Path) -> None:
    transport: dict[str, Any] = {
        "type": "lake", "base": str(tmp_path / "lake"), "spool": str(tmp_path / "spool"), "flushIntervalSeconds": 600,
    }  # fmt: skip
    driver = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(transport), str(tmp_path / "data")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert driver.stdout is not None
    emitted = 0
    for _ in range(3):
        line = driver.stdout.readline()
        assert line, driver.stderr.read() if driver.stderr else ""
        emitted = int(line.split()[1])
    driver.send_signal(signal.SIGKILL)
    assert driver.wait(60) == -signal.SIGKILL
    assert not list((tmp_path / "lake").rglob("*.ndjson"))
    last = transport_from(settings_from({"transport": transport}, environ={}))
    last.close(60)
    assert last.stats.adopted >= emitted
    assert last.stats.sent == last.stats.adopted
    paths = (tmp_path / "lake").rglob("*.ndjson")
    events = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    written = Counter(
        (event["eventType"], output["name"].rpartition("/")[2])
        for event in events
        for output in event.get("outputs") or []
    )
    for name in ("t0", "t1", "t2"):
        assert written["START", name] >= 1
        assert written["COMPLETE", name] >= 1
