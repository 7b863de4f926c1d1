"""The work on a large body ends when its client disconnects."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Callable

import pytest

from colline.server.http_errors import Problem
from colline.server.receive.body import MAX_BYTES_ON_EVENT_LOOP, decompress, off_event_loop

LARGE = MAX_BYTES_ON_EVENT_LOOP + 1


def disconnect_after(work: Callable[[], object], begun: threading.Event, stop: threading.Event) -> None:
    """Do the work for a client that disconnects once `begun` is set."""

    async def receive() -> dict[str, str]:
        while not begun.is_set():
            await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    with pytest.raises(Problem, match="the client disconnected"):
        asyncio.run(off_event_loop(work, LARGE, receive, stop))


def test_running_work_is_stopped_when_the_client_disconnects() -> None:
    begun, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        if stop.wait(60):
            ended.set()

    disconnect_after(work, begun, stop)
    assert ended.wait(60)


def test_waiting_work_is_never_begun_after_the_client_disconnected() -> None:
    busy, release, done = threading.Semaphore(0), threading.Event(), threading.Event()
    runs: list[str] = []

    def occupy() -> None:
        busy.release()
        release.wait(60)

    async def scenario() -> None:
        async def stay() -> dict[str, str]:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def leave() -> dict[str, str]:
            return {"type": "http.disconnect"}

        occupied = asyncio.ensure_future(off_event_loop(occupy, LARGE, stay))
        await asyncio.to_thread(busy.acquire)
        with pytest.raises(Problem, match="the client disconnected"):
            await off_event_loop(lambda: runs.append("waiting"), LARGE, leave)
        release.set()
        await occupied
        await off_event_loop(done.set, LARGE, stay)  # the thread has reached the end of its queue

    asyncio.run(scenario())
    assert done.is_set()
    assert runs == []


def test_decompression_stops_in_the_middle_of_a_body() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Problem, match="the client disconnected"):
        decompress(gzip.compress(b" " * LARGE), LARGE, stop)
