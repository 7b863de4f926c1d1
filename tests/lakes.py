"""A small lake for tests: given events land as a transport would write them, and are ingested by the real pipeline.

lake = lake_of(spark, tmp_path, [event(...), ...])
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Event = Mapping[str, Any]
PRODUCER = "https://example.org/producer/1.0"


def encode_events(events: Iterable[Event | str | bytes]) -> list[bytes]:
    """The events as bytes; texts stay as they are."""
    return [e if isinstance(e, bytes) else (e if isinstance(e, str) else json.dumps(e)).encode() for e in events]


def land(lake: Path, events: Iterable[Event | str | bytes], day: str = "2026-11-15", name: str | None = None) -> Path:
    """Writes the events as the lake transport does, in a file of that name if one is given; texts stay as they are."""
    lines = encode_events(events)
    name = name or f"{time.time_ns() // 1_000_000}-{uuid.uuid4()}-{len(lines)}events.ndjson"
    path = lake / "landing" / f"dt={day}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def lake_of(spark: SparkSession, folder: Path, *batches: Iterable[Event | str | bytes]) -> Path:
    """A lake into which each batch was landed and ingested in turn."""
    from colline.pipeline.ingest import ingest

    for batch in batches:
        land(folder, batch)
        ingest(str(folder), spark=spark)
    return folder


def source(dataset: str, field: str, effect: str = "DIRECT/IDENTITY", **more: Any) -> dict[str, Any]:
    """An input field of a lineage facet: `source("shop/orders", "amount", "DIRECT/AGGREGATION")`."""
    namespace, name = _split(dataset)
    kind, _, subtype = effect.partition("/")
    how = {
        "type": kind,
        "subtype": subtype,
        "description": more.get("description", ""),
        "masking": more.get("masking", False),
    }
    return {"namespace": namespace, "name": name, "field": field, "transformations": [how]}


def dataset(name: str, *columns: str, **facets: Any) -> dict[str, Any]:
    """A dataset with its schema; `dataset("shop/orders", "id long", "amount double")`."""
    namespace, short = _split(name)
    fields = [dict(zip(("name", "type"), column.split(), strict=False)) for column in columns]
    schema = {"schema": {"fields": fields}} if fields else {}
    return {"namespace": namespace, "name": short, "facets": {**schema, **facets}}


def lineage(rows: Iterable[Any] = (), **fields: Iterable[Any]) -> dict[str, Any]:
    """A columnLineage facet."""
    return {"fields": {name: {"inputFields": list(inputs)} for name, inputs in fields.items()}, "dataset": list(rows)}


def event(
    kind: str,
    at: str,
    *,
    run: str,
    job: str = "jobs/daily",
    inputs: Iterable[Any] = (),
    outputs: Iterable[Any] = (),
    **run_facets: Any,
) -> dict[str, Any]:
    """A run event; `run` is any word and becomes a run id of its own."""
    namespace, name = _split(job)
    return {
        "eventType": kind,
        "eventTime": at,
        "producer": PRODUCER,
        "run": {"runId": run_id(run), "facets": run_facets},
        "job": {"namespace": namespace, "name": name, "facets": {}},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def run_id(word: str) -> str:
    """The same id for the same word."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, word))


def parent(run: str, job: str = "jobs/app") -> dict[str, Any]:
    """A parent facet."""
    namespace, name = _split(job)
    return {"run": {"runId": run_id(run)}, "job": {"namespace": namespace, "name": name}}


def _split(name: str) -> tuple[str, str]:
    namespace, slash, rest = name.partition("/")
    return (namespace, rest) if slash and namespace else ("file", name)
