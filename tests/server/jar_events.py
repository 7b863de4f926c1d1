"""Events in the shapes the OpenLineage Spark jar sends, with data of our own: each row is one of its habits."""

from __future__ import annotations

from typing import Any

PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
_APP_RUN = "019561f2-0000-7000-8000-000000000001"
_HOME = "/data/warehouse"


def _facet(kind: str, /, **content: Any) -> dict[str, Any]:
    url = f"https://openlineage.io/spec/facets/1-0-0/{kind}.json#/$defs/{kind}"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def _schema(*names: str) -> dict[str, Any]:
    return _facet("SchemaDatasetFacet", fields=[{"name": name, "type": "string"} for name in names])


def _dataset(table: str, *columns: str, **facets: Any) -> dict[str, Any]:
    link = {"namespace": f"file:{_HOME}", "name": f"default.{table}", "type": "TABLE"}
    return {
        "namespace": "file",
        "name": f"{_HOME}/{table}",
        "facets": {
            "dataSource": _facet("DatasourceDatasetFacet", name="file", uri="file"),
            "schema": _schema(*columns),
            "symlinks": _facet("SymlinksDatasetFacet", identifiers=[link]),
            **facets,
        },
        "inputFacets": {"inputStatistics": _facet("InputStatisticsInputDatasetFacet", size=1920, fileCount=2)},
    }


def _from(table: str, field: str, kind: str, subtype: str, *, masking: bool = False) -> dict[str, Any]:
    how = {"type": kind, "subtype": subtype, "description": "", "masking": masking}
    return {"namespace": "file", "name": f"{_HOME}/{table}", "field": field, "transformations": [how]}


def _lineage(fields: dict[str, list[dict[str, Any]]], dataset: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    inputs = {name: {"inputFields": found} for name, found in fields.items()}
    rest = {} if dataset is None else {"dataset": dataset}
    return _facet("ColumnLineageDatasetFacet", fields=inputs, **rest)


def _event(number: int, kind: str, job: str, **rest: Any) -> dict[str, Any]:
    parent_job = {"namespace": "kitchen", "name": "dinner_etl"}
    root = {"run": {"runId": _APP_RUN}, "job": parent_job}
    facets = {
        "parent": _facet("ParentRunFacet", **root, root=root),
        "spark_properties": _facet("RunFacet", properties={"spark.master": "local[2]"}),
        "environment-properties": {"_producer": PRODUCER, "environment-properties": {}},
        **rest.pop("run_facets", {}),
    }
    job_type = _facet("JobTypeJobFacet", processingType="BATCH", integration="SPARK", jobType="SQL_JOB")
    return {
        "eventTime": f"2026-03-02T12:04:{number:02d}.5Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": kind,
        "run": {"runId": f"019561f2-0000-7000-8000-0000000001{number:02d}", "facets": facets},
        "job": {"namespace": "kitchen", "name": job, "facets": {"jobType": job_type}},
        "inputs": [],
        "outputs": [],
        **rest,
    }


_ORDERS = _dataset("orders", "dish", "price", "guest")
_GROUPED = [_from("orders", "dish", "INDIRECT", "GROUP_BY")]
_SUM = _from("orders", "price", "DIRECT", "AGGREGATION")
_TAKINGS = _dataset(
    "takings",
    "dish",
    "total",
    columnLineage=_lineage({"dish": [_from("orders", "dish", "DIRECT", "IDENTITY")], "total": [_SUM]}, _GROUPED),
    lifecycleStateChange=_facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="CREATE"),
)
_CARTESIAN = _dataset("takings_legacy", "total", columnLineage=_lineage({"total": [_SUM, *_GROUPED]}))
_MERGED = _dataset("guests", "name", columnLineage=_lineage({"name": [_from("orders", "guest", "DIRECT", "IDENTITY")]}))
_DIRECT_ROWS = _dataset("both", "dish", columnLineage=_lineage({}, [_from("orders", "dish", "DIRECT", "IDENTITY")]))
_ERROR = {"spark.exception": {"_producer": PRODUCER, "message": "bad dish", "stackTrace": "at org.example\n\tat x"}}

JAR_EVENTS: list[dict[str, Any]] = [
    _event(1, "START", "dinner_etl"),
    _event(2, "START", "dinner_etl.create_table.takings", inputs=[_ORDERS], outputs=[_TAKINGS]),
    _event(2, "RUNNING", "dinner_etl.create_table.takings", inputs=[_ORDERS]),
    _event(2, "COMPLETE", "dinner_etl.create_table.takings", inputs=[_ORDERS], outputs=[_TAKINGS]),
    _event(3, "COMPLETE", "dinner_etl.legacy.takings", inputs=[_ORDERS], outputs=[_CARTESIAN]),
    _event(4, "FAIL", "dinner_etl.insert.takings", run_facets=_ERROR),
    _event(4, "COMPLETE", "dinner_etl.insert.takings", inputs=[_ORDERS]),
    _event(5, "COMPLETE", "dinner_etl.merge.guests", outputs=[_MERGED]),
    _event(6, "COMPLETE", "dinner_etl.union.both", inputs=[_ORDERS], outputs=[_DIRECT_ROWS]),
    _event(7, "COMPLETE", "dinner_etl.jdbc", inputs=[{"namespace": "file:/data/metastore_db", "name": "ORDERS_COPY"}]),
    _event(8, "COMPLETE", "dinner_etl.stream", inputs=[{"namespace": "file", "name": "/data/in", "facets": {}}]),
    _event(9, "COMPLETE", "dinner_etl"),
]
