"""Threads beside the one that works on a batch: they write tables, and make frames that are asked for later.

A write of a few rows is mostly a plan, a log and a file, and keeps one processor busy at best; the frames that come
after it seldom need it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from colline.pipeline.ingest_settings import activate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = 3
# what a thread has set so that its jobs end with the stream they belong to
OF_STREAM = ("spark.jobGroup.id", "spark.job.interruptOnCancel")
_Made = TypeVar("_Made")


class Threads:
    """The threads of one batch. After something failed, nothing is begun."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._writes: dict[str, Future[None]] = {}
        self._failure: BaseException | None = None

    def begin(self, work: Callable[[], _Made]) -> Future[_Made]:
        """Let something be done as soon as a thread is free."""
        of_stream = {name: self._spark.sparkContext.getLocalProperty(name) for name in OF_STREAM}
        return self._pool.submit(self._do, work, of_stream)

    def beside(self, other: Callable[[], object], own: Callable[[], object]) -> None:
        """Do both, the other one in a thread: neither asks for what the other one makes. Raises what failed."""
        begun = self.begin(other)
        own()
        begun.result()

    def write(self, table: str, write: Callable[[], None]) -> None:
        """Let a table be written as soon as a thread is free."""
        self._writes[table] = self.begin(write)

    def settle(self, table: str) -> None:
        """Wait until the table is as it was last given; raises what failed."""
        if table in self._writes:
            self._writes[table].result()

    def settle_all(self) -> None:
        """Wait until every table is written; raises what failed."""
        for write in self._writes.values():
            write.result()

    def close(self) -> None:
        """Begin nothing more, and wait for what has begun."""
        self._pool.shutdown(cancel_futures=True)

    def _do(self, work: Callable[[], _Made], of_stream: dict[str, str | None]) -> _Made:
        if self._failure is not None:
            raise self._failure
        activate(self._spark)
        for name, value in of_stream.items():
            self._spark.sparkContext.setLocalProperty(name, value)
        try:
            return work()
        except BaseException as error:
            self._failure = error
            raise
