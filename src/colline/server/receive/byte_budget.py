"""One budget for all bytes that the receiver holds in memory: arriving, decompressed, or waiting for the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from colline.server.http_errors import Problem


@dataclass(slots=True)
class ByteBudget:
    """The bytes in use and their limit. Used from the event loop only."""

    limit: int
    used: int = 0

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """A lease for one request; its bytes are released at the end of the block."""
        lease = Lease(self)
        try:
            yield lease
        finally:
            self.used -= lease.size


@dataclass(slots=True)
class Lease:
    """The bytes that one request holds."""

    budget: ByteBudget
    size: int = 0

    def grow(self, size: int) -> None:
        """Hold `size` more bytes. Raises 429 if the budget is used up; a request alone may exceed it."""
        budget = self.budget
        if budget.used > self.size and budget.used + size > budget.limit:
            raise Problem(
                429, "too_many", "the server holds too many bytes that are not on disk yet", hint="send it again later"
            )
        self.hold(size)

    def hold(self, size: int) -> None:
        """Hold `size` more bytes of a request that has arrived: refusing it now would waste the work."""
        self.budget.used += size
        self.size += size
