"""Measures what one event of 100 columns costs the job, compared with openlineage-python's client writing to a file.

Both clients serialize the same event in one run. colline gets a frozen struct, as from the watch.

A shared processor switches between two speeds, 1.7 times apart, many times a second. So a fixed piece of work is timed
right before each call: if it took at most a tenth longer than the fastest one, the call counts as undisturbed. Both
medians are printed, with the share of undisturbed calls.
"""

from __future__ import annotations

import json
import logging
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from colline.config import settings_from, transport_from
from colline.transport import Transport

COLUMNS, INPUTS, ROUNDS = 100, 2, 1500
THEIRS = "openlineage-python to file"
FIXED_WORK = partial(zlib.crc32, bytes(40_000))
SPEC = "https://openlineage.io/spec"


def event_of_plain_types() -> dict[str, Any]:
    """A run event whose output has 100 columns of two inputs each, in plain JSON types."""
    fields = {
        f"column_{column}": {
            "inputFields": [
                {
                    "namespace": "s3://warehouse",
                    "name": "sales/orders",
                    "field": f"source_{column}_{number}",
                    "transformations": [
                        {
                            "type": "DIRECT",
                            "subtype": "TRANSFORMATION",
                            "description": "cast(x as double)",
                            "masking": False,
                        }
                    ],
                }
                for number in range(INPUTS)
            ]
        }
        for column in range(COLUMNS)
    }
    schema = [{"name": f"column_{column}", "type": "double"} for column in range(COLUMNS)]
    return {
        "eventTime": "2026-01-01T00:00:00.000Z",
        "eventType": "COMPLETE",
        "producer": "https://example.org/bench",
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01890a5d-ac96-774b-bcce-b302099a8057", "facets": {}},
        "job": {"namespace": "bench", "name": "orders", "facets": {}},
        "inputs": [{"namespace": "s3://warehouse", "name": "sales/orders"}],
        "outputs": [
            {
                "namespace": "s3://warehouse",
                "name": "sales/daily",
                "facets": {"schema": {"fields": schema}, "columnLineage": {"fields": fields}},
            }
        ],
    }


def struct_of(value: Any, name: str = "Event") -> Any:
    """The same value as frozen structs; maps whose keys are column names stay maps."""
    if isinstance(value, list):
        return tuple(struct_of(each, name) for each in value)
    if not isinstance(value, dict):
        return value
    inner = {key: struct_of(each, key.title()) for key, each in value.items()}
    if any(key.startswith("column_") for key in inner):
        return inner
    kind = STRUCTS.setdefault((name, tuple(inner)), msgspec.defstruct(name, [(key, Any) for key in inner], frozen=True))
    return kind(**inner)


STRUCTS: dict[Any, Any] = {}


def openlineage_event(event: dict[str, Any]) -> Any:
    """The same event in openlineage-python's model."""
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
    from openlineage.client.facet_v2 import column_lineage_dataset as cl
    from openlineage.client.facet_v2 import schema_dataset as sd

    facets = event["outputs"][0]["facets"]
    fields = {
        name: cl.Fields(
            inputFields=[
                cl.InputField(
                    namespace=each["namespace"],
                    name=each["name"],
                    field=each["field"],
                    transformations=[cl.Transformation(**each["transformations"][0])],
                )
                for each in field["inputFields"]
            ]
        )
        for name, field in facets["columnLineage"]["fields"].items()
    }
    schema = sd.SchemaDatasetFacet(fields=[sd.SchemaDatasetFacetFields(**each) for each in facets["schema"]["fields"]])
    return RunEvent(
        eventTime=event["eventTime"],
        eventType=RunState.COMPLETE,
        run=Run(event["run"]["runId"]),
        job=Job("bench", "orders"),
        producer=event["producer"],
        inputs=[InputDataset("s3://warehouse", "sales/orders")],
        outputs=[
            OutputDataset(
                "s3://warehouse",
                "sales/daily",
                facets={"schema": schema, "columnLineage": cl.ColumnLineageDatasetFacet(fields=fields)},
            )
        ],
    )


@dataclass
class Timings:
    """Seconds of calls of one kind, each with those of the fixed work before it."""

    seconds: list[float] = field(default_factory=list)
    before: list[float] = field(default_factory=list)

    def add(self, call: Callable[[], None]) -> None:
        """Time the fixed work, then the call."""
        self.before.append(seconds_of(FIXED_WORK))
        self.seconds.append(seconds_of(call))

    def undisturbed_seconds(self, quickest: float) -> list[float]:
        """The calls during which no other program slowed the processor down."""
        return [each for each, before in zip(self.seconds, self.before, strict=True) if before <= 1.1 * quickest]


def time_in_a_row(calls: dict[str, Callable[[], None]]) -> dict[str, Timings]:
    """Calls in a row, 50 of each kind in turns, so that a busy moment affects every kind."""
    taken = {name: Timings() for name in calls}
    for _ in range(ROUNDS // 50):
        for name, call in calls.items():
            for _ in range(5 if name == THEIRS else 50):
                taken[name].add(call)
    return taken


def time_after_a_pause(calls: dict[str, Callable[[], None]]) -> dict[str, Timings]:
    """Single calls after a pause, when other work has filled the caches."""
    taken = {name: Timings() for name in calls}
    names = list(calls)
    for turn in range(ROUNDS // 2):
        names.append(names.pop(0))
        for name in names:
            if name != THEIRS or turn % 10 == 0:
                taken[name].add(calls[name])
        time.sleep(0.002)
    return taken


def seconds_of(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def print_medians(title: str, found: dict[str, Timings]) -> None:
    """Print the medians of each kind of call, and how many times as fast as the other client it is."""
    quickest = min(min(each.before) for each in found.values())
    print(f"{title}: median µs, and the same of the undisturbed calls, with their share")
    theirs = statistics.median(found[THEIRS].seconds)
    for name, taken in found.items():
        median, undisturbed = statistics.median(taken.seconds), taken.undisturbed_seconds(quickest)
        quiet = f"{statistics.median(undisturbed) * 1e6:8.1f}" if undisturbed else "       -"
        share = len(undisturbed) / len(taken.seconds)
        print(f"  {name:<28} {median * 1e6:8.1f} {quiet} ({share:4.0%})  {theirs / median:7.1f} x")


def main() -> None:
    from openlineage.client import OpenLineageClient
    from openlineage.client.transport.file import FileConfig, FileTransport

    logging.getLogger("colline").setLevel(logging.ERROR)
    event = event_of_plain_types()
    struct, line = struct_of(event), msgspec.json.encode(event)
    assert json.loads(msgspec.json.encode(struct)) == event
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        config = FileConfig(log_file_path=str(base / "theirs.ndjson"), append=True)
        theirs = OpenLineageClient(transport=FileTransport(config))
        their_event = openlineage_event(event)

        def create(**given: Any) -> Transport:
            return transport_from(settings_from({"transport": {"queueCapacity": 100_000, **given}}, environ={}))

        ours = {
            "file": create(type="file", location=str(base / "ours.ndjson")),
            "lake": create(type="lake", base=str(base / "lake")),
            "lake with spool": create(type="lake", base=str(base / "other"), spool=str(base / "spool")),
        }
        calls: dict[str, Callable[[], None]] = {THEIRS: lambda: theirs.emit(their_event)}
        for name, transport in ours.items():
            calls[f"{name}, struct"] = lambda transport=transport: transport.emit(struct)
        calls["lake, bytes"] = lambda: ours["lake"].emit(line)
        found, cold = time_in_a_row(calls), time_after_a_pause(calls)
        for transport in ours.values():
            transport.close(60)
            assert transport.stats.is_lossless, transport.stats
    print(f"one event of {COLUMNS} columns, {len(line) / 1024:.0f} KB, {ROUNDS} emits, writing it as JSON included")
    print_medians("one after the other", found)
    print_medians("after a pause", cold)


main()
