"""The batching transport, with sinks that fail, hang and refuse events."""

from __future__ import annotations

import logging
import multiprocessing
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from colline.spool import Spool
from colline.transport import (
    Batch,
    BatchingTransport,
    CompositeTransport,
    DeliveryResult,
    DeliveryStats,
    MemoryTransport,
)
from colline.transport.batching import BatchingPolicy
from colline.transport.interfaces import DELIVERED, DestinationLostError
from colline.transport.retry import CircuitBreaker, RetryPolicy
from colline.transport.sinks.file import FileSink

QUICK = RetryPolicy(
    backoff_seconds=0.001, max_backoff_seconds=0.002, breaker_after=3, breaker_seconds=0.01, max_breaker_seconds=0.02
)


class Scripted:
    """A sink with a scripted result for each batch; later batches are delivered."""

    def __init__(self, *script: Callable[[Batch], DeliveryResult]) -> None:
        self.script = list(script)
        self.tried: list[Batch] = []
        self.closed = 0

    def deliver(self, batch: Batch) -> DeliveryResult:
        self.tried.append(batch)
        return self.script.pop(0)(batch) if self.script else DELIVERED

    def after_fork(self) -> None: ...

    def close(self) -> None:
        self.closed += 1


def refuse_connection(batch: Batch) -> DeliveryResult:
    raise ConnectionRefusedError("nobody there")


def is_balanced(stats: DeliveryStats) -> bool:
    return stats.emitted + stats.adopted == stats.sent + stats.dropped + stats.failed + stats.queued + stats.spooled


def test_a_retry_has_the_id_of_the_failed_batch() -> None:
    sink = Scripted(refuse_connection, refuse_connection)
    transport = BatchingTransport("test", sink, BatchingPolicy(retry=QUICK))
    transport.emit(b"1")
    transport.close(5)
    assert len({batch.id for batch in sink.tried}) == 1
    assert transport.stats == DeliveryStats(emitted=1, sent=1, retried=2)
    assert sink.closed == 1


def test_only_undelivered_events_are_retried() -> None:
    sink = Scripted(lambda _: DeliveryResult(refused=((1, "bad"),), retry=(2,), reason="busy"))
    transport = BatchingTransport("test", sink, BatchingPolicy(batch_size=3, flush_seconds=9, retry=QUICK))
    for event in (b"0", b"1", b"2"):
        transport.emit(event)
    transport.close(5)
    assert [batch.events for batch in sink.tried] == [(b"0", b"1", b"2"), (b"2",)]
    assert transport.stats == DeliveryStats(emitted=3, sent=2, failed=1, retried=1)


def test_the_circuit_breaker_is_logged_when_it_opens_and_closes(caplog: pytest.LogCaptureFixture) -> None:
    transport = BatchingTransport("test", Scripted(*[refuse_connection] * 8), BatchingPolicy(retry=QUICK))
    with caplog.at_level(logging.WARNING, "colline.transport"):
        transport.emit(b"1")
        assert transport.flush(5)
        transport.close(5)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert "circuit open for" in messages[0]
    assert "nobody there" in messages[0]
    assert "delivers again" in messages[1]


def test_a_secret_in_an_error_does_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Batch) -> DeliveryResult:
        raise OSError("PUT https://a.blob.core.windows.net/x?sv=1&sig=abcDEF123%3D failed")

    transport = BatchingTransport("test", Scripted(*[fail] * 4), BatchingPolicy(retry=QUICK))
    with caplog.at_level(logging.DEBUG, "colline.transport"):
        transport.emit(b"1")
        transport.close(5)
    assert "circuit open" in caplog.text
    assert "abcDEF123" not in caplog.text


def test_a_full_queue_drops_and_counts_new_events_without_waiting() -> None:
    release = threading.Event()

    def hang(_: Batch) -> DeliveryResult:
        release.wait(20)
        return DELIVERED

    sink = Scripted(hang)
    transport = BatchingTransport("test", sink, BatchingPolicy(batch_size=1, queue_capacity=10))
    for number in range(100):
        transport.emit(b"%d" % number)
    assert transport.stats.dropped == 90
    assert is_balanced(transport.stats)
    release.set()
    transport.close(5)
    assert [int(batch.events[0]) for batch in sink.tried] == list(range(10))
    assert transport.stats == DeliveryStats(emitted=100, sent=10, dropped=90)


def test_close_respects_its_timeout_and_counts_lost_events() -> None:
    release = threading.Event()

    def hang(_: Batch) -> DeliveryResult:
        release.wait(20)
        return DELIVERED

    transport = BatchingTransport("test", Scripted(hang), BatchingPolicy(batch_size=2, flush_seconds=9))
    for number in range(5):
        transport.emit(b"%d" % number)
    started = time.monotonic()
    transport.close(0.3)
    assert 0.2 < time.monotonic() - started < 10  # the sink returns after 20 s
    assert transport.stats == DeliveryStats(emitted=5, failed=5)
    release.set()


def test_events_left_at_close_stay_in_the_spool(tmp_path: Path) -> None:
    transport = BatchingTransport(
        "test", Scripted(*[refuse_connection] * 9999), BatchingPolicy(retry=QUICK), Spool(tmp_path)
    )
    for number in range(5):
        transport.emit(b"%d" % number)
    transport.close(0.2)
    assert (transport.stats.spooled, transport.stats.failed) == (5, 0)
    sink = Scripted()
    second = BatchingTransport("test", sink, BatchingPolicy(), Spool(tmp_path))
    second.close(5)
    assert [event for batch in sink.tried for event in batch.events] == [b"0", b"1", b"2", b"3", b"4"]
    assert second.stats == DeliveryStats(adopted=5, sent=5)


def test_flush_ends_the_pause_of_an_open_circuit() -> None:
    policy = RetryPolicy(backoff_seconds=0.001, breaker_after=1, breaker_seconds=600, max_breaker_seconds=600)
    sink = Scripted(refuse_connection)
    transport = BatchingTransport("test", sink, BatchingPolicy(retry=policy))
    transport.emit(b"1")
    while not sink.tried:
        time.sleep(0.005)
    assert transport.flush(10)
    transport.close(1)
    assert transport.stats.sent == 1


def test_flush_returns_false_after_its_timeout() -> None:
    transport = BatchingTransport("test", Scripted(*[refuse_connection] * 9999), BatchingPolicy(retry=QUICK))
    transport.emit(b"1")
    assert transport.flush(0.1) is False
    transport.close(0)


def test_a_batch_waits_for_more_events_until_the_flush_interval_ends() -> None:
    sink = Scripted()
    transport = BatchingTransport("test", sink, BatchingPolicy(batch_size=50, flush_seconds=0.1))
    transport.emit(b"1")
    transport.emit(b"2")
    until = time.monotonic() + 10
    while transport.stats.sent < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert [len(batch.events) for batch in sink.tried] == [2]
    transport.close(1)


def test_close_does_not_wait_for_a_lost_destination() -> None:
    def lose_destination(_: Batch) -> DeliveryResult:
        raise DestinationLostError("the driver's JVM has ended")

    transport = BatchingTransport("test", Scripted(*[lose_destination] * 9999), BatchingPolicy(retry=QUICK))
    transport.emit(b"1")
    started = time.monotonic()
    transport.close(20)
    assert time.monotonic() - started < 10
    assert transport.stats.failed == 1


def test_close_without_timeout_does_not_wait_for_a_failing_destination() -> None:
    policy = BatchingPolicy(shutdown_seconds=60, retry=QUICK)
    transport = BatchingTransport("test", Scripted(*[refuse_connection] * 99_999), policy)
    transport.emit(b"1")
    started = time.monotonic()
    transport.close()
    assert time.monotonic() - started < 10
    assert transport.stats.failed == 1


def test_a_hanging_part_does_not_stop_the_others() -> None:
    release = threading.Event()

    def hang(_: Batch) -> DeliveryResult:
        release.wait(20)
        return DELIVERED

    well = MemoryTransport()
    stuck = BatchingTransport("stuck", Scripted(hang), BatchingPolicy(batch_size=1))
    broken = BatchingTransport("broken", Scripted(*[refuse_connection] * 9999), BatchingPolicy(retry=QUICK))
    both = CompositeTransport({"stuck": stuck, "broken": broken, "well": well})
    for number in range(20):
        both.emit({"n": number})
    assert [event["n"] for event in well.events] == list(range(20))
    started = time.monotonic()
    both.close(0.5)
    assert time.monotonic() - started < 10  # the stuck part returns after 20 s
    assert (stuck.stats.failed, broken.stats.failed, well.stats.sent) == (20, 20, 20)
    release.set()


def test_events_of_two_hundred_threads_are_delivered_and_counted() -> None:
    sink = Scripted()
    transport = BatchingTransport("test", sink, BatchingPolicy(batch_size=50, queue_capacity=100_000))
    start = threading.Barrier(200)

    def work(name: int) -> None:
        start.wait()
        for number in range(50):
            transport.emit(b"%d-%d" % (name, number))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    transport.close(30)
    arrived = [event for batch in sink.tried for event in batch.events]
    assert sorted(arrived) == sorted(b"%d-%d" % (name, number) for name in range(200) for number in range(50))
    assert transport.stats == DeliveryStats(emitted=10_000, sent=10_000)


def test_counters_are_balanced_at_any_moment() -> None:
    rng, over = random.Random(7), threading.Event()

    def deliver_some(batch: Batch) -> DeliveryResult:
        fates = [rng.choice("aaarg") for _ in batch.events]
        refused = tuple((place, "no") for place, fate in enumerate(fates) if fate == "r")
        return DeliveryResult(refused, tuple(place for place, fate in enumerate(fates) if fate == "g"))

    transport = BatchingTransport(
        "test", Scripted(*[deliver_some] * 100_000), BatchingPolicy(batch_size=7, queue_capacity=50, retry=QUICK)
    )
    wrong: list[DeliveryStats] = []

    def observe() -> None:
        while not over.is_set():
            stats = transport.stats
            if not is_balanced(stats):
                wrong.append(stats)

    observer = threading.Thread(target=observe)
    observer.start()
    for number in range(3000):
        transport.emit(b"%d" % number)
    transport.close(20)
    over.set()
    observer.join()
    assert wrong == []
    assert transport.stats.queued == 0
    assert is_balanced(transport.stats)


def _child(transport: BatchingTransport) -> None:
    transport.emit({"from": "child"})
    transport.close(10)


@pytest.mark.parametrize("spool", [False, True])
def test_a_forked_child_does_not_deliver_the_events_of_its_parent(tmp_path: Path, spool: bool) -> None:
    path = tmp_path / "events.ndjson"
    buffer = Spool(tmp_path / "spool") if spool else None
    transport = BatchingTransport(
        "file", FileSink(str(path)), BatchingPolicy(batch_size=1000, flush_seconds=3600), buffer
    )
    transport.emit({"from": "parent"})
    child = multiprocessing.get_context("fork").Process(target=_child, args=(transport,))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert path.read_text() == '{"from":"child"}\n'
    transport.close(10)
    assert path.read_text() == '{"from":"child"}\n{"from":"parent"}\n'


def test_a_signal_handler_may_emit_during_emit() -> None:
    transport = BatchingTransport("test", Scripted())
    with transport._changed:
        transport.emit(b"from a handler")
    transport.close(5)
    assert transport.stats.sent == 1


def test_back_off_grows_with_jitter_and_respects_retry_after() -> None:
    policy = RetryPolicy(
        backoff_seconds=1, max_backoff_seconds=8, breaker_after=6, breaker_seconds=30, max_breaker_seconds=100
    )
    waits = [[breaker.record_failure() for _ in range(10)] for breaker in [CircuitBreaker(policy) for _ in range(300)]]
    for place, limit in enumerate([2, 4, 8, 8, 8]):
        column = [row[place] for row in waits]
        assert 0 <= min(column) < 0.3 * limit
        assert 0.7 * limit < max(column) <= limit
    assert all(27 <= row[5] <= 33 and 54 <= row[6] <= 66 and 90 <= row[9] <= 110 for row in waits)
    assert CircuitBreaker(policy).record_failure(retry_after=42) >= 42
    assert CircuitBreaker(policy).record_failure(retry_after=10**9) <= 100
