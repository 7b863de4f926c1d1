"""What an ingest reports: a summary at its end, and callbacks while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """A batch that is in the lake."""

    folder: str
    batch: int
    events: int
    quarantined: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """The result of an ingest."""

    lake: str
    batches: int = 0
    events: int = 0
    quarantined: int = 0
    seconds: float = 0.0
    snapshot: str | None = None
    # corrupt landed files under their new names, with the reason
    unreadable: tuple[str, ...] = ()
    # files in the landing folders whose names have another ending
    ignored: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class IngestListener:
    """Callbacks of an ingest: `progress` per batch, `wrote` per table, `renamed` per corrupt file, `published`."""

    progress: Callable[[Progress], None] = field(default=lambda _: None)
    wrote: Callable[[str], None] = field(default=lambda _: None)
    renamed: Callable[[str], None] = field(default=lambda _: None)
    published: Callable[[str | None], None] = field(default=lambda _: None)
