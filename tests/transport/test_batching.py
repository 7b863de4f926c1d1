"""The engine behind every transport, with sinks that misbehave."""

from __future__ import annotations

import logging
import multiprocessing
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from colline.transport import Batch, Carrier, CompositeTransport, MemoryTransport, Receipt, Stats
from colline.transport.batching import Pace
from colline.transport.buffer import open_spool
from colline.transport.filesystem import PeerGoneError
from colline.transport.interfaces import ARRIVED
from colline.transport.local import FileSink
from colline.transport.retry import Breaker, Patience

QUICK = Patience(backoff=0.001, backoff_limit=0.002, breaker_after=3, breaker_seconds=0.01, breaker_limit=0.02)


class Scripted:
    """A sink that does what it is told, batch by batch."""

    def __init__(self, *script: Callable[[Batch], Receipt]) -> None:
        self.script = list(script)
        self.tried: list[Batch] = []
        self.closed = 0

    def deliver(self, batch: Batch) -> Receipt:
        self.tried.append(batch)
        return self.script.pop(0)(batch) if self.script else ARRIVED

    def forget(self) -> None: ...

    def close(self) -> None:
        self.closed += 1


def away(batch: Batch) -> Receipt:
    raise ConnectionRefusedError("nobody there")


def whole(stats: Stats) -> bool:
    return stats.emitted + stats.adopted == stats.sent + stats.dropped + stats.failed + stats.queued + stats.spooled


def test_a_failed_batch_is_tried_again_under_the_same_id() -> None:
    sink = Scripted(away, away)
    carrier = Carrier("test", sink, Pace(patience=QUICK))
    carrier.emit(b"1")
    carrier.close(5)
    assert len({batch.id for batch in sink.tried}) == 1
    assert carrier.stats == Stats(emitted=1, sent=1, retried=2)
    assert sink.closed == 1


def test_only_what_did_not_arrive_is_tried_again() -> None:
    sink = Scripted(lambda _: Receipt(refused=((1, "bad"),), again=(2,), why="busy"))
    carrier = Carrier("test", sink, Pace(batch_size=3, flush_seconds=9, patience=QUICK))
    for event in (b"0", b"1", b"2"):
        carrier.emit(event)
    carrier.close(5)
    assert [batch.events for batch in sink.tried] == [(b"0", b"1", b"2"), (b"2",)]
    assert carrier.stats == Stats(emitted=3, sent=2, failed=1, retried=1)


def test_the_breaker_says_so_once_and_says_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    carrier = Carrier("test", Scripted(*[away] * 8), Pace(patience=QUICK))
    with caplog.at_level(logging.WARNING, "colline.transport"):
        carrier.emit(b"1")
        assert carrier.flush(5)
        carrier.close(5)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "cannot deliver and rests" in told[0]
    assert "nobody there" in told[0]
    assert "delivers again" in told[1]


def test_a_secret_in_an_error_does_not_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: Batch) -> Receipt:
        raise OSError("PUT https://a.blob.core.windows.net/x?sv=1&sig=abcDEF123%3D failed")

    carrier = Carrier("test", Scripted(*[fails] * 4), Pace(patience=QUICK))
    with caplog.at_level(logging.DEBUG, "colline.transport"):
        carrier.emit(b"1")
        carrier.close(5)
    assert "rests" in caplog.text
    assert "abcDEF123" not in caplog.text


def test_a_full_queue_drops_the_newest_counts_them_and_never_waits() -> None:
    let_go = threading.Event()

    def hangs(_: Batch) -> Receipt:
        let_go.wait(20)
        return ARRIVED

    sink = Scripted(hangs)
    carrier = Carrier("test", sink, Pace(batch_size=1, queue_capacity=10))
    for number in range(100):
        carrier.emit(b"%d" % number)
    assert carrier.stats.dropped == 90
    assert whole(carrier.stats)
    let_go.set()
    carrier.close(5)
    assert [int(batch.events[0]) for batch in sink.tried] == list(range(10))
    assert carrier.stats == Stats(emitted=100, sent=10, dropped=90)


def test_close_waits_no_longer_than_it_may_and_says_what_is_lost() -> None:
    let_go = threading.Event()

    def hangs(_: Batch) -> Receipt:
        let_go.wait(20)
        return ARRIVED

    carrier = Carrier("test", Scripted(hangs), Pace(batch_size=2, flush_seconds=9))
    for number in range(5):
        carrier.emit(b"%d" % number)
    started = time.monotonic()
    carrier.close(0.3)
    assert 0.2 < time.monotonic() - started < 10  # the sink lets go after 20 s
    assert carrier.stats == Stats(emitted=5, failed=5)
    let_go.set()


def test_with_a_spool_what_is_left_at_close_is_not_lost(tmp_path: Path) -> None:
    carrier = Carrier("test", Scripted(*[away] * 9999), Pace(patience=QUICK), open_spool(tmp_path))
    for number in range(5):
        carrier.emit(b"%d" % number)
    carrier.close(0.2)
    assert (carrier.stats.spooled, carrier.stats.failed) == (5, 0)
    sink = Scripted()
    second = Carrier("test", sink, Pace(), open_spool(tmp_path))
    second.close(5)
    assert [event for batch in sink.tried for event in batch.events] == [b"0", b"1", b"2", b"3", b"4"]
    assert second.stats == Stats(adopted=5, sent=5)


def test_flush_wakes_a_resting_breaker() -> None:
    patience = Patience(backoff=0.001, breaker_after=1, breaker_seconds=600, breaker_limit=600)
    sink = Scripted(away)
    carrier = Carrier("test", sink, Pace(patience=patience))
    carrier.emit(b"1")
    while not sink.tried:
        time.sleep(0.005)
    assert carrier.flush(10)
    carrier.close(1)
    assert carrier.stats.sent == 1


def test_flush_says_no_when_time_is_up() -> None:
    carrier = Carrier("test", Scripted(*[away] * 9999), Pace(patience=QUICK))
    carrier.emit(b"1")
    assert carrier.flush(0.1) is False
    carrier.close(0)


def test_a_first_event_waits_for_others_no_longer_than_the_interval() -> None:
    sink = Scripted()
    carrier = Carrier("test", sink, Pace(batch_size=50, flush_seconds=0.1))
    carrier.emit(b"1")
    carrier.emit(b"2")
    until = time.monotonic() + 10
    while carrier.stats.sent < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert [len(batch.events) for batch in sink.tried] == [2]
    carrier.close(1)


def test_a_peer_that_is_gone_for_good_is_not_waited_for_at_the_end() -> None:
    def gone(_: Batch) -> Receipt:
        raise PeerGoneError("the driver's JVM is gone")

    carrier = Carrier("test", Scripted(*[gone] * 9999), Pace(patience=QUICK))
    carrier.emit(b"1")
    started = time.monotonic()
    carrier.close(20)
    assert time.monotonic() - started < 10
    assert carrier.stats.failed == 1


def test_at_a_program_s_end_a_peer_that_fails_again_and_again_is_not_waited_for() -> None:
    pace = Pace(shutdown_timeout=60, patience=QUICK)
    carrier = Carrier("test", Scripted(*[away] * 99_999), pace)
    carrier.emit(b"1")
    started = time.monotonic()
    carrier.close()
    assert time.monotonic() - started < 10
    assert carrier.stats.failed == 1


def test_one_part_that_hangs_does_not_stop_another() -> None:
    let_go = threading.Event()

    def hangs(_: Batch) -> Receipt:
        let_go.wait(20)
        return ARRIVED

    well = MemoryTransport()
    stuck = Carrier("stuck", Scripted(hangs), Pace(batch_size=1))
    broken = Carrier("broken", Scripted(*[away] * 9999), Pace(patience=QUICK))
    both = CompositeTransport({"stuck": stuck, "broken": broken, "well": well})
    for number in range(20):
        both.emit({"n": number})
    assert [event["n"] for event in well.events] == list(range(20))
    started = time.monotonic()
    both.close(0.5)
    assert time.monotonic() - started < 10  # the stuck part lets go after 20 s
    assert (stuck.stats.failed, broken.stats.failed, well.stats.sent) == (20, 20, 20)
    let_go.set()


def test_two_hundred_threads_lose_nothing_and_every_counter_fits() -> None:
    sink = Scripted()
    carrier = Carrier("test", sink, Pace(batch_size=50, queue_capacity=100_000))
    start = threading.Barrier(200)

    def work(name: int) -> None:
        start.wait()
        for number in range(50):
            carrier.emit(b"%d-%d" % (name, number))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    carrier.close(30)
    arrived = [event for batch in sink.tried for event in batch.events]
    assert sorted(arrived) == sorted(b"%d-%d" % (name, number) for name in range(200) for number in range(50))
    assert carrier.stats == Stats(emitted=10_000, sent=10_000)


def test_counters_fit_at_every_moment() -> None:
    rng, over = random.Random(7), threading.Event()

    def moody(batch: Batch) -> Receipt:
        fates = [rng.choice("aaarg") for _ in batch.events]
        refused = tuple((place, "no") for place, fate in enumerate(fates) if fate == "r")
        return Receipt(refused, tuple(place for place, fate in enumerate(fates) if fate == "g"))

    carrier = Carrier("test", Scripted(*[moody] * 100_000), Pace(batch_size=7, queue_capacity=50, patience=QUICK))
    wrong: list[Stats] = []

    def look() -> None:
        while not over.is_set():
            stats = carrier.stats
            if not whole(stats):
                wrong.append(stats)

    looker = threading.Thread(target=look)
    looker.start()
    for number in range(3000):
        carrier.emit(b"%d" % number)
    carrier.close(20)
    over.set()
    looker.join()
    assert wrong == []
    assert carrier.stats.queued == 0
    assert whole(carrier.stats)


def _child(carrier: Carrier) -> None:
    carrier.emit({"from": "child"})
    carrier.close(10)


@pytest.mark.parametrize("spool", [False, True])
def test_a_forked_child_has_events_of_its_own_and_the_parent_keeps_its(tmp_path: Path, spool: bool) -> None:
    path = tmp_path / "events.ndjson"
    buffer = open_spool(tmp_path / "spool") if spool else None
    carrier = Carrier("file", FileSink(str(path)), Pace(batch_size=1000, flush_seconds=3600), buffer)
    carrier.emit({"from": "parent"})
    child = multiprocessing.get_context("fork").Process(target=_child, args=(carrier,))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert path.read_text() == '{"from":"child"}\n'
    carrier.close(10)
    assert path.read_text() == '{"from":"child"}\n{"from":"parent"}\n'


def test_a_signal_handler_may_emit_while_its_own_thread_is_emitting() -> None:
    carrier = Carrier("test", Scripted())
    with carrier._wake:
        carrier.emit(b"from a handler")
    carrier.close(5)
    assert carrier.stats.sent == 1


def test_back_off_grows_with_jitter_and_respects_what_the_peer_asks() -> None:
    patience = Patience(backoff=1, backoff_limit=8, breaker_after=6, breaker_seconds=30, breaker_limit=100)
    waits = [[breaker.failed() for _ in range(10)] for breaker in [Breaker(patience) for _ in range(300)]]
    for place, limit in enumerate([2, 4, 8, 8, 8]):
        column = [row[place] for row in waits]
        assert 0 <= min(column) < 0.3 * limit
        assert 0.7 * limit < max(column) <= limit
    assert all(27 <= row[5] <= 33 and 54 <= row[6] <= 66 and 90 <= row[9] <= 110 for row in waits)
    assert Breaker(patience).failed(retry_after=42) >= 42
    assert Breaker(patience).failed(retry_after=10**9) <= 100
