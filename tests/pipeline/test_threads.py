"""What is done beside a batch's own work: one failure ends it all, and nothing is left over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from colline.pipeline.threads import AT_ONCE, OF_STREAM, Threads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def threads(spark: SparkSession) -> Iterator[Threads]:
    own = Threads(spark)
    yield own
    own.close()


def test_a_failed_write_is_told_to_whoever_waits_and_nothing_is_begun_after_it(threads: Threads) -> None:
    written: list[str] = []

    def fail() -> None:
        raise OSError("no space left")

    threads.write("gold/edges", fail)
    with pytest.raises(OSError, match="no space left"):
        threads.settle("gold/edges")
    threads.write("gold/jobs", lambda: written.append("gold/jobs"))
    with pytest.raises(OSError, match="no space left"):
        threads.settle_all()
    assert written == []


def test_who_reads_a_table_waits_for_its_write_and_for_no_other(threads: Threads) -> None:
    held, written = threading.Event(), []
    threads.write("gold/edges", lambda: written.append(held.wait(60)))
    threads.write("gold/reads", lambda: written.append("gold/reads"))
    threads.settle("gold/reads")
    threads.settle("gold/columns")  # nobody writes it
    assert written == ["gold/reads"]
    held.set()
    threads.settle("gold/edges")
    assert written == ["gold/reads", True]


def test_closing_waits_for_what_has_begun_and_drops_the_rest(threads: Threads) -> None:
    begun, written = threading.Barrier(AT_ONCE + 1), []

    def write() -> None:
        begun.wait(60)
        written.append("begun")

    for number in range(AT_ONCE):
        threads.write(str(number), write)
    waits, dropped = threads.begin(lambda: written.append("waited")), threading.Event()
    waits.add_done_callback(lambda _: dropped.set())
    closing = threading.Thread(target=threads.close)
    closing.start()
    assert dropped.wait(60)
    begun.wait(60)
    closing.join(60)
    assert waits.cancelled()
    assert written == ["begun"] * AT_ONCE


def test_jobs_of_a_thread_belong_to_the_stream_that_began_them(spark: SparkSession, threads: Threads) -> None:
    context = spark.sparkContext
    context.setLocalProperty(OF_STREAM[0], "stream-1")
    try:
        found = threads.begin(lambda: context.getLocalProperty(OF_STREAM[0])).result()
    finally:
        context.setLocalProperty(OF_STREAM[0], None)
    assert found == "stream-1"
    assert threads.begin(lambda: context.getLocalProperty(OF_STREAM[0])).result() is None
