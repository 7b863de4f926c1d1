"""Handles Ctrl-C while the JVM works: records the request, cancels Spark's jobs, and then raises the exception.

An exception at once would interrupt a call into the JVM, and PySpark's own handler would make another call there: each
could receive the answer of the other.
"""

from __future__ import annotations

import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from colline.pipeline.ingest_settings import activate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB_GROUP = "spark.jobGroup.id"
_Result = TypeVar("_Result")


@contextmanager
def interrupt_requested() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets."""
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested
        return
    before = signal.signal(signal.SIGINT, lambda *_: requested.set())
    try:
        yield requested
    finally:
        signal.signal(signal.SIGINT, before)


def run_interruptible(requested: threading.Event, spark: SparkSession, work: Callable[[], _Result]) -> _Result:
    """The result of the work; Ctrl-C cancels its Spark jobs."""
    group = f"colline-{uuid.uuid4()}"

    def work_in_group() -> _Result:
        activate(spark)
        spark.sparkContext.setLocalProperty(JOB_GROUP, group)
        return work()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work_in_group)
        while not wait([done], 0.2).done:
            if requested.is_set():  # repeated: the work may be between two jobs
                spark.sparkContext.cancelJobGroup(group)
    if requested.is_set() and done.exception() is not None:
        raise KeyboardInterrupt from done.exception()
    return done.result()
