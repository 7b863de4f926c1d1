"""How a program ends is how its application's run ends. Real programs, real exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

HEAD = """
import os, sys, logging
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import colline

def session(name):
    spark = (SparkSession.builder.master("local[1]").appName(name)
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.warehouse.dir", sys.argv[2]).getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    watch = colline.attach(spark, transport={"type": "file", "location": sys.argv[1]})
    assert watch.is_attached
    spark.range(3).collect()
    return spark
"""
THREE_SESSIONS = """
session("stops").stop()
try:
    spark = session("fails")
    try:
        raise ValueError("in the script")
    finally:
        spark.stop()
except ValueError:
    pass
session("raises")
print("last words")
raise RuntimeError("uncaught")
"""


def ran(tmp_path: Path, body: str) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    script, events = tmp_path / "job.py", tmp_path / "events.ndjson"
    script.write_text(HEAD + body, encoding="utf-8")
    command = [sys.executable, str(script), str(events), str(tmp_path / "warehouse")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ})
    return done, [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]


def of_application(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["job"]["name"] == name]


def test_every_application_of_a_program_ends_as_it_did(tmp_path: Path) -> None:
    done, events = ran(tmp_path, THREE_SESSIONS)
    assert (done.returncode, done.stdout) == (1, "last words\n")
    assert "RuntimeError: uncaught" in done.stderr
    ends = {name: of_application(events, name) for name in ("stops", "fails", "raises")}
    states = {name: [event["eventType"] for event in found] for name, found in ends.items()}
    assert states == {"stops": ["START", "COMPLETE"], "fails": ["START", "FAIL"], "raises": ["START", "FAIL"]}
    reasons = {name: found[1]["run"]["facets"].get("errorMessage", {}).get("message") for name, found in ends.items()}
    assert reasons == {"stops": None, "fails": "ValueError: in the script", "raises": "RuntimeError: uncaught"}
    for name, (began, _) in ends.items():
        queries = [e for e in events if e["job"]["name"] == f"{name}.query"]
        assert [event["eventType"] for event in queries] == ["START", "COMPLETE"]
        assert {e["run"]["facets"]["parent"]["run"]["runId"] for e in queries} == {began["run"]["runId"]}


KILLED = """
import signal, time
spark = session("job")
os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
time.sleep(3)
"""


def test_a_jvm_that_is_killed_is_a_failure(tmp_path: Path) -> None:
    _, events = ran(tmp_path, KILLED)
    began, ended = of_application(events, "job")
    assert (began["eventType"], ended["eventType"]) == ("START", "FAIL")
    assert ended["run"]["facets"]["errorMessage"]["message"] == "the driver's JVM is gone"


# the signal comes while the main thread waits for the JVM's answer
TERMINATED = """
import signal, threading
spark = session("job")
threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
spark.sql("select count(*) from range(1000000000000) where id % 7 = 3").collect()
"""


@pytest.mark.parametrize(
    ("body", "code", "state"),
    [
        ("session('job')\nsys.exit(3)", 3, "FAIL"),
        ("session('job').stop()", 0, "COMPLETE"),
        (TERMINATED, -signal.SIGTERM, "FAIL"),
    ],
    ids=["a non-zero exit", "a stop at the very end", "SIGTERM"],
)
def test_a_program_is_told_to_its_very_end(tmp_path: Path, body: str, code: int, state: str) -> None:
    done, events = ran(tmp_path, body)
    assert done.returncode == code
    assert [event["eventType"] for event in of_application(events, "job")] == ["START", state]
    assert events[-1]["run"]["facets"]["colline_delivery"]["made"] >= 3


# cells as a notebook runs them: the kernel goes on after an error, and `sys.exit` in a cell is no end
CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells!r}:
    shell.run_cell(cell)
"""


@pytest.mark.parametrize(
    ("cells", "state", "why"),
    [
        (["session('job')", "1 / 0", "import sys; sys.exit(3)", "print('mended')"], "COMPLETE", None),
        (["session('job')", "1 / 0"], "FAIL", "ZeroDivisionError: division by zero"),
    ],
    ids=["errors that were mended", "an error in the last cell"],
)
def test_a_notebook_ends_as_its_last_cell_did(tmp_path: Path, cells: list[str], state: str, why: str | None) -> None:
    done, events = ran(tmp_path, CELLS.format(cells=[HEAD, *cells]))
    assert done.returncode == 0
    ends = of_application(events, "job")
    assert [event["eventType"] for event in ends] == ["START", state]
    assert ends[1]["run"]["facets"].get("errorMessage", {}).get("message") == why
