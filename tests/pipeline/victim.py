"""A process that ingests and dies by SIGKILL, with its JVM, right after a chosen write: `victim.py LAKE TABLE`."""

from __future__ import annotations

import os
import signal
import sys

from colline.pipeline.ingest import Watch, ingest
from colline.pipeline.session import session_for


def main() -> None:
    lake, fatal = sys.argv[1:]
    spark = session_for("victim")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    jvm = spark.sparkContext._gateway.proc.pid

    def wrote(table: str) -> None:
        if table == fatal:
            os.kill(jvm, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    ingest(lake, spark=spark, watch=Watch(wrote=wrote))


if __name__ == "__main__":
    main()
