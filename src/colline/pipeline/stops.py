"""Ctrl-C while the JVM works: it is noted, the work's jobs are ended, and then it is told to whoever waits.

As an exception it would come in the middle of a call into the JVM, and PySpark's own handler calls into it from
there: either takes the answer of one call for that of another.
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
_Made = TypeVar("_Made")


@contextmanager
def asked_to_end() -> Iterator[threading.Event]:
    """Set when the user asks for the end by Ctrl-C."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def unless(asked: threading.Event, spark: SparkSession, work: Callable[[], _Made]) -> _Made:
    """What the work gives; when the end is asked for, its Spark jobs are ended, and with them the work."""
    group = f"colline-{uuid.uuid4()}"

    def grouped() -> _Made:
        activate(spark)
        spark.sparkContext.setLocalProperty(JOB_GROUP, group)
        return work()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(grouped)
        while not wait([done], 0.2).done:
            if asked.is_set():  # again and again: it may be between two jobs
                spark.sparkContext.cancelJobGroup(group)
    if asked.is_set() and done.exception() is not None:
        raise KeyboardInterrupt from done.exception()
    return done.result()
