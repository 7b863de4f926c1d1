"""Spark's own metrics → what was written. A table of the names its commands use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colline.events.event_builder import Written

# the first name that is there counts; names joined by `+` are added
ROWS = (
    "numOutputRows",
    "numTargetRowsInserted+numTargetRowsUpdated+numTargetRowsDeleted",
    "numUpdatedRows",
    "numDeletedRows",
    "numCopiedRows",
    "added-records",
    "deleted-records",
)
SIZE = ("numOutputBytes", "numTargetBytesAdded", "numAddedBytes", "bytesWritten", "added-files-size")
FILES = ("numFiles", "numTargetFilesAdded", "numAddedFiles", "numOutputFiles", "added-data-files")


@dataclass(frozen=True, slots=True)
class Commit:
    """What a table format's log says about a write: the version it made and what it counted."""

    version: str
    metrics: Mapping[str, int] = field(default_factory=dict)


def written(metrics: Mapping[str, int]) -> Written:
    """Rows, bytes and files of one write; what nobody counted is unknown, never zero."""
    return Written(first(metrics, ROWS), first(metrics, SIZE), first(metrics, FILES))


def first(metrics: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    """The first of these counts that is there."""
    for name in names:
        parts = [metrics[part] for part in name.split("+") if metrics.get(part, -1) >= 0]
        if parts:
            return sum(parts)
    return None
