"""A process that ingests and dies by SIGKILL, with its JVM: `victim.py LAKE TABLE` right after a write of that table,
`victim.py LAKE NUMBER` after so many calls into the JVM."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from colline.pipeline.ingest import Watch, ingest
from colline.pipeline.session import session_for


def main() -> None:
    lake, fatal = sys.argv[1:]
    spark = session_for("victim")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    jvm = spark.sparkContext._gateway.proc.pid

    def die() -> None:
        os.kill(jvm, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    def wrote(table: str) -> None:
        if table == fatal:
            die()

    if fatal.isdigit():
        _count(spark.sparkContext._gateway._gateway_client, int(fatal), die)
    ingest(lake, spark=spark, watch=Watch(wrote=wrote))


def _count(client: Any, left: int, die: Any) -> None:
    """Let the client die when it has sent so many commands."""
    send = client.send_command

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left <= 0:
            die()
        return send(*arguments, **named)

    client.send_command = counted


if __name__ == "__main__":
    main()
