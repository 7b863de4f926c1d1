"""The application's run ends as its program does: real programs with real exits."""

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
print("last line")
raise RuntimeError("uncaught")
"""


def run_program(tmp_path: Path, body: str) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    script, events = tmp_path / "job.py", tmp_path / "events.ndjson"
    script.write_text(HEAD + body, encoding="utf-8")
    command = [sys.executable, str(script), str(events), str(tmp_path / "warehouse")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ})
    return done, [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]


def application_events(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["job"]["name"] == name]


def test_each_application_of_a_program_has_its_own_final_state(tmp_path: Path) -> None:
    done, events = run_program(tmp_path, THREE_SESSIONS)
    assert (done.returncode, done.stdout) == (1, "last line\n")
    assert "RuntimeError: uncaught" in done.stderr
    ends = {name: application_events(events, name) for name in ("stops", "fails", "raises")}
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


def test_killed_jvm_fails_the_application(tmp_path: Path) -> None:
    _, events = run_program(tmp_path, KILLED)
    began, ended = application_events(events, "job")
    assert (began["eventType"], ended["eventType"]) == ("START", "FAIL")
    assert ended["run"]["facets"]["errorMessage"]["message"] == "the driver's JVM is gone"


# the signal arrives while the main thread waits for the JVM
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
    ids=["non-zero exit", "stop as the last statement", "SIGTERM"],
)
def test_application_run_ends_with_the_program(tmp_path: Path, body: str, code: int, state: str) -> None:
    done, events = run_program(tmp_path, body)
    assert done.returncode == code
    assert [event["eventType"] for event in application_events(events, "job")] == ["START", state]
    assert events[-1]["run"]["facets"]["colline_delivery"]["emitted"] >= 3


# cells run as in a notebook: the kernel continues after an error and after `sys.exit` in a cell
CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells!r}:
    shell.run_cell(cell)
"""


@pytest.mark.parametrize(
    ("cells", "state", "why"),
    [
        (["session('job')", "1 / 0", "import sys; sys.exit(3)", "print('fixed')"], "COMPLETE", None),
        (["session('job')", "1 / 0"], "FAIL", "ZeroDivisionError: division by zero"),
    ],
    ids=["error fixed by a later cell", "error in the last cell"],
)
def test_notebook_run_ends_with_the_state_of_its_last_cell(
    tmp_path: Path, cells: list[str], state: str, why: str | None
) -> None:
    done, events = run_program(tmp_path, CELLS.format(cells=[HEAD, *cells]))
    assert done.returncode == 0
    ends = application_events(events, "job")
    assert [event["eventType"] for event in ends] == ["START", state]
    assert ends[1]["run"]["facets"].get("errorMessage", {}).get("message") == why
