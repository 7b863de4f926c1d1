"""The commands as a user runs them: real processes, their output and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes import land
from tests.pipeline.interrupts import interrupted
from tests.pipeline.lake_view import current, table
from tests.pipeline.scenarios import out, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
# how often a continuous ingest is fed
BATCHES = 2 if os.environ.get("COLLINE_FAULTS") == "all" else 1
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}


def _colline(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "colline", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT)


def _wait(log: Path, word: str, process: subprocess.Popen[bytes]) -> None:
    """Until the process has said the word."""
    while word not in log.read_text():
        assert process.poll() is None, log.read_text()
        time.sleep(0.2)


def test_nothing_there_is_told_at_once(tmp_path: Path) -> None:
    for command in (["ingest"], ["rebuild"], ["quarantine", "list"], ["quarantine", "replay"]):
        done = _colline(*command, "--lake", str(tmp_path / "no such lake"))
        assert (done.returncode, done.stdout) == (3, ""), command
        assert "no lake at" in done.stderr
        assert "hint:" in done.stderr
    assert not (tmp_path / "no such lake").exists()


def test_a_continuous_ingest_is_fed_refuses_a_second_one_and_ends_by_sigterm(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    log, answer = tmp_path / "err.txt", tmp_path / "out.txt"
    command = [
        sys.executable,
        "-m",
        "colline",
        "ingest",
        "--continuous",
        "--every",
        "1",
        "--json",
        "--lake",
        str(tmp_path),
    ]
    with log.open("wb") as err, answer.open("wb") as to:
        process = subprocess.Popen(command, stdout=to, stderr=err, env=ENVIRONMENT)
    try:
        while not (tmp_path / "_colline" / "ingest.lock").exists():  # held before Spark starts
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        second = _colline("ingest", "--lake", str(tmp_path))
        assert (second.returncode, second.stdout) == (1, "")
        assert "is being written by" in second.stderr
        for batch in range(BATCHES):
            land(tmp_path, [*write("fed", f"run-{batch}", 1 + batch, out("fed")), "{nonsense"])
            _wait(log, f"batch {batch}: 2 events, 1 quarantined", process)
            # published while it runs
            while len(list((tmp_path / "snapshot").glob("2*"))) <= batch:
                assert process.poll() is None, log.read_text()
                time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0, log.read_text()
    finally:
        process.kill()
    told = json.loads(answer.read_text())
    assert (told["batches"], told["events"], told["quarantined"]) == (BATCHES, 2 * BATCHES, BATCHES)
    assert (tmp_path / "snapshot" / "CURRENT").exists()
    assert current(tmp_path, "fed") == {"orders.amount -> fed.total DIRECT/AGGREGATION"}
    # what reads without a JVM agrees
    found = _colline("quarantine", "list", "--json", "--lake", str(tmp_path))
    assert [row["reason"] for row in json.loads(found.stdout)] == ["not_json"] * BATCHES
    asked = _colline("upstream", "fed.total", "--json", "--lake", str(tmp_path))
    assert json.loads(asked.stdout)["totals"]["columns"] == 1
    assert len(table(tmp_path, "bronze/events")) == 3 * BATCHES


def test_ctrl_c_in_the_middle_of_a_batch_says_so_and_the_next_ingest_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    from colline.pipeline.ingest import ingest

    land(tmp_path, [*write("first", "first", 1, out("first")), *write("second", "second", 2, out("second"))])
    (tmp_path / "landing" / "broken.json.gz").write_bytes(b"no archive")  # is set aside, and the batch begun again
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(tmp_path)]
    begun = tmp_path / "bronze" / "events" / "_delta_log" / f"{0:020d}.json"
    said = interrupted(command, tmp_path / "err.txt", ENVIRONMENT, begun.exists)
    assert "stopped; the next ingest resumes the unfinished batch" in said
    assert f"{tmp_path}/landing/broken.json.gz.unreadable cannot be read: " in said
    assert "\tat " not in said  # no page of Java, of the one or of the other
    assert not (tmp_path / "silver" / "runs").exists()
    ingest(str(tmp_path), spark=spark)
    assert current(tmp_path, "second") == {"orders.amount -> second.total DIRECT/AGGREGATION"}
    assert len(table(tmp_path, "bronze/events")) == 4
    assert {job["name"]: job["runs"] for job in table(tmp_path, "gold/jobs")} == {"first": 1, "second": 1}
