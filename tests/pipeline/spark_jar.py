"""Events with the habits of OpenLineage's Spark jar, in shape as it writes them, with data of our own."""

from __future__ import annotations

from typing import Any

from tests.lakes import run_id, source

PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
APP = {"run": {"runId": run_id("jar app")}, "job": {"namespace": "jar", "name": "shop_etl"}}
ORDERS = "file//data/warehouse/orders"


def _event(kind: str, minute: int, run: str, node: str | None, **more: Any) -> dict[str, Any]:
    name = "shop_etl" if node is None else f"shop_etl.{node}"
    facets = {"parent": {**APP, "root": APP}, **more.pop("run_facets", {})} if node else {}
    return {
        "eventTime": f"2026-11-01T12:{minute:02d}:00.123Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": kind,
        "run": {"runId": run_id(f"jar {run}"), "facets": {"spark_properties": {"properties": {}}, **facets}},
        "job": {
            "namespace": "jar",
            "name": name,
            "facets": {"jobType": {"integration": "SPARK", "jobType": "SQL_JOB"}},
        },
        "inputs": more.get("inputs", []),
        "outputs": more.get("outputs", []),
    }


def _output(name: str, columns: dict[str, list[Any]] | None, rows: list[Any] | None = None) -> dict[str, Any]:
    facets: dict[str, Any] = {"dataSource": {"name": "file", "uri": "file"}}
    if columns is not None:
        fields = {column: {"inputFields": inputs} for column, inputs in columns.items()}
        facets["columnLineage"] = {"fields": fields, **({"dataset": rows} if rows is not None else {})}
    return {"namespace": "file", "name": f"/data/warehouse/{name}", "facets": facets, "outputFacets": {}}


_COMMAND = _output(
    "revenue",
    {"total": [source(ORDERS, "amount", "DIRECT/AGGREGATION")]},
    [source(ORDERS, "day", "INDIRECT/FILTER")],
)
_WRITE = _output(
    "revenue",
    {"total": [source(ORDERS, "amount", "DIRECT/AGGREGATION")], "region": [source(ORDERS, "region")]},
)
# `select a from t1 where a > 5 union all select d from t2`: the second branch is a DIRECT entry of the dataset list
_UNION = _output(
    "both",
    {"a": [source(ORDERS, "a")]},
    [source(ORDERS, "a", "INDIRECT/FILTER"), source("file//data/warehouse/t2", "d"), source(ORDERS, "a")],
)
_BROKEN = _output("broken", {"x": [source(ORDERS, "amount")]})
_CTAS, _INSERT = "execute_create_data_source_table_as_select_command", "execute_insert_into_hadoop_fs_relation_command"
_EXCEPTION = {"spark.exception": {"message": None, "stackTrace": "java.lang.RuntimeException: boom\n\tat X.y(Z.java)"}}

EVENTS: list[dict[str, Any]] = [
    _event("START", 0, "app", None),
    _event("START", 1, "command", f"{_CTAS}.default_revenue", outputs=[_COMMAND]),
    _event("START", 2, "write", f"{_INSERT}.warehouse_revenue", outputs=[_WRITE]),
    _event("RUNNING", 3, "write", f"{_INSERT}.warehouse_revenue", outputs=[_WRITE]),
    # datasets without facets, and no outputs at the end
    _event("COMPLETE", 4, "write", f"{_INSERT}.warehouse_revenue", inputs=[{"namespace": "file", "name": "/data/x"}]),
    _event("COMPLETE", 5, "command", f"{_CTAS}.default_revenue", outputs=[_COMMAND]),
    _event("COMPLETE", 6, "union", f"{_CTAS}.both", outputs=[_UNION]),
    _event("START", 7, "failing", f"{_INSERT}.warehouse_broken", outputs=[_BROKEN]),
    _event("FAIL", 8, "failing", f"{_INSERT}.warehouse_broken", outputs=[_BROKEN], run_facets=_EXCEPTION),
    _event("COMPLETE", 9, "failing", f"{_INSERT}.warehouse_broken", outputs=[_BROKEN]),
    # a MERGE: the sources are inside the facet only
    _event(
        "COMPLETE", 10, "merge", "merge_into_command.target", outputs=[_output("merged", {"v": [source(ORDERS, "v")]})]
    ),
    _event("COMPLETE", 11, "rdd", "map_partitions_parallel_collection", outputs=[_output("text", None)]),
    # a failing Delta INSERT ends in COMPLETE, and no event reports the failure
    _event("COMPLETE", 12, "delta", "append_data.silent", outputs=[_output("silent", {"y": [source(ORDERS, "y")]})]),
    _event("COMPLETE", 13, "app", None),
]
