"""A process that ingests and dies by SIGKILL, with its JVM: `victim.py LAKE TABLE [SECONDS]` so long after a write of
that table, whatever it is doing then; `start` is before the first write, `built` when the snapshot is made and not yet
in its place, `placed` when nothing points to it yet."""

from __future__ import annotations

import os
import signal
import sys
import threading

from colline.graph import snapshot
from colline.pipeline.ingest import Watch, ingest
from colline.pipeline.session import session_for


def main() -> None:
    lake, fatal, *delay = sys.argv[1:]
    spark = session_for("victim")
    jvm = spark.sparkContext._gateway.proc.pid

    def die() -> None:
        os.kill(jvm, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    def wrote(table: str) -> None:
        if table != fatal:
            return
        if delay:
            threading.Timer(float(delay[0]), die).start()
        else:
            die()

    write, point = snapshot.write, snapshot.point
    snapshot.write = lambda *given: (write(*given), wrote("built"))
    snapshot.point = lambda *given: (wrote("placed"), point(*given))
    wrote("start")
    ingest(lake, spark=spark, watch=Watch(wrote=wrote))


if __name__ == "__main__":
    main()
