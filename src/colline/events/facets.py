"""Facets: one frozen value each, and `FACETS`, the table of their names, places and versions.

A facet travels sealed: with its producer and the address of its schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from colline import __version__
from colline.events.model import SPEC

PRODUCER = f"https://pypi.org/project/colline/{__version__}"


class Place(Enum):
    """Where in an event a facet stands, with the spec's name for such a facet."""

    RUN = "RunFacet"
    JOB = "JobFacet"
    DATASET = "DatasetFacet"
    INPUT = "InputDatasetFacet"
    OUTPUT = "OutputDatasetFacet"


class Facet(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A facet's content."""


class JobRef(Facet, frozen=True):
    """A job by name."""

    namespace: str
    name: str


class RunRef(Facet, frozen=True):
    """A run by id."""

    run_id: str


class RootRef(Facet, frozen=True):
    """The run at the top."""

    run: RunRef
    job: JobRef


class ParentRun(Facet, frozen=True):
    """The run that started this one."""

    run: RunRef
    job: JobRef
    root: RootRef | None = None


class ProcessingEngine(Facet, frozen=True):
    """Which engine ran it."""

    version: str
    name: str
    openlineage_adapter_version: str


class ErrorMessage(Facet, frozen=True):
    """Why a run failed."""

    message: str
    programming_language: str
    stack_trace: str | None = None


class Tag(Facet, frozen=True):
    """One tag."""

    key: str
    value: str
    source: str | None = None


class Tags(Facet, frozen=True):
    """The tags of a run, job or dataset."""

    tags: tuple[Tag, ...]


class EmissionPattern(Facet, frozen=True):
    """When events come and how they add up."""

    event_trigger: str
    event_content_mode: str


class JobType(Facet, frozen=True):
    """What kind of job it is."""

    processing_type: str
    integration: str
    job_type: str
    emission_pattern: EmissionPattern | None = None


class Sql(Facet, frozen=True):
    """The text that was run."""

    query: str
    dialect: str | None = None


class SchemaField(Facet, frozen=True):
    """One column."""

    name: str
    type: str | None = None


class Schema(Facet, frozen=True):
    """The columns of a dataset."""

    fields: tuple[SchemaField, ...]


class DataSource(Facet, frozen=True):
    """Where a dataset lives."""

    name: str
    uri: str


class Storage(Facet, frozen=True):
    """How a dataset is stored."""

    storage_layer: str
    file_format: str | None = None


class Catalog(Facet, frozen=True):
    """The catalog that knows a dataset."""

    framework: str
    type: str
    name: str
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    source: str | None = None


class Identifier(Facet, frozen=True):
    """Another name."""

    namespace: str
    name: str
    type: str


class Symlinks(Facet, frozen=True):
    """The other names of a dataset."""

    identifiers: tuple[Identifier, ...]


class Version(Facet, frozen=True):
    """Which version of a table was read or written."""

    dataset_version: str


class DatasetType(Facet, frozen=True):
    """What a dataset is."""

    dataset_type: str
    sub_type: str | None = None


class PreviousIdentifier(Facet, frozen=True):
    """The name before a rename."""

    namespace: str
    name: str


class LifecycleStateChange(Facet, frozen=True):
    """What happened to a table as a whole."""

    lifecycle_state_change: str
    previous_identifier: PreviousIdentifier | None = None


class OutputStatistics(Facet, frozen=True):
    """How much was written."""

    row_count: int | None = None
    size: int | None = None
    file_count: int | None = None


class FieldRead(Facet, frozen=True):
    """A column that was read, and what for."""

    name: str
    uses: tuple[str, ...]


class ColumnsRead(Facet, frozen=True):
    """Which columns of an input were read."""

    fields: tuple[FieldRead, ...]


class Step(Facet, frozen=True):
    """A step that could not be seen into."""

    node: str
    function: str = ""
    why: str = ""


class Opaque(Facet, frozen=True):
    """Every step that could not be seen into."""

    steps: tuple[Step, ...]


class Query(Facet, frozen=True):
    """The digest of a query's shape."""

    definition: str


class SparkProperties(Facet, frozen=True):
    """The few properties of Spark that a setting lets out."""

    properties: dict[str, str]


class SparkApplication(Facet, frozen=True):
    """The id that Spark's event log and history server know the application by; the key is the Spark jar's."""

    application_id: str


class Delivery(Facet, frozen=True):
    """Where the events of an application are."""

    made: int = 0
    queued: int = 0
    sent: int = 0
    retried: int = 0
    dropped: int = 0
    spooled: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Spec:
    """One facet of the spec: its key in an event, where it stands, and the version of its schema."""

    key: str
    place: Place
    version: str = ""
    schema: str = ""
    file: str = ""

    @property
    def url(self) -> str:
        """The address of its schema; a facet of our own points at the general form of its kind."""
        if not self.version:
            return f"{SPEC}{self.place.value}"
        return f"https://openlineage.io/spec/facets/{self.version}/{self.file or self.schema}.json#/$defs/{self.schema}"


# versions: the newest of the OpenLineage spec, the same as openlineage-python 1.54 writes; a test compares them
COLUMN_LINEAGE = Spec("columnLineage", Place.DATASET, "1-2-0", "ColumnLineageDatasetFacet")
LINEAGE = Spec("lineage", Place.JOB, "1-0-0", "LineageJobFacet", "LineageFacet")
RUN_TAGS = Spec("tags", Place.RUN, "1-0-0", "TagsRunFacet")
JOB_TAGS = Spec("tags", Place.JOB, "1-0-0", "TagsJobFacet")
FACETS: dict[type[Facet], Spec] = {
    ParentRun: Spec("parent", Place.RUN, "1-2-0", "ParentRunFacet"),
    ProcessingEngine: Spec("processing_engine", Place.RUN, "1-1-1", "ProcessingEngineRunFacet"),
    ErrorMessage: Spec("errorMessage", Place.RUN, "1-0-1", "ErrorMessageRunFacet"),
    JobType: Spec("jobType", Place.JOB, "2-0-4", "JobTypeJobFacet"),
    Sql: Spec("sql", Place.JOB, "1-1-0", "SQLJobFacet"),
    Schema: Spec("schema", Place.DATASET, "1-2-0", "SchemaDatasetFacet"),
    DataSource: Spec("dataSource", Place.DATASET, "1-0-1", "DatasourceDatasetFacet"),
    Storage: Spec("storage", Place.DATASET, "1-0-1", "StorageDatasetFacet"),
    Catalog: Spec("catalog", Place.DATASET, "1-1-0", "CatalogDatasetFacet"),
    Symlinks: Spec("symlinks", Place.DATASET, "1-0-1", "SymlinksDatasetFacet"),
    Version: Spec("version", Place.DATASET, "1-0-1", "DatasetVersionDatasetFacet"),
    DatasetType: Spec("datasetType", Place.DATASET, "1-0-1", "DatasetTypeDatasetFacet"),
    LifecycleStateChange: Spec("lifecycleStateChange", Place.DATASET, "1-0-1", "LifecycleStateChangeDatasetFacet"),
    OutputStatistics: Spec("outputStatistics", Place.OUTPUT, "1-0-2", "OutputStatisticsOutputDatasetFacet"),
    ColumnsRead: Spec("colline_columnsRead", Place.DATASET),
    Opaque: Spec("colline_opaque", Place.RUN),
    Query: Spec("colline_query", Place.RUN),
    SparkProperties: Spec("spark_properties", Place.RUN),
    SparkApplication: Spec("spark_applicationDetails", Place.RUN),
    Delivery: Spec("colline_delivery", Place.RUN),
}


def sealed(spec: Spec, content: dict[str, Any]) -> dict[str, Any]:
    """A facet as it travels."""
    return {"_producer": PRODUCER, "_schemaURL": spec.url, **content}


def gathered(*facets: Facet | None, tags: tuple[Spec, Tags] | None = None) -> dict[str, Any] | None:
    """The sealed facets by key, without those that are None; None where there is none at all."""
    found = {
        FACETS[type(facet)].key: sealed(FACETS[type(facet)], msgspec.to_builtins(facet))
        for facet in facets
        if facet is not None
    }
    if tags is not None and tags[1].tags:
        found[tags[0].key] = sealed(tags[0], msgspec.to_builtins(tags[1]))
    return found or None
