"""The lineage of events that are in memory: `colline.attach(spark).lineage()`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from colline.errors import LakeError
from colline.events.model import RunEvent
from colline.graph.lineage import Lineage
from colline.graph.snapshot.array_file import Arrays, write_unpublished
from colline.graph.snapshot.publish import compose
from colline.graph.traversal.records import View
from colline.lake.tables import RUNS

_NO_LAKE = Path("/nonexistent")  # a folder without tables
_decode = msgspec.json.Decoder(RunEvent).decode


class SessionLineage(Lineage):
    """A `Lineage` of the given events, which does not change. It needs neither an ingest nor a lake."""

    def __init__(self, lines: Iterable[bytes]) -> None:  # no lake is opened
        self.lake = _NO_LAKE
        self._remote = None
        self._missing = {}
        self._view = View(_arrays([_decode(line) for line in lines]))

    def view(self) -> View:
        """The snapshot of the events."""
        return self._view

    @property
    def has_newer(self) -> bool:
        """False: later events are in another object."""
        return False

    def _has(self, table: str) -> Path:
        if table != RUNS.path:
            return self.lake
        raise LakeError(
            "the history of runs is recorded in a lake, and this lineage is in memory",
            hint='capture into a lake, `colline.attach(spark, lake="…")`, and run `colline ingest`',
        )


def _arrays(events: list[RunEvent]) -> Arrays:
    """The arrays of a snapshot of the events."""
    from colline.flat.event_tables import event_tables

    return write_unpublished(f"session-{len(events)}", *compose(event_tables(events)))
