"""Events in three batches: one job per rule, so that a handful of ingests shows every rule."""

from __future__ import annotations

import json
from typing import Any

from tests.lakes import dataset, event, lineage, parent, run_id, source

Events = list[dict[str, Any] | str | bytes]


def day(n: int, hour: int = 0) -> str:
    return f"2026-11-{n:02d}T{hour:02d}:00:00Z"


def output(name: str, effect: str = "DIRECT/AGGREGATION", of: str = "amount", **facets: Any) -> dict[str, Any]:
    """A table with one column `total`, made from a column of shop/orders."""
    return dataset(
        f"shop/{name}", "total double", columnLineage=lineage(total=[source("shop/orders", of, effect)]), **facets
    )


def write(
    job: str, run: str, at: int, output: dict[str, Any], *, end: str = "COMPLETE", hour: int = 0, **facets: Any
) -> Events:
    """START and end of one run, an hour apart."""
    name = f"jobs/{job}"
    return [
        event("START", day(at, hour), run=run, job=name, inputs=[ORDERS], outputs=[output], **facets),
        event(end, day(at, hour + 1), run=run, job=name, inputs=[ORDERS], outputs=[output], **facets),
    ]


def _event_text(**changes: Any) -> str:
    """An event with something wrong in it."""
    right = {"eventTime": "2026-11-01T00:00:00Z", "run": {"runId": "x"}, "job": {"namespace": "n", "name": "j"}}
    return json.dumps({**right, **changes})


ORDERS = dataset("shop/orders", "id long", "amount double", "region string", "email string")
BAD: Events = [
    '{"broken": ',
    "[1, 2]",
    '{"eventTime": "2026-11-01T00:00:00Z"}',
    _event_text(eventType="DONE"),
    _event_text(eventTime="yesterday"),
    _event_text(eventTime="1969-01-01T00:00:00Z"),
    _event_text(inputs={}),
    _event_text(eventTime=None),
    # the fault is inside the facet; ORDERS, which good lines have too, stays valid
    _event_text(inputs=[ORDERS], outputs=[dataset("shop/wrong", columnLineage={"fields": ["a"]})]),
    _event_text(outputs=[dataset("shop/wrong", columnLineage={"fields": "a", "dataset": [{}]})]),
    b'{"eventTime": "\xff\xfe"}',
]
# the reason that each of them is given
BAD_REASONS = (
    "not_json",
    "not_an_event",
    "not_an_event",
    "unknown_event_type",
    "bad_event_time",
    "time_out_of_range",
    "wrong_type",
    "no_event_time",
    "wrong_type",
    "wrong_type",
    "not_utf8",
)

_ROWS = [source("shop/orders", "region", "INDIRECT/FILTER"), source("shop/orders", "id", "INDIRECT/JOIN")]
_A, _B = source("shop/orders", "amount"), source("shop/orders", "email", "DIRECT/TRANSFORMATION", masking=True)
COMPACT = dataset("shop/compact", "a double", "b string", columnLineage=lineage(_ROWS, a=[_A], b=[_B]))
# with repetitions
_A_TWICE = [_A, *_ROWS, _A, _ROWS[0]]
CARTESIAN = dataset("shop/cartesian", "a double", "b string", columnLineage=lineage(a=_A_TWICE, b=[_B, *_ROWS]))
LEGACY = dataset(
    "shop/legacy",
    columnLineage={
        "fields": {
            "same": {
                "transformationType": "IDENTITY",
                "inputFields": [{"namespace": "shop", "name": "orders", "field": "id"}],
            },
            "hidden": {
                "transformationType": "MASKED",
                "transformationDescription": "hash",
                "inputFields": [{"namespace": "shop", "name": "orders", "field": "email"}],
            },
        }
    },
)
NEWER = {
    "lineage": {
        "entries": [
            {
                "namespace": "shop",
                "name": "newer",
                "type": "DATASET",
                "inputs": [{"type": "DATASET", **_ROWS[0]}],
                "fields": {"a": {"inputs": [{"type": "DATASET", **_A}]}},
            }
        ]
    }
}


def events_with_lineage_facet() -> Events:
    """The job-level `lineage` facet instead of columnLineage."""
    events = write("newer", "newer", 1, dataset("shop/newer", "a double"))
    return [{**e, "job": {**e["job"], "facets": NEWER}} for e in events if isinstance(e, dict)]


def stream(at: int) -> dict[str, Any]:
    """A RUNNING event of a stream that has not ended."""
    running = event("RUNNING", day(at), run="stream", job="jobs/stream", inputs=[ORDERS], outputs=[output("live")])
    return {
        **running,
        "job": {**running["job"], "facets": {"jobType": {"processingType": "STREAMING", "integration": "SPARK"}}},
    }


PHYSICAL = dataset(
    "lake/t",
    "total double",
    columnLineage=lineage(total=[source("shop/orders", "amount")]),
    symlinks={"identifiers": [{"namespace": "hive", "name": "db.t", "type": "TABLE"}]},
)
READER = dataset("shop/reader", columnLineage=lineage(x=[source("hive/db.t", "total")]))

FIRST: Events = [
    *write("same", "same-1", 1, output("same")),
    *write("changed", "changed-1", 1, output("changed")),
    *write("fewer", "fewer-1", 1, dataset("shop/fewer", "a double", "b string", columnLineage=lineage(a=[_A], b=[_B]))),
    *write("fails", "fails-1", 1, output("fails")),
    *write("one", "one-1", 1, output("both")),
    *write("two", "two-1", 1, output("both", "DIRECT/TRANSFORMATION")),
    *write("branches", "b-1", 1, output("branches", of="amount"), parent=parent("app-1")),
    *write("branches", "b-2", 1, output("branches", of="id"), parent=parent("app-1"), hour=2),
    *write("late", "late-3", 3, output("late", of="id")),
    event("START", day(1), run="split", job="jobs/split", inputs=[ORDERS], outputs=[output("split")]),
    *write("compact", "compact", 1, COMPACT),
    *write("cartesian", "cartesian", 1, CARTESIAN),
    *write("legacy", "legacy", 1, LEGACY),
    event("COMPLETE", day(1), run="merge", job="jobs/merge", inputs=[], outputs=[output("merged")]),
    *events_with_lineage_facet(),
    *write(
        "again",
        "again-1",
        1,
        output("again", lifecycleStateChange={"lifecycleStateChange": "OVERWRITE"}),
        parent=parent("app-2"),
    ),
    stream(1),
    *write("reader", "reader", 1, READER),
    event("COMPLETE", day(1), run="bare", job="jobs/bare", inputs=[ORDERS], outputs=[dataset("shop/bare", "x long")]),
    event("START", day(1), run="lost", job="jobs/lost", outputs=[output("lost")]),
    {
        "eventTime": day(1),
        "producer": "p",
        "job": {"namespace": "jobs", "name": "design"},
        "outputs": [output("design")],
    },
    {"eventTime": day(1), "producer": "p", "dataset": dataset("shop/alone", "x long", "y string")},
    event(
        "complete",
        day(1),
        run="query",
        job="jobs/query",
        inputs=[
            dataset("shop/orders", colline_columnsRead={"fields": [{"name": "email", "uses": ["filter", "value"]}]})
        ],
    ),
    event(
        "COMPLETE",
        day(1),
        run="opaque",
        job="jobs/opaque",
        inputs=[ORDERS],
        outputs=[output("opaque")],
        colline_opaque={"steps": [{"node": "MapInPandas", "function": "clean", "why": "Python code"}]},
    ),
    *BAD,
]
SECOND: Events = [
    *write("same", "same-2", 2, output("same")),
    *write("changed", "changed-2", 2, output("changed", "DIRECT/TRANSFORMATION")),
    *write("fewer", "fewer-2", 2, dataset("shop/fewer", "a double", columnLineage=lineage(a=[_A]))),
    *write("fails", "fails-2", 2, output("fails", of="id"), end="FAIL"),
    event("COMPLETE", day(2, 2), run="fails-2", job="jobs/fails", outputs=[output("fails", of="id")]),
    *write("branches", "b-3", 1, output("branches", of="region"), parent=parent("app-1"), hour=5),
    *write("late", "late-2", 2, output("late", of="amount")),
    event("COMPLETE", day(2), run="split", job="jobs/split"),
    *write(
        "again",
        "again-2",
        2,
        output("again", of="id", lifecycleStateChange={"lifecycleStateChange": "OVERWRITE"}),
        parent=parent("app-2"),
    ),
    stream(2),
    *write("physical", "physical", 2, PHYSICAL),
]
__all__ = ["BAD", "BAD_REASONS", "FIRST", "SECOND", "day", "run_id"]
