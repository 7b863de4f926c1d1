"""Events as other producers make them, through OpenLineage's own client classes."""

from __future__ import annotations

from typing import Any

from openlineage.client import event_v2 as ol
from openlineage.client.generated import (
    column_lineage_dataset,
    error_message_run,
    job_type_job,
    lifecycle_state_change_dataset,
    lineage,
    parent_run,
    processing_engine_run,
    schema_dataset,
    sql_job,
    symlinks_dataset,
)
from openlineage.client.serde import Serde

from tests.lakes import run_id

AIRFLOW = "https://github.com/apache/airflow/tree/providers-openlineage/2.0.0"
DBT = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/dbt"
FLINK = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/flink"
TRINO = "https://github.com/trinodb/trino/plugin/trino-openlineage"
SPLINE = "https://github.com/AbsaOSS/spline-openlineage"
WAREHOUSE = "postgres://warehouse:5432"


def _output_dataset(namespace: str, name: str, facets: dict[str, Any]) -> ol.OutputDataset:
    return ol.OutputDataset(namespace, name, facets=facets)


def _input_dataset(namespace: str, name: str, facets: dict[str, Any]) -> ol.InputDataset:
    return ol.InputDataset(namespace, name, facets=facets)


def _time(day: int, hour: int) -> str:
    return f"2026-11-{day:02d}T{hour:02d}:00:00.000000+00:00"


def _input(dataset: str, field: str, *effects: str) -> column_lineage_dataset.InputField:
    namespace, name = dataset.rsplit("|", 1)
    how = [column_lineage_dataset.Transformation(*effect.split("/")) for effect in effects]
    return column_lineage_dataset.InputField(namespace, name, field, how)


def _columns(rows: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    built = {
        name: value if isinstance(value, column_lineage_dataset.Fields) else column_lineage_dataset.Fields(value)
        for name, value in fields.items()
    }
    return {"columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(built, rows or [])}


def _schema(*names: str) -> dict[str, Any]:
    return {"schema": schema_dataset.SchemaDatasetFacet([schema_dataset.SchemaDatasetFacetFields(n) for n in names])}


def _run(word: str, **facets: Any) -> ol.Run:
    return ol.Run(run_id(word), facets)


def _type(processing: str, integration: str, kind: str) -> dict[str, Any]:
    return {"jobType": job_type_job.JobTypeJobFacet(processing, integration, kind)}


def airflow() -> list[Any]:
    """A task of a DAG; its lineage is in COMPLETE only, the parent is the DAG's run."""
    above = parent_run.ParentRunFacet(
        parent_run.Run(run_id("dag")),
        parent_run.Job("airflow", "nightly"),
        parent_run.Root(parent_run.RootRun(run_id("dag")), parent_run.RootJob("airflow", "nightly")),
    )
    job = ol.Job("airflow", "nightly.load_orders", _type("BATCH", "AIRFLOW", "TASK"))
    source = _input_dataset(WAREHOUSE, "shop.public.orders", _schema("id", "amount"))
    target = _output_dataset(
        WAREHOUSE,
        "shop.public.daily",
        {
            **_schema("total"),
            **_columns(total=[_input(f"{WAREHOUSE}|shop.public.orders", "amount", "DIRECT/AGGREGATION")]),
        },
    )
    run = _run("task", parent=above)
    return [
        ol.RunEvent(eventType=ol.RunState.START, eventTime=_time(1, 1), producer=AIRFLOW, run=run, job=job),
        ol.RunEvent(
            eventType=ol.RunState.COMPLETE,
            eventTime=_time(1, 2),
            producer=AIRFLOW,
            run=run,
            job=job,
            inputs=[source],
            outputs=[target],
        ),
    ]


def dbt() -> list[Any]:
    """A model; input fields without transformations, and a failed test of another model."""
    job = ol.Job(
        "dbt", "shop.public.stg_orders", {**_type("BATCH", "DBT", "MODEL"), "sql": sql_job.SQLJobFacet("select 1")}
    )
    target = _output_dataset(
        WAREHOUSE,
        "shop.public.stg_orders",
        _columns(id=[_input(f"{WAREHOUSE}|shop.public.orders", "id")]),
    )
    broken = _run("broken", errorMessage=error_message_run.ErrorMessageRunFacet("relation is gone", "SQL"))
    return [
        ol.RunEvent(
            eventType=ol.RunState.COMPLETE,
            eventTime=_time(1, 3),
            producer=DBT,
            run=_run("dbt"),
            job=job,
            outputs=[target],
        ),
        ol.RunEvent(
            eventType=ol.RunState.FAIL,
            eventTime=_time(1, 3),
            producer=DBT,
            run=broken,
            job=ol.Job("dbt", "shop.public.broken"),
            outputs=[_output_dataset(WAREHOUSE, "shop.public.broken", _columns(x=[_input("file|/nowhere", "x")]))],
        ),
    ]


def flink() -> list[Any]:
    """A stream between topics, without column lineage."""
    job = ol.Job("flink", "enrich", _type("STREAMING", "FLINK", "JOB"))
    sides = {
        "inputs": [_input_dataset("kafka://broker:9092", "clicks", _schema("user", "page"))],
        "outputs": [_output_dataset("kafka://broker:9092", "visits", _schema("user"))],
    }
    return [
        ol.RunEvent(eventType=state, eventTime=_time(1, hour), producer=FLINK, run=_run("flink"), job=job, **sides)
        for hour, state in ((4, ol.RunState.START), (5, ol.RunState.RUNNING), (6, ol.RunState.RUNNING))
    ]


def trino() -> list[Any]:
    """A CTAS; column names in another case than the warehouse reports them."""
    job = ol.Job("trino://trino:8080", "20261101_000000_00001_abcde")
    engine = processing_engine_run.ProcessingEngineRunFacet("470", "trino")
    target = _output_dataset(
        "trino://trino:8080",
        "hive.shop.copy",
        {
            **_schema("AMOUNT"),
            **_columns(Amount=[_input(f"{WAREHOUSE}|shop.public.orders", "AMOUNT")]),
            "lifecycleStateChange": lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet(
                lifecycle_state_change_dataset.LifecycleStateChange.CREATE
            ),
        },
    )
    run = _run("trino", processing_engine=engine)
    return [
        ol.RunEvent(eventType=ol.RunState.START, eventTime=_time(1, 7), producer=TRINO, run=run, job=job),
        ol.RunEvent(
            eventType=ol.RunState.COMPLETE, eventTime=_time(1, 8), producer=TRINO, run=run, job=job, outputs=[target]
        ),
    ]


def spline() -> list[Any]:
    """An execution plan's export: deprecated transformation words, a job known by its location, a catalog name."""
    fields = column_lineage_dataset.Fields
    built = _columns(
        same=fields([_input("s3a://data|raw/people", "id")], None, "IDENTITY"),
        hidden=fields([_input("s3a://data|raw/people", "email")], "sha2(email)", "MASKED"),
    )
    names = symlinks_dataset.SymlinksDatasetFacet(
        [symlinks_dataset.Identifier("hive://meta:9083", "lake.people", "TABLE")]
    )
    target = _output_dataset("s3n://data", "/clean/people/", {**built, "symlinks": names})
    return [
        ol.RunEvent(
            eventType=ol.RunState.COMPLETE,
            eventTime=_time(1, 9),
            producer=SPLINE,
            run=_run("spline"),
            job=ol.Job("spline", "people"),
            outputs=[target],
        ),
        ol.RunEvent(
            eventType=ol.RunState.COMPLETE,
            eventTime=_time(1, 10),
            producer=SPLINE,
            run=_run("reader"),
            job=ol.Job("spline", "reader"),
            outputs=[_output_dataset("file", "/out/x", _columns(x=[_input("hive://meta:9083|lake.people", "SAME")]))],
        ),
    ]


def designs() -> list[Any]:
    """What is known without a run: a job's and a dataset's own `lineage` facet."""
    source = lineage.LineageDatasetInput(
        "file", "/in/t", "DATASET", "a", [lineage.LineageTransformation("DIRECT", "IDENTITY")]
    )
    rows = lineage.LineageDatasetInput(
        "file", "/in/t", "DATASET", "k", [lineage.LineageTransformation("INDIRECT", "FILTER")]
    )
    entry = lineage.LineageDatasetEntry(
        "file", "/out/declared", "DATASET", [rows], {"a": lineage.LineageFieldEntry([source])}
    )
    whole = lineage.LineageDatasetEntry(
        "file", "/out/whole", "DATASET", [lineage.LineageDatasetInput("file", "/in/t", "DATASET")], {}
    )
    facet = lineage.LineageDatasetFacet([rows], {"b": lineage.LineageFieldEntry([source])})
    return [
        ol.JobEvent(
            eventTime=_time(1, 11),
            producer=AIRFLOW,
            job=ol.Job("design", "declared", {"lineage": lineage.LineageJobFacet([entry])}),
        ),
        ol.JobEvent(
            eventTime=_time(1, 11),
            producer=AIRFLOW,
            job=ol.Job("design", "whole", {"lineage": lineage.LineageJobFacet([whole])}),
        ),
        ol.DatasetEvent(
            eventTime=_time(1, 12),
            producer=AIRFLOW,
            dataset=ol.StaticDataset("file", "/out/static", facets={"lineage": facet}),
        ),
    ]


def events() -> list[str]:
    """Everything, as the client writes it."""
    built = [*airflow(), *dbt(), *flink(), *trino(), *spline(), *designs()]
    return [Serde.to_json(event) for event in built]
