"""The former schemas of datasets, as text for the snapshot: only the differences between one schema and the next."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from colline.graph.traversal.times import parse_time, time_or_none

MAX_CHANGES = 20  # schemas kept of one dataset, the newest
MAX_NAMES = 200  # columns listed of one change


def schema_histories(column: pa.ChunkedArray) -> Iterator[str]:
    """The history of each dataset as JSON, newest schema first; empty for a dataset that has had one schema only."""
    counts = pc.fill_null(pc.list_value_length(column), 0).to_pylist()
    for place, count in enumerate(counts):
        yield json.dumps(_history(column[place].as_py())) if count > 1 else ""


def _history(schemas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    newest_first = sorted(schemas, key=lambda schema: schema["first_seen"], reverse=True)[: MAX_CHANGES + 1]
    fields = [{field["name"]: field["type"] for field in schema["fields"] or ()} for schema in newest_first]
    pairs = zip(newest_first, fields, [*fields[1:], fields[-1]], strict=True)
    return [_schema_change(schema, after, before) for schema, after, before in pairs]


def _schema_change(
    schema: Mapping[str, Any], after: dict[str, str | None], before: dict[str, str | None]
) -> dict[str, Any]:
    changed = [
        f"{name}: {before[name]} → {kind}" for name, kind in after.items() if name in before and before[name] != kind
    ]
    return {
        "first_seen": time_or_none(parse_time(schema["first_seen"]) or 0),
        "last_seen": time_or_none(parse_time(schema["last_seen"]) or 0),
        "columns": len(after),
        "added": [name for name in after if name not in before][:MAX_NAMES],
        "removed": [name for name in before if name not in after][:MAX_NAMES],
        "changed": changed[:MAX_NAMES],
    }
