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
from tests.pipeline.interrupts import run_and_interrupt
from tests.pipeline.lake_view import current, table
from tests.pipeline.scenarios import output, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
# batches of a continuous ingest
BATCHES = 2 if os.environ.get("COLLINE_FAULTS") == "all" else 1
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}


def _colline(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "colline", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT)


def _wait(log: Path, word: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has printed the word."""
    while word not in log.read_text():
        assert process.poll() is None, log.read_text()
        time.sleep(0.2)


def test_missing_lake_is_an_error(tmp_path: Path) -> None:
    for command in (["ingest"], ["rebuild"], ["quarantine", "list"], ["quarantine", "replay"]):
        done = _colline(*command, "--lake", str(tmp_path / "no such lake"))
        assert (done.returncode, done.stdout) == (3, ""), command
        assert "no lake at" in done.stderr
        assert "hint:" in done.stderr
    assert not (tmp_path / "no such lake").exists()


def test_continuous_ingest_refuses_a_second_one_and_ends_by_sigterm(tmp_path: Path) -> None:
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
            land(tmp_path, [*write("fed", f"run-{batch}", 1 + batch, output("fed")), "{nonsense"])
            _wait(log, f"batch {batch}: 2 events, 1 quarantined", process)
            # published while it runs
            while len(list((tmp_path / "snapshot").glob("2*"))) <= batch:
                assert process.poll() is None, log.read_text()
                time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0, log.read_text()
    finally:
        process.kill()
    summary = json.loads(answer.read_text())
    assert (summary["batches"], summary["events"], summary["quarantined"]) == (BATCHES, 2 * BATCHES, BATCHES)
    assert (tmp_path / "snapshot" / "CURRENT").exists()
    assert current(tmp_path, "fed") == {"orders.amount -> fed.total DIRECT/AGGREGATION"}
    # what reads without a JVM agrees
    found = _colline("quarantine", "list", "--json", "--lake", str(tmp_path))
    assert [row["reason"] for row in json.loads(found.stdout)] == ["not_json"] * BATCHES
    answered = _colline("upstream", "fed.total", "--json", "--lake", str(tmp_path))
    assert json.loads(answered.stdout)["totals"]["columns"] == 1
    assert len(table(tmp_path, "bronze/events")) == 3 * BATCHES


def test_a_continuous_ingest_ends_when_its_stdin_closes(tmp_path: Path) -> None:
    """The server has the other end: when it is killed, its ingester ends too."""
    (tmp_path / "landing").mkdir()
    command = [sys.executable, "-m", "colline", "ingest", "--continuous", "--lake", str(tmp_path)]
    done = subprocess.run(
        [*command, "--until-stdin-closes"],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=900,
        env=ENVIRONMENT,
    )
    assert done.returncode in {0, 130}, done.stderr


def test_next_ingest_resumes_a_batch_stopped_by_ctrl_c(spark: SparkSession, tmp_path: Path) -> None:
    from colline.pipeline.ingest import ingest

    land(tmp_path, [*write("first", "first", 1, output("first")), *write("second", "second", 2, output("second"))])
    (tmp_path / "landing" / "broken.json.gz").write_bytes(b"no archive")  # is renamed, and the batch starts again
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(tmp_path)]
    begun = tmp_path / "bronze" / "events" / "_delta_log" / f"{0:020d}.json"
    printed = run_and_interrupt(command, tmp_path / "err.txt", ENVIRONMENT, begun.exists)
    assert "stopped; the next ingest resumes the unfinished batch" in printed
    assert f"{tmp_path}/landing/broken.json.gz.unreadable cannot be read: " in printed
    assert "\tat " not in printed  # no Java stack trace
    assert not (tmp_path / "silver" / "runs").exists()
    ingest(str(tmp_path), spark=spark)
    assert current(tmp_path, "second") == {"orders.amount -> second.total DIRECT/AGGREGATION"}
    assert len(table(tmp_path, "bronze/events")) == 4
    assert {job["name"]: job["runs"] for job in table(tmp_path, "gold/jobs")} == {"first": 1, "second": 1}
