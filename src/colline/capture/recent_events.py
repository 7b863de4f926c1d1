"""Keeps the events of a session that its own lineage is computed from, for `watch.lineage()`.

Of each query only the newest final event is kept, so a loop that runs one statement a thousand times keeps one event.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from colline.events.model import RunEvent, RunState
from colline.transport.interfaces import to_json_line

_MAX_BYTES = 16 * 1024 * 1024
_KEPT_STATES = (RunState.COMPLETE, RunState.RUNNING, RunState.FAIL)
Key = tuple[object, ...]


class RecentEvents:
    """The newest events, at most 16 MB; the oldest are dropped first."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._lock = threading.Lock()
        self._lines: OrderedDict[Key, bytes] = OrderedDict()
        self._described: set[Key] = set()
        self._max_bytes = max_bytes
        self._bytes = 0

    def add(self, event: RunEvent) -> None:
        """Keep the event if it has lineage, or the schema of a dataset that no earlier event has."""
        key = self._key(event)
        if key is None:
            return
        line = to_json_line(event)
        with self._lock:
            if key in self._lines and not _has_lineage(event):
                return  # a later event of a stream repeats neither lineage nor schema
            self._bytes += len(line) - len(self._lines.pop(key, b""))
            self._lines[key] = line
            while self._bytes > self._max_bytes and len(self._lines) > 1:
                self._bytes -= len(self._lines.popitem(last=False)[1])

    @property
    def lines(self) -> list[bytes]:
        """The events as JSON, oldest first."""
        with self._lock:
            return list(self._lines.values())

    def _key(self, event: RunEvent) -> Key | None:
        datasets = (*(event.inputs or ()), *(event.outputs or ()))
        if not datasets:
            return None
        described = {(each.namespace, each.name) for each in datasets if "schema" in (each.facets or {})}
        if event.event_type not in _KEPT_STATES:
            first_described = described - self._described
            self._described |= first_described
            return ("schema", *sorted(first_described)) if first_described else None
        definition = ((event.run.facets or {}).get("colline_query") or {}).get("definition")
        outputs = tuple((each.namespace, each.name, _lifecycle(each.facets)) for each in event.outputs or ())
        return ("run", event.event_type, event.job.namespace, event.job.name, definition, outputs)


def _has_lineage(event: RunEvent) -> bool:
    outputs = event.outputs or ()
    in_job = "lineage" in (event.job.facets or {})
    return in_job or not outputs or any("columnLineage" in (each.facets or {}) for each in outputs)


def _lifecycle(facets: dict[str, object] | None) -> object:
    facet = (facets or {}).get("lifecycleStateChange")
    return facet.get("lifecycleStateChange") if isinstance(facet, dict) else None
