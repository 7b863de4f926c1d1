"""A process that ingests or rebuilds lakes and dies by SIGKILL, with its JVM.

    killed_ingest.py held LAKE STEP [LAKE STEP…]     bring each lake in turn to its step and wait; then kill all
    killed_ingest.py struck WRITES SECONDS LAKE…     ingest all lakes; kill SECONDS after the given number of WRITES

A step is a table that was just written; `start` is before the first, `built` when the snapshot is made and not yet in
its place, `placed` when nothing points to it yet. `rebuild gold/edges` is a table that a rebuild has just replaced,
`undo gold/edges` one that was just taken back, of a rebuild that failed. Tables that are written side by side may be
there or not when one of them is: of these the step's alone is written. To the lake a process that is held and then
killed is one that was killed there: one JVM that is warm does for many.
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
from colline.lake.tables import BRONZE, JOBS, RUNS, Table
from colline.pipeline.ingest import IngestListener, ingest
from colline.pipeline.rebuild import rebuild
from colline.pipeline.store import Store

PUBLISHES = ("built", "placed")
Told = Callable[[str, str], None]
# the step that a thread's lake has come to is told here, too, by what knows no lake
OWN = threading.local()


def begin(lake: str, told: Told, step: str = "") -> threading.Thread:
    """An ingest at work, or a rebuild where the step is one of it, that tells each of its steps."""
    kind = step.rpartition(" ")[0]

    def rebuilt(table: str) -> None:
        if kind == "undo" and table == JOBS.path:
            raise OSError("no space left")
        told(lake, table if table.startswith("undo ") else f"rebuild {table}")

    def work() -> None:
        OWN.told = lambda step: told(lake, step)
        OWN.told("start")
        if kind:
            rebuild(lake, spark=SPARK, wrote=rebuilt)
        else:
            ingest(lake, spark=SPARK, watch=IngestListener(wrote=lambda table: told(lake, table)))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def watch_publish() -> None:
    write, point = publish.write, publish.set_current_version
    publish.write = lambda *given: (write(*given), OWN.told("built"))
    publish.set_current_version = lambda *given: (OWN.told("placed"), point(*given))


def write_alone(steps: dict[str, str]) -> None:
    """Let none of the tables be written that might be beside a lake's step."""
    write, in_turn = Store._write, {table.path for table in (BRONZE, JOBS, RUNS)}

    def written(store: Store, table: Table, *given: Any) -> None:
        kind, _, step = steps[store.lake].rpartition(" ")
        beside = kind != "undo" and not {step, table.path} & {*in_turn, *PUBLISHES}
        if not beside or table.path == step:
            write(store, table, *given)

    Store._write = written  # type: ignore[method-assign]  # in this process only, which is about to die


def held(*plan: str) -> None:
    steps = dict(zip(plan[::2], plan[1::2], strict=True))
    write_alone(steps)
    there = {lake: threading.Event() for lake in steps}

    def told(lake: str, step: str) -> None:
        if there[lake].is_set() or step == steps[lake]:
            there[lake].set()
            threading.Event().wait()

    for lake, step in steps.items():
        thread = begin(lake, told, step)
        while not there[lake].wait(0.5):
            assert thread.is_alive(), f"{lake} ended before {step}"


def struck(writes: str, seconds: str, *lakes: str) -> None:
    seen = threading.Semaphore(0)
    for lake in lakes:
        begin(lake, lambda _lake, _step: seen.release())
    for _ in range(int(writes)):
        assert seen.acquire(timeout=1200)
    time.sleep(float(seconds))


SPARK = session_for("victim")
JVM = SPARK.sparkContext._gateway.proc.pid
watch_publish()
try:
    {"held": held, "struck": struck}[sys.argv[1]](*sys.argv[2:])
except BaseException:  # noqa: BLE001 (told, and then it dies)
    traceback.print_exc()
    os.kill(JVM, signal.SIGKILL)
    os._exit(1)  # threads that are held would be waited for
os.kill(JVM, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
