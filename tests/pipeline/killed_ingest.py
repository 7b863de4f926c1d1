"""A process that ingests or rebuilds lakes and dies by SIGKILL, with its JVM.

    killed_ingest.py at_steps LAKE STEP [LAKE STEP…]     bring each lake in turn to its step and wait; then kill all
    killed_ingest.py after_writes WRITES SECONDS LAKE…   ingest all lakes; kill SECONDS after this number of WRITES

A step is a table that was just written; `start` is before the first one. `built`: the snapshot is complete, but not in
its place; `placed`: it is not the current one yet. `rebuild gold/edges` is a table that a rebuild has just replaced,
`undo gold/edges` one that was restored after a rebuild failed. Tables are written in parallel, so only the table of
the step is written. For the lake, a process that waits at a step and is killed later was killed at the step. So one
warm JVM serves many lakes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from colline.environment.spark_session import session_for
from colline.graph.snapshot import publish
from colline.lake.tables import BRONZE, JOBS, Table
from colline.pipeline.delta_tables import LakeTables
from colline.pipeline.ingest import ingest
from colline.pipeline.ingest_report import IngestListener
from colline.pipeline.sources.kafka_source import connector_packages
from colline.pipeline.upkeep.rebuild import rebuild

PUBLISHES = ("built", "placed")
Report = Callable[[str, str], None]
# functions that do not know the lake report a step here
OWN = threading.local()


def begin(lake: str, report: Report, step: str = "") -> threading.Thread:
    """Start an ingest, or a rebuild if the step is one of a rebuild, which reports each of its steps."""
    kind = step.rpartition(" ")[0]

    def report_rebuilt(table: str) -> None:
        if kind == "undo" and table == JOBS.path:
            raise OSError("no space left")
        report(lake, table if table.startswith("undo ") else f"rebuild {table}")

    def work() -> None:
        OWN.report = lambda step: report(lake, step)
        OWN.report("start")
        if kind:
            rebuild(lake, spark=SPARK, wrote=report_rebuilt)
        else:
            ingest(lake, spark=SPARK, from_=FROM, watch=IngestListener(wrote=lambda table: report(lake, table)))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def watch_publish() -> None:
    write, point = publish.write, publish.set_current_version
    publish.write = lambda *given: (write(*given), OWN.report("built"))
    publish.set_current_version = lambda *given: (OWN.report("placed"), point(*given))


def write_alone(steps: dict[str, str]) -> None:
    """Write only bronze and the table of the lake's step, of those that are written in parallel."""
    write = LakeTables._write

    def write_selected(tables: LakeTables, table: Table, *given: Any) -> None:
        kind, _, step = steps[tables.lake].rpartition(" ")
        if kind == "undo" or step in PUBLISHES or table.path in {BRONZE.path, step}:
            write(tables, table, *given)

    LakeTables._write = write_selected  # type: ignore[method-assign]  # in this process only, which is about to die


def kill_at_steps(*plan: str) -> None:
    steps = dict(zip(plan[::2], plan[1::2], strict=True))
    write_alone(steps)
    there = {lake: threading.Event() for lake in steps}

    def report(lake: str, step: str) -> None:
        if there[lake].is_set() or step == steps[lake]:
            there[lake].set()
            threading.Event().wait()

    for lake, step in steps.items():
        thread = begin(lake, report, step)
        while not there[lake].wait(0.5):
            assert thread.is_alive(), f"{lake} ended before {step}"


def kill_after_writes(writes: str, seconds: str, *lakes: str) -> None:
    seen = threading.Semaphore(0)
    for lake in lakes:
        begin(lake, lambda _lake, _step: seen.release())
    for _ in range(int(writes)):
        assert seen.acquire(timeout=1200)
    time.sleep(float(seconds))


# topics of Kafka instead of the lake's landing folder
FROM = tuple(filter(None, os.environ.get("COLLINE_TEST_FROM", "").split()))
SPARK = session_for("victim", packages=connector_packages() if FROM else ())
JVM = SPARK.sparkContext._gateway.proc.pid
watch_publish()
try:
    {"at_steps": kill_at_steps, "after_writes": kill_after_writes}[sys.argv[1]](*sys.argv[2:])
except BaseException:  # noqa: BLE001 (printed before the process is killed)
    traceback.print_exc()
    os.kill(JVM, signal.SIGKILL)
    os._exit(1)  # a normal exit would wait for the threads
os.kill(JVM, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
