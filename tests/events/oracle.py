"""Checks events with openlineage-python: build its classes from the JSON of an event, and serialize them again."""

from __future__ import annotations

import types
import typing
from enum import Enum
from typing import Any, get_args, get_origin

import attr
from openlineage.client import event_v2
from openlineage.client.generated import (
    base,
    catalog_dataset,
    column_lineage_dataset,
    dataset_type_dataset,
    dataset_version_dataset,
    datasource_dataset,
    documentation_dataset,
    documentation_job,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    lifecycle_state_change_dataset,
    lineage,
    output_statistics_output_dataset,
    ownership_dataset,
    ownership_job,
    parent_run,
    processing_engine_run,
    schema_dataset,
    source_code_location_job,
    sql_job,
    storage_dataset,
    symlinks_dataset,
    tags_dataset,
    tags_job,
    tags_run,
)
from openlineage.client.serde import Serde

RUN: dict[str, type] = {
    "parent": parent_run.ParentRunFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "tags": tags_run.TagsRunFacet,
}
JOB: dict[str, type] = {
    "jobType": job_type_job.JobTypeJobFacet,
    "sql": sql_job.SQLJobFacet,
    "tags": tags_job.TagsJobFacet,
    "documentation": documentation_job.DocumentationJobFacet,
    "ownership": ownership_job.OwnershipJobFacet,
    "sourceCodeLocation": source_code_location_job.SourceCodeLocationJobFacet,
    "lineage": lineage.LineageJobFacet,
}
DATASET: dict[str, type] = {
    "schema": schema_dataset.SchemaDatasetFacet,
    "dataSource": datasource_dataset.DatasourceDatasetFacet,
    "storage": storage_dataset.StorageDatasetFacet,
    "catalog": catalog_dataset.CatalogDatasetFacet,
    "symlinks": symlinks_dataset.SymlinksDatasetFacet,
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
    "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet,
    "lifecycleStateChange": lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet,
    "documentation": documentation_dataset.DocumentationDatasetFacet,
    "ownership": ownership_dataset.OwnershipDatasetFacet,
    "tags": tags_dataset.TagsDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
}
OUTPUT: dict[str, type] = {"outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet}
INPUT: dict[str, type] = {"inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet}
OWN = {"run": base.RunFacet, "job": base.JobFacet, "dataset": base.DatasetFacet}


def round_trip(event: dict[str, Any]) -> dict[str, Any]:
    """The event as openlineage-python serializes it after its classes were built from the JSON."""
    read = event_v2.RunEvent(
        eventTime=event["eventTime"],
        eventType=event_v2.RunState(event["eventType"]),
        producer=event["producer"],
        run=event_v2.Run(event["run"]["runId"], facets=_facets(event["run"], "facets", RUN, base.RunFacet)),
        job=event_v2.Job(
            event["job"]["namespace"], event["job"]["name"], facets=_facets(event["job"], "facets", JOB, base.JobFacet)
        ),
        inputs=[
            event_v2.InputDataset(
                each["namespace"],
                each["name"],
                facets=_facets(each, "facets", DATASET, base.DatasetFacet),
                inputFacets=_facets(each, "inputFacets", INPUT, base.InputDatasetFacet),
            )
            for each in event["inputs"]
        ],
        outputs=[
            event_v2.OutputDataset(
                each["namespace"],
                each["name"],
                facets=_facets(each, "facets", DATASET, base.DatasetFacet),
                outputFacets=_facets(each, "outputFacets", OUTPUT, base.OutputDatasetFacet),
            )
            for each in event["outputs"]
        ],
    )
    written: dict[str, Any] = Serde.to_dict(read)
    return without_empty(written)


def without_empty(value: Any) -> Any:
    """The value without empty lists and objects, which openlineage-python writes and colline leaves out."""
    if isinstance(value, dict):
        cleaned = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in cleaned.items() if each not in ({}, [], None)}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


def _facets(holder: dict[str, Any], key: str, classes: dict[str, type], general: type) -> dict[str, Any]:
    return {name: _facet(name, each, classes, general) for name, each in holder.get(key, {}).items()}


def _facet(name: str, content: dict[str, Any], classes: dict[str, type], general: type) -> Any:
    inner = {key: each for key, each in content.items() if not key.startswith("_")}
    if name not in classes:
        assert name.startswith(("colline_", "spark_")), f"unknown facet {name}"
        facet = general(producer=content["_producer"]).with_additional_properties(**inner)
        assert facet._schemaURL == content["_schemaURL"]
        return facet
    facet = build(classes[name], {**inner, "producer": content["_producer"]})
    assert facet._schemaURL == content["_schemaURL"], f"{name}: {content['_schemaURL']} is not {facet._schemaURL}"
    return facet


def build(kind: Any, data: Any) -> Any:
    """An instance of one of the client's classes from JSON. A key that the class does not have is an error."""
    origin = get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _union([each for each in get_args(kind) if each is not type(None)], data)
    if origin is list:
        return [build(get_args(kind)[0], each) for each in data]
    if origin is dict:
        return {key: build(get_args(kind)[1], each) for key, each in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if not attr.has(kind):
        assert kind is Any or origin is typing.Literal or isinstance(data, kind), f"{data!r} is not a {kind}"
        return data
    hints = typing.get_type_hints(kind)
    names = {each.alias: hints.get(each.name, Any) for each in attr.fields(kind) if each.init}
    return kind(**{key: build(names[key], each) for key, each in data.items()})


def _union(kinds: list[Any], data: Any) -> Any:
    if data is None:
        return None
    if len(kinds) == 1:
        return build(kinds[0], data)
    chosen = [each for each in kinds if data["type"] in str(typing.get_type_hints(each)["type"])]
    return build(chosen[0], data)
