"""Events wait on local disk: an event is in a file before `emit` returns and leaves it when it is delivered.

Every process writes segments of its own and holds a lock on each. A segment whose lock is free belonged to a process
that died: whoever opens the same folder next adopts it.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Literal

from colline.errors import TransportError
from colline.transport.buffer import MemoryBuffer
from colline.transport.segment import HAS_LOCKS, OVERHEAD, SUFFIX, Segment

log = logging.getLogger("colline.transport")

_SEGMENT_BYTES = 4 * 1024 * 1024
_SYNC_SECONDS = 1.0
_SICK_SECONDS = 1.0  # a disk that failed is left alone for so long: trying it costs every event a few system calls


@dataclass(frozen=True, slots=True)
class SpoolRules:
    """How large a spool may get, what gives way then, and when it reaches the platter."""

    max_bytes: int = 256 * 1024 * 1024
    policy: Literal["drop_newest", "drop_oldest"] = "drop_newest"
    fsync: Literal["never", "interval", "always"] = "never"

    @property
    def segment_bytes(self) -> int:
        """Small enough that a full spool has old segments to give up."""
        return max(4096, min(_SEGMENT_BYTES, self.max_bytes // 8))


class Spool:
    """A buffer on disk. When the disk cannot take an event it waits in memory, like without a spool."""

    def __init__(self, folder: str | Path, rules: SpoolRules | None = None, memory_capacity: int = 5000) -> None:
        if not HAS_LOCKS:
            raise TransportError("the spool needs file locks, which this system does not have", hint="leave it unset")
        self._folder = Path(folder).expanduser().absolute()  # a job may change its folder later
        self._rules = rules or SpoolRules()
        self._overflow = MemoryBuffer(memory_capacity)
        self._segments: list[Segment] = []
        self._own: Segment | None = None
        self._spare: Segment | None = None
        self._flying: Segment | MemoryBuffer | None = None
        self._synced = monotonic()
        self._healthy = True
        self._sick_until = 0.0
        self._left = 0
        self._closed = False
        self.adopted = 0
        self.cut = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not os.access(self._folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self._adopt()
        except OSError as error:
            raise TransportError(
                f"cannot use {self._folder} as a spool: {error.strerror or error}",
                hint="name a folder this user can write to",
            ) from error

    def put(self, line: bytes) -> int:
        """0 when the event is on disk (or, with a disk that fails, in memory); otherwise how many events gave way."""
        need = OVERHEAD + len(line)
        lost = self._make_room(need)
        if self._bytes + need > self._rules.max_bytes:
            return lost + 1
        if monotonic() < self._sick_until:
            return lost + self._overflow.put(line)
        try:
            self._writable().append(line)
            self._sync()
        except OSError as error:
            self._complain(error)
            return lost + self._overflow.put(line)
        self._healthy = True
        return lost

    @property
    def _bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    @property
    def _files(self) -> list[Segment]:
        """Every file this process has open here."""
        return [*self._segments, *filter(None, [self._spare])]

    def _writable(self) -> Segment:
        if self._own is None or self._own.size >= self._rules.segment_bytes:
            self._own, self._spare = self._spare or Segment.create(self._folder), None
            self._segments.append(self._own)
        return self._own

    def _make_room(self, need: int) -> int:
        """How many old events were given up; none unless the policy says so."""
        lost = 0
        while self._rules.policy == "drop_oldest" and self._bytes + need > self._rules.max_bytes:
            victim = next((segment for segment in self._segments if segment is not self._flying), None)
            if victim is None:
                break
            lost += len(victim.index)
            self._drop(victim)
        return lost

    def _drop(self, segment: Segment) -> None:
        self._segments.remove(segment)
        if segment is self._own:
            self._own = None
        segment.remove()

    def _sync(self) -> None:
        if self._own is None or self._rules.fsync == "never":
            return
        if self._rules.fsync == "always" or monotonic() - self._synced >= _SYNC_SECONDS:
            self._own.sync()
            self._synced = monotonic()

    def _complain(self, error: OSError) -> None:
        if self._healthy:
            log.warning("colline: the spool %s cannot be written, events wait in memory: %s", self._folder, error)
        self._healthy = False
        self._sick_until = monotonic() + _SICK_SECONDS

    def peek(self, limit: int) -> tuple[bytes, ...]:
        """The oldest events of one segment; those in memory come last."""
        self._flying = next((segment for segment in self._segments if segment.index), None) or self._overflow
        return self._flying.peek(limit)

    def done(self, count: int) -> None:
        """The events of the last `peek` are delivered."""
        flying, self._flying = self._flying, None
        if flying is None:
            return
        flying.done(count)
        if isinstance(flying, Segment) and not flying.index:
            self._recycle(flying)

    def _recycle(self, segment: Segment) -> None:
        """A drained file is written again from its start; a second one waits until the first is full."""
        try:
            if segment is self._own:
                segment.rewind()
                return
            if self._spare is None and segment.size <= 2 * self._rules.segment_bytes:
                segment.rewind()
                self._segments.remove(segment)
                self._spare = segment
                return
        except OSError as error:
            self._complain(error)
        self._drop(segment)

    def __len__(self) -> int:
        return self.on_disk + len(self._overflow)

    @property
    def on_disk(self) -> int:
        """Events that would survive this process."""
        return self._left if self._closed else sum(len(segment.index) for segment in self._segments)

    def tend(self) -> None:
        """Adopt one file of a process that died meanwhile; one, because events wait to be taken while it is read."""
        self._adopt(1)

    def _adopt(self, limit: int | None = None) -> None:
        mine = {segment.path for segment in self._segments}
        paths = (path for path in sorted(self._folder.glob(f"*{SUFFIX}")) if path not in mine)
        for segment in islice(filter(None, map(Segment.adopt, paths)), limit):
            self._welcome(segment)

    def _welcome(self, segment: Segment) -> None:
        self.adopted += len(segment.index)
        if segment.cut:
            self.cut += segment.cut
            log.warning("colline: %s has %s damaged places, skipped", segment.path, segment.cut)
        if segment.index:
            log.info("colline: adopted %s events from %s", len(segment.index), segment.path)
            self._segments.append(segment)
        else:
            segment.remove()

    def forget(self) -> None:
        """In a forked child: the files are the parent's, and so are their locks."""
        for segment in self._files:
            with contextlib.suppress(OSError):
                segment.close()
        self._segments, self._own, self._spare, self._flying = [], None, None, None
        self._overflow.forget()
        self.adopted = self.cut = 0

    def close(self) -> None:
        """Drained files go, the others stay for the next process."""
        if self._closed:
            return
        self._left, self._closed = self.on_disk, True
        for segment in self._files:
            with contextlib.suppress(OSError):
                segment.close() if segment.index else segment.remove()
