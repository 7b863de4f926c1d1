"""Group commit: many requests wait for one fsync. One thread writes; the event loop never waits for the disk.

While the disk is busy with one group of requests, the next group forms. So the load determines the size of a group, and
no timer delays a single request.
"""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from colline.errors import LakeError
from colline.server.http_errors import Problem
from colline.spool import Segment, land, land_abandoned, make_folder
from colline.terminal_text import get_logger

log = get_logger("colline.server")

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FILE_MODE = 0o640  # the user who runs the ingest may be another one of the same group


@dataclass(frozen=True, slots=True)
class CommitLimits:
    """When a segment becomes a landing file."""

    seal_bytes: int = 32 * 1024 * 1024
    seal_seconds: float = 2.0


@dataclass(slots=True)
class CommitCounts:
    """Counters since the start, for `/metrics` and `/api/v1/status`."""

    events: int = 0
    bytes: int = 0
    commits: int = 0
    failures: int = 0
    files: int = 0
    recovered: int = 0
    last_event: float | None = None


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """The lines of one request, and the future it waits for."""

    lines: Sequence[bytes]
    size: int
    done: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class GroupCommit:
    """Makes lines durable in spool segments, and turns the segments into landing files."""

    def __init__(
        self, directory: Path, landing: Path, limits: CommitLimits | None = None, outbox: Path | None = None
    ) -> None:
        self.directory = directory
        self.landing = landing
        self.outbox = outbox
        self.limits = limits or CommitLimits()
        self.counts = CommitCounts()
        self._last_write_failed = False
        self._entries: list[CommitRequest] = []
        self._wake = threading.Condition()
        self._stopping = False
        self._segment: Segment | None = None
        self._thread = threading.Thread(target=self._run, name="colline-group-commit", daemon=True)

    def start(self) -> None:
        """Land what an earlier process left in the spool, then accept lines."""
        try:
            make_folder(self.directory)
            make_folder(self.landing)
            self.counts.recovered = len(land_abandoned(self.directory, self.landing, self.outbox))
        except OSError as error:
            hint = "the lake must be a folder on a local or mounted disk that this user can write to"
            raise LakeError(f"cannot use {self.directory} as spool: {error.strerror}", hint=hint) from error
        self._thread.start()

    def stop(self) -> None:
        """Write the waiting lines, land the open segment, end the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    def is_ready(self) -> bool:
        """Whether events can be made durable. After a failed write this is tried with a file, in the calling thread."""
        if not self._thread.is_alive():
            return False
        if self._last_write_failed or not self.directory.is_dir():
            self._last_write_failed = not self._can_write()
        return not self._last_write_failed

    def _can_write(self) -> bool:
        try:
            make_folder(self.directory)
            segment = Segment.create(self.directory, sync=True, mode=_FILE_MODE)
            segment.append([b"{}\n"], sync=True)
            segment.remove()
        except OSError:
            return False
        return True

    def append(self, lines: Sequence[bytes]) -> asyncio.Future[None]:
        """A future of the running loop that is done when the lines, each with its line end, are durable.

        Raises a Problem if the server is stopping.
        """
        loop = asyncio.get_running_loop()
        entry = CommitRequest(lines, sum(map(len, lines)), loop.create_future(), loop)
        with self._wake:
            if self._stopping:
                raise Problem(503, "not_durable", "the server is stopping", hint="send it again")
            self._entries.append(entry)
            self._wake.notify()
        return entry.done

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._entries and not self._stopping:
                    self._wake.wait(self._seconds_until_seal())
                group, self._entries = self._entries, []
                ending = self._stopping and not group
            if group:
                self._commit(group)
            self._seal_if_due(ending=ending)
            if ending:
                return

    def _seconds_until_seal(self) -> float | None:
        if self._segment is None:
            return None
        return max(0.05, self._segment.opened_at + self.limits.seal_seconds - time.monotonic())

    def _commit(self, group: list[CommitRequest]) -> None:
        lines = [line for entry in group for line in entry.lines]
        size = sum(entry.size for entry in group)
        problem = self._write(lines)
        if problem is None:
            self.counts.events += len(lines)
            self.counts.bytes += size
            self.counts.commits += 1
            self.counts.last_event = time.time()
        self._last_write_failed = problem is not None
        _answer(group, problem)

    def _write(self, lines: Sequence[bytes]) -> Problem | None:
        """Make the lines durable; returns what the clients are answered if that fails.

        After an error the segment is sealed, because the kernel may have dropped pages that it could not write.
        """
        try:
            self._append(lines)
        except OSError as error:
            self.counts.failures += 1
            log.error("cannot write to spool %s: %s", self.directory, error)
            self._seal()
            if error.errno in _DISK_FULL:
                return Problem(
                    507, "disk_full", "the disk is full", hint="free space on the disk of the lake, then send it again"
                )
            return Problem(
                503, "not_durable", f"cannot write to disk: {error.strerror}", hint="see the log of the server"
            )
        return None

    def _append(self, lines: Sequence[bytes]) -> None:
        if self._segment is not None:
            try:
                self._segment.append(lines, sync=True)
                return
            except FileNotFoundError:
                log.warning("spool file %s was deleted or moved: creating a new one", self._segment.path)
                self._segment.close()
                self._segment = None
        make_folder(self.directory)
        self._segment = Segment.create(self.directory, sync=True, mode=_FILE_MODE)
        self._segment.append(lines, sync=True)

    def _seal_if_due(self, *, ending: bool) -> None:
        segment = self._segment
        if segment is None:
            return
        is_old = time.monotonic() - segment.opened_at >= self.limits.seal_seconds
        if ending or is_old or segment.size >= self.limits.seal_bytes:
            self._seal()

    def _seal(self) -> None:
        """Land the open segment, and those that other processes left. What fails is tried again with the next seal."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        try:
            self.counts.files += land(segment, self.landing, self.outbox) is not None
            self.counts.recovered += len(land_abandoned(self.directory, self.landing, self.outbox))
        except OSError as error:
            log.error("cannot move %s to %s: %s", segment.path, self.landing, error)


def _answer(group: list[CommitRequest], problem: Problem | None) -> None:
    """Wake the requests of a group, with one call into each event loop."""
    for loop in {entry.loop for entry in group}:
        futures = [entry.done for entry in group if entry.loop is loop]
        try:
            loop.call_soon_threadsafe(_set_results, futures, problem)
        except RuntimeError:  # the loop is closed: no request waits
            log.debug("%d requests ended before their answer", len(futures))


def _set_results(futures: list[asyncio.Future[None]], problem: Problem | None) -> None:
    for future in futures:
        if future.done():
            continue
        if problem is None:
            future.set_result(None)
        else:
            future.set_exception(problem)
