"""The resolver as a program: starts Spark, then answers one recorded plan after the other.

It ends when its stdin ends, which happens when the client that started it has ended, also when it was killed. All its
files are in its working directory, which it removes.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from colline.capture.connect.recorded_plan import RecordedPlan, ResolvedPlan
from colline.capture.connect.resolver.process_messages import read_message, write_message
from colline.environment.spark_session import resolver_profile, start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_SPARK = (4, 1)
_STACK_BYTES = 512 * 1024 * 1024
_PARENT_CHECK_SECONDS = 2.0


def main() -> None:
    """Serve plans until stdin ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Spark prints does not mix with the replies
    requests: SimpleQueue[RecordedPlan] = SimpleQueue()
    threading.Thread(target=_read_requests, args=(sys.stdin.buffer, requests), daemon=True).start()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    threading.stack_size(_STACK_BYTES)  # messages of the protocol can be nested thousands of levels deep
    server = threading.Thread(target=_serve, args=(requests, replies))
    server.start()
    server.join()


def _read_requests(stream: BinaryIO, requests: SimpleQueue[RecordedPlan]) -> None:
    try:
        while True:
            requests.put(read_message(stream, RecordedPlan))
    except (EOFError, OSError, ValueError):
        _end(0)


def _end_with_parent(parent: int) -> None:
    """End when the parent has ended: a process that it forked may keep the stdin of this process open."""
    while os.getppid() == parent:
        threading.Event().wait(_PARENT_CHECK_SECONDS)
    _end(0)


def _end(code: int) -> NoReturn:
    """End at once; Spark's JVM ends with this process."""
    shutil.rmtree(Path.cwd(), ignore_errors=True)
    os._exit(code)


def _serve(requests: SimpleQueue[RecordedPlan], replies: BinaryIO) -> None:
    try:
        _allow_deep_messages()
        _answer(requests, replies, start_spark(Path.cwd()))
    except Exception as error:  # noqa: BLE001 - the client has to know why
        write_message(replies, ResolvedPlan(failure=f"the resolver did not start: {type(error).__name__}: {error}"))
        _end(1)


def _answer(requests: SimpleQueue[RecordedPlan], replies: BinaryIO, spark: SparkSession) -> None:
    from colline.capture.connect.resolver.plan_resolver import PlanResolver

    resolver = PlanResolver(spark)
    write_message(replies, ResolvedPlan())  # ready
    while True:
        write_message(replies, resolver.resolve(requests.get()))


def start_spark(folder: Path) -> SparkSession:
    """A small Spark session for analysis, with all its files in `folder`."""
    found = version("pyspark")
    if tuple(map(int, found.split(".")[:2])) < OLDEST_SPARK:
        raise RuntimeError(f"it needs PySpark 4.1 or later, and this is {found}")
    return start_session("colline resolver", resolver_profile(folder))


def _allow_deep_messages() -> None:
    """Lift protobuf's limit of 100 nested messages, as Spark's server does. Other implementations have no limit."""
    try:
        from google._upb import _message
    except ImportError:
        return
    _message.SetAllowOversizeProtos(True)


if __name__ == "__main__":
    main()
