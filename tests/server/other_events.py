"""Events in the shape that Airflow's provider and dbt-ol send, with data of our own."""

from __future__ import annotations

from typing import Any

AIRFLOW = "https://github.com/apache/airflow/tree/providers-openlineage/2.7.0"
DBT = "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/dbt"
SPEC = "https://openlineage.io/spec"
EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"


def _facet(producer: str, name: str, /, **content: Any) -> dict[str, Any]:
    return {"_producer": producer, "_schemaURL": f"{SPEC}/facets/1-1-0/{name}.json#/$defs/{name}", **content}


def _parent(producer: str, name: str) -> dict[str, Any]:
    job = {"namespace": "warehouse", "name": name}
    return _facet(producer, "ParentRunFacet", run={"runId": "01941f29-7c00-7087-940d-6ec63ea4d5b1"}, job=job)


def _schema(producer: str, *names: str) -> dict[str, Any]:
    return _facet(producer, "SchemaDatasetFacet", fields=[{"name": name, "type": "NUMERIC"} for name in names])


_POSTGRES = {"namespace": "postgres://db.example:5432", "name": "shop.public.orders"}
_LINEAGE = {
    "total": {
        "inputFields": [{**_POSTGRES, "field": "amount"}],
        "transformationDescription": "",
        "transformationType": "",
    }
}


def _output(producer: str) -> dict[str, Any]:
    lineage = _facet(producer, "ColumnLineageDatasetFacet", fields=_LINEAGE)
    facets = {"schema": _schema(producer, "total"), "columnLineage": lineage}
    return {"namespace": "postgres://db.example:5432", "name": "shop.public.revenue", "facets": facets}


_AIRFLOW_RUN = {
    "parent": _parent(AIRFLOW, "revenue_dag"),
    "nominalTime": _facet(AIRFLOW, "NominalTimeRunFacet", nominalStartTime="2026-03-02T00:00:00+00:00"),
    "processing_engine": _facet(AIRFLOW, "ProcessingEngineRunFacet", name="Airflow", version="3.1.0"),
    "airflow": _facet(
        AIRFLOW,
        "AirflowRunFacet",
        dag={"dag_id": "revenue_dag", "tags": "[]", "timetable": {}},
        task={"task_id": "load", "operator_class": "SQLExecuteQueryOperator", "mapped": False, "retries": 2},
        taskInstance={"try_number": 1, "map_index": -1, "duration": None},
        taskUuid="0195552c-3c7e-7e3b-a6c5-40d8e5d5b9f6",
    ),
}
_AIRFLOW_JOB = {
    "jobType": _facet(AIRFLOW, "JobTypeJobFacet", integration="AIRFLOW", jobType="TASK", processingType="BATCH"),
    "sql": _facet(AIRFLOW, "SQLJobFacet", query="insert into revenue select sum(amount) from orders", dialect="x"),
    "ownership": _facet(AIRFLOW, "OwnershipJobFacet", owners=[{"name": "finance", "type": None}]),
}
_DBT_RUN = {
    "parent": _parent(DBT, "dbt-run-shop"),
    "dbt_version": _facet(DBT, "DbtVersionRunFacet", version="1.10.2"),
    "dbt_run": _facet(DBT, "DbtRunRunFacet", invocation_id="7f2b3b0a-3f0c-4f0e-8a53-1d6a3ac3f4a9"),
}
_TESTED = [{"assertion": "not_null", "success": True, "column": "amount"}]
_CHECKED = {"dataQualityAssertions": _facet(DBT, "DataQualityAssertionsDatasetFacet", assertions=_TESTED)}


def _event(producer: str, kind: str, name: str, run: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    source = {**_POSTGRES, "facets": {"schema": _schema(producer, "amount")}}
    return {
        "eventTime": "2026-03-02T00:04:00.123456+00:00",
        "eventType": kind,
        "producer": producer,
        "schemaURL": EVENT,
        "run": {"runId": "0195552c-3c7e-7e3b-a6c5-40d8e5d5b9f6", "facets": run},
        "job": {"namespace": "warehouse", "name": name, "facets": job},
        "inputs": [{**source, "inputFacets": _CHECKED} if producer == DBT else source],
        "outputs": [{**_output(producer), "outputFacets": {}}],
    }


OTHER_EVENTS = [
    *(_event(AIRFLOW, kind, "revenue_dag.load", _AIRFLOW_RUN, _AIRFLOW_JOB) for kind in ("START", "COMPLETE", "FAIL")),
    *(_event(DBT, kind, "shop.revenue", _DBT_RUN, {}) for kind in ("START", "COMPLETE")),
]
