"""Group commit: many requests wait for one fsync. One thread writes; the event loop never touches the disk.

While the disk is busy with one group the next one gathers, so the load itself sets the size of a group and no timer
delays a lone request.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from colline.errors import LakeError
from colline.server.http_errors import Problem
from colline.server.receive.segment import Segment, open_segment, recover

log = logging.getLogger("colline.server")

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class SpoolLimits:
    """When a segment becomes a landing file, and how much may wait for the disk."""

    seal_bytes: int = 32 * 1024 * 1024
    seal_seconds: float = 5.0
    waiting_bytes: int = 64 * 1024 * 1024


@dataclass(slots=True)
class SpoolCounts:
    """What happened since the start; read by `/metrics` and `/api/v1/status`."""

    events: int = 0
    bytes: int = 0
    commits: int = 0
    failures: int = 0
    files: int = 0
    recovered: int = 0
    last_event: float | None = None


Entry = tuple[Sequence[bytes], int, "asyncio.Future[None]", asyncio.AbstractEventLoop]


class Spool:
    """Lines in, durable when awaited; landing files out."""

    def __init__(self, directory: Path, landing: Path, limits: SpoolLimits | None = None) -> None:
        self.directory = directory
        self.landing = landing
        self.limits = limits or SpoolLimits()
        self.counts = SpoolCounts()
        self.waiting = 0
        self._entries: list[Entry] = []
        self._wake = threading.Condition()
        self._stopping = False
        self._segment: Segment | None = None
        self._thread = threading.Thread(target=self._run, name="colline-spool", daemon=True)

    def start(self) -> None:
        """Land what an earlier process left, then take entries."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.landing.mkdir(parents=True, exist_ok=True)
            self.counts.recovered = len(recover(self.directory, self.landing))
        except OSError as error:
            hint = "the lake must be a folder on a local or mounted disk that this user may write"
            raise LakeError(f"cannot use {self.directory} as spool: {error.strerror}", hint=hint) from error
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, land the open segment, end the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether the writing thread runs."""
        return self._thread.is_alive()

    def append(self, lines: Sequence[bytes], events: int) -> asyncio.Future[None]:
        """A future, on the running loop, that is done when the lines are durable. Too much waiting is a Problem."""
        size = sum(map(len, lines))
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with self._wake:
            if self._stopping:
                raise Problem(503, "not_durable", "the server is stopping", hint="send it again")
            if self.waiting and self.waiting + size > self.limits.waiting_bytes:
                raise Problem(429, "too_many", "too much is waiting for the disk", hint="send it again later")
            self.waiting += size
            self._entries.append((lines, events, done, loop))
            self._wake.notify()
        return done

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._entries and not self._stopping:
                    self._wake.wait(self._time_left())
                group, self._entries = self._entries, []
                ending = self._stopping and not group
            if group:
                self._commit(group)
            self._seal_if_due(ending=ending)
            if ending:
                return

    def _time_left(self) -> float | None:
        if self._segment is None:
            return None
        return max(0.05, self._segment.opened + self.limits.seal_seconds - time.monotonic())

    def _commit(self, group: list[Entry]) -> None:
        lines = [line for entry in group for line in entry[0]]
        events = sum(entry[1] for entry in group)
        size = sum(map(len, lines))
        problem = self._written(lines, events)
        if problem is None:
            counts = self.counts
            counts.events += events
            counts.bytes += size
            counts.commits += 1
            counts.last_event = time.time()
        with self._wake:
            self.waiting -= size
        _answer(group, problem)

    def _written(self, lines: Sequence[bytes], events: int) -> Problem | None:
        """None if the lines are durable. After a failed write the segment is given up: its cache cannot be trusted."""
        try:
            if self._segment is None:
                self._segment = open_segment(self.directory)
            self._segment.append(lines, events)
        except OSError as error:
            self.counts.failures += 1
            log.error("spool: %s: %s", self.directory, error)
            self._seal()
            if error.errno in _NO_ROOM:
                return Problem(
                    507, "disk_full", "the disk is full", hint="make room on the lake's disk, then send again"
                )
            return Problem(503, "not_durable", f"the disk refused: {error.strerror}", hint="the server's log says more")
        return None

    def _seal_if_due(self, *, ending: bool) -> None:
        segment = self._segment
        if segment is None:
            return
        old = time.monotonic() - segment.opened >= self.limits.seal_seconds
        if ending or old or segment.size >= self.limits.seal_bytes:
            self._seal()

    def _seal(self) -> None:
        """Make the segment a landing file, and with it what others left. One that fails stays for the next time."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        try:
            self.counts.files += segment.land(self.landing) is not None
            self.counts.recovered += len(recover(self.directory, self.landing))
        except OSError as error:
            log.error("spool: %s stays for now: %s", segment.path, error)


def _answer(group: list[Entry], problem: Problem | None) -> None:
    """Wake the requests of a group, with one call into each event loop."""
    for loop in {entry[3] for entry in group}:
        futures = [entry[2] for entry in group if entry[3] is loop]
        try:
            loop.call_soon_threadsafe(_settle, futures, problem)
        except RuntimeError:  # the loop is closed: nobody waits any more
            log.debug("spool: %d answers had no reader", len(futures))


def _settle(futures: list[asyncio.Future[None]], problem: Problem | None) -> None:
    for future in futures:
        if future.done():
            continue
        if problem is None:
            future.set_result(None)
        else:
            future.set_exception(problem)
